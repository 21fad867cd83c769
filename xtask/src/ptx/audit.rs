//! Did the compiler leave the barriers where the source has them?
//!
//! A barrier makes threads wait for each other at *one* place. A compiler that does not know this may copy
//! it into both arms of a condition, and threads that take different arms then wait at different places.
//! Two rules tell:
//!
//! 1. Copies of one source barrier may follow each other, as in an unrolled loop. They never stand on
//!    alternative paths. (So a helper function with a barrier in it must not be called from both arms.)
//! 2. A kernel without a barrier in a loop has as many as its source.
//!
//! Copies are known by their line of the source. A barrier whose line the PTX does not name may be a copy of any other:
//! two of them on alternative paths are taken for copies, though they may be two in the source.
//!
//! And did it keep shared memory apart? Every access to a shared array has to be `ld.shared` or `st.shared`
//! (`shared.rs` says why).

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;

use super::graph::{Block, Event, Function, Kind, Place};
use super::source::Barriers;

/// What was found out about one kernel.
pub(crate) struct Row {
    pub(crate) kernel: String,
    /// `None` if the source does not show the kernel, as when a macro makes it.
    pub(crate) source: Option<Barriers>,
    /// Barriers in the PTX, those of called functions included.
    pub(crate) barriers: usize,
    pub(crate) shared: usize,
    pub(crate) generic: usize,
    pub(crate) fault: Option<Fault>,
    /// The fault stops the build.
    pub(crate) refused: bool,
}

/// What the compiler did to a kernel's barriers.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// The kernel is not in the PTX.
    Missing,
    /// Copies of this one stand on alternative paths; without a place, of one whose line the PTX does not name.
    Split(Option<Place>),
    /// There are more or fewer than the source has.
    Count,
    /// So many uses of a shared array are neither `ld.shared` nor `st.shared`.
    Generic(usize),
}

/// Whether a kernel is promised to be right. The others are exhibits: some are undefined on purpose, and what
/// the compiler does to them is only reported.
fn is_defined(kernel: &str) -> bool {
    matches!(kernel, "reverse_tile_racy" | "reverse_tile_synced" | "reverse_tile_prefix")
}

/// A row for each kernel of the source and of the PTX. If not `strict`, faults are only reported.
pub(crate) fn audit(functions: &[Function], source: &BTreeMap<String, Barriers>, strict: bool) -> Vec<Row> {
    let entries = functions.iter().filter(|function| function.entry).map(|function| &function.name);
    let kernels: BTreeSet<_> = source.keys().chain(entries).collect();
    kernels
        .into_iter()
        .map(|kernel| {
            let mut row = row(functions, kernel, source.get(kernel).copied());
            row.refused = strict && row.fault.is_some() && is_defined(kernel);
            row
        })
        .collect()
}

fn row(functions: &[Function], kernel: &str, source: Option<Barriers>) -> Row {
    let reached = reached(functions, kernel);
    let sum = |count: fn(&Function) -> usize| reached.iter().map(|function| count(function)).sum();
    let barriers = count(functions, kernel, &mut Vec::new());
    let miscounted = source.is_some_and(|source| match source.looped {
        0 => barriers != source.straight,
        // A loop may be unrolled; it does not go away.
        _ => barriers <= source.straight,
    });
    let fault = if reached.is_empty() {
        Some(Fault::Missing)
    } else if let Some(place) = reached.iter().find_map(|function| split(functions, function)) {
        Some(Fault::Split(place))
    } else if miscounted {
        Some(Fault::Count)
    } else {
        Some(sum(|function| function.leaks)).filter(|&leaks| leaks > 0).map(Fault::Generic)
    };
    Row {
        kernel: kernel.to_owned(),
        source,
        barriers,
        shared: sum(|function| function.shared),
        generic: sum(|function| function.generic),
        fault,
        refused: false,
    }
}

/// The function of this name and all that it calls.
fn reached<'a>(functions: &'a [Function], name: &str) -> Vec<&'a Function> {
    let mut reached: Vec<&Function> = Vec::new();
    let mut open = vec![name];
    while let Some(name) = open.pop() {
        let Some(function) = functions.iter().find(|function| function.name == name) else { continue };
        if reached.iter().any(|known| known.name == name) {
            continue;
        }
        reached.push(function);
        open.extend(events(function).filter_map(|(_, event)| match &event.kind {
            Kind::Call(callee) => Some(&**callee),
            Kind::Barrier => None,
        }));
    }
    reached
}

