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
//! (any other finds out at run time which memory it touches: `ptx::Audit`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use ::ptx::{Audit, Module, Position, Split};

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
    /// Copies of the one at this place stand on alternative paths; without a place, of one whose line the PTX does not
    /// name.
    Split(Option<String>),
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
pub(crate) fn audit(module: &Module, source: &BTreeMap<String, Barriers>, strict: bool) -> Vec<Row> {
    let entries = module.functions.iter().filter(|function| function.entry).map(|function| &function.name);
    let kernels: BTreeSet<_> = source.keys().chain(entries).collect();
    kernels
        .into_iter()
        .map(|kernel| {
            let mut row = row(module, kernel, source.get(kernel).copied());
            row.refused = strict && row.fault.is_some() && is_defined(kernel);
            row
        })
        .collect()
}

fn row(module: &Module, kernel: &str, source: Option<Barriers>) -> Row {
    let found = ::ptx::audit(module, kernel);
    let missing = found.is_none();
    let Audit { barriers, split, shared, generic, leaks } = found.unwrap_or_default();
    let miscounted = source.is_some_and(|source| match source.looped {
        0 => barriers != source.straight,
        // A loop may be unrolled; it does not go away.
        _ => barriers <= source.straight,
    });
    let fault = if missing {
        Some(Fault::Missing)
    } else if let Some(split) = split {
        let place = match split {
            Split::At(id) => module.chain(id).next(),
            Split::Unplaced => None,
        };
        let named = |place: &Position| format!("{}:{}:{}", module.file(place), place.line, place.column);
        Some(Fault::Split(place.map(named)))
    } else if miscounted {
        Some(Fault::Count)
    } else {
        Some(leaks).filter(|&leaks| leaks > 0).map(Fault::Generic)
    };
    Row { kernel: kernel.to_owned(), source, barriers, shared, generic, fault, refused: false }
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