/// How many barriers stand in a function, at each call those of the called one again.
fn count<'a>(functions: &'a [Function], name: &str, callers: &mut Vec<&'a str>) -> usize {
    let Some(function) = functions.iter().find(|function| function.name == name) else { return 0 };
    if callers.contains(&&*function.name) {
        return 0;
    }
    callers.push(&function.name);
    let count = events(function)
        .map(|(_, event)| match &event.kind {
            Kind::Barrier => 1,
            Kind::Call(callee) => count(functions, callee, callers),
        })
        .sum();
    callers.pop();
    count
}

/// A source barrier, or the call of a function with one, that has copies on alternative paths, or may have: where it
/// is in the source, if the PTX says.
fn split(functions: &[Function], function: &Function) -> Option<Option<Place>> {
    let waits = |event: &Event| match &event.kind {
        Kind::Barrier => true,
        Kind::Call(callee) => count(functions, callee, &mut Vec::new()) > 0,
    };
    let waits: Vec<_> = events(function).filter(|(_, event)| waits(event)).collect();
    let forward = forward(&function.blocks);
    for (index, (block, event)) in waits.iter().enumerate() {
        for (other_block, other) in &waits[index + 1..] {
            if may_be_copies(event, other)
                && !leads(&forward, *block, *other_block)
                && !leads(&forward, *other_block, *block)
            {
                return Some(event.place.clone().filter(|_| other.place.is_some()));
            }
        }
    }
    None
}

/// Whether two events may come from one of the source.
fn may_be_copies(one: &Event, other: &Event) -> bool {
    let same_place = one.place.is_none() || other.place.is_none() || one.place == other.place;
    one.kind == other.kind && same_place
}

/// Every event, with the index of its block.
fn events(function: &Function) -> impl Iterator<Item = (usize, &Event)> {
    function
        .blocks
        .iter()
        .enumerate()
        .flat_map(|(index, block)| block.events.iter().map(move |event| (index, event)))
}

/// The edges of each block, without those that lead back to a block from which the search has not
/// returned yet: they close a loop, and two arms of one trip do not follow each other by way of the next.
fn forward(blocks: &[Block]) -> Vec<Vec<usize>> {
    let mut forward = vec![Vec::new(); blocks.len()];
    let mut on_path = HashSet::from([0]);
    let mut seen = HashSet::from([0]);
    // A block, and how many of its edges have been followed.
    let mut path = vec![(0, 0)];
    while let Some((block, followed)) = path.last_mut() {
        let (block, edge) = (*block, *followed);
        *followed += 1;
        let Some(&next) = blocks[block].next.get(edge) else {
            on_path.remove(&block);
            path.pop();
            continue;
        };
        if !on_path.contains(&next) {
            forward[block].push(next);
        }
        if seen.insert(next) {
            on_path.insert(next);
            path.push((next, 0));
        }
    }
    forward
}

/// Whether a way leads from one block to another, or they are the same.
fn leads(forward: &[Vec<usize>], from: usize, to: usize) -> bool {
    let mut seen = HashSet::from([from]);
    let mut open = vec![from];
    while let Some(block) = open.pop() {
        if block == to {
            return true;
        }
        open.extend(forward[block].iter().filter(|next| seen.insert(**next)));
    }
    false
}

impl Fault {
    /// In a word.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Split(_) => "split",
            Self::Count => "count",
            Self::Generic(_) => "generic",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => write!(f, "not in the PTX"),
            Self::Split(Some(place)) => write!(f, "copies of {place} stand on alternative paths"),
            Self::Split(None) => {
                write!(
                    f,
                    "barriers whose lines the PTX does not name stand on alternative paths, as copies would"
                )
            }
            Self::Count => write!(f, "not as many barriers as in the source"),
            Self::Generic(leaks) => write!(f, "{leaks} uses of a shared array not by ld/st.shared"),
        }
    }
}
