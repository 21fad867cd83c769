//! The control paths that lanes are on: calls, and trips of loops.
//!
//! A barrier is the same barrier for two threads only if they came to it by the same calls and in the same trip of every
//! loop, and the order of two accesses in the program as written is that of their paths.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

use crate::code::{Edge, Pc, Program};
use crate::frame::Frame;

/// The number of a path. Equal paths have equal numbers, for as long as the worker runs.
pub(crate) type PathId = u32;

/// Outside every loop and call.
pub(crate) const ROOT: PathId = 0;

/// The number of a list of joins that lanes have passed. Equal lists have equal numbers.
pub(crate) type PassedId = u32;

/// No join.
pub(crate) const NOTHING: PassedId = 0;

/// The last step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// Nothing yet.
    Start,
    /// This call.
    Call(Pc),
    /// A trip of this loop, of [`Program::loops`].
    Trip(u32, u32),
}

#[derive(Clone, Copy, Debug)]
struct Node {
    parent: PathId,
    step: Step,
    /// The next trip of the same loop, and the first trip of the loop entered last, once they are known; else 0.
    again: PathId,
    entered: (u32, PathId),
}

/// The paths seen so far.
#[derive(Debug)]
pub(crate) struct Paths {
    nodes: Vec<Node>,
    numbers: FxHashMap<(PathId, Step), PathId>,
    /// Where the registers of each call begin.
    frames: FxHashMap<PathId, Frame>,
    /// Lists of joins: the last one, the path there, and the list before it. The first entry stands for none.
    passed: Vec<(u32, PathId, PassedId)>,
    passed_numbers: FxHashMap<(u32, PathId, PassedId), PassedId>,
}

impl Paths {
    pub(crate) fn new() -> Self {
        let start = Node { parent: ROOT, step: Step::Start, again: 0, entered: (u32::MAX, 0) };
        Self {
            nodes: vec![start],
            numbers: FxHashMap::default(),
            frames: FxHashMap::default(),
            passed: vec![(0, ROOT, NOTHING)],
            passed_numbers: FxHashMap::default(),
        }
    }

    /// The joins that lanes have passed, after one more on this path.
    #[cold]
    pub(crate) fn pass(&mut self, before: PassedId, join: u32, path: PathId) -> PassedId {
        let (last, of_last, rest) = self.passed[before as usize];
        // Who has passed it in a later trip has passed it in the earlier one.
        let again = before != NOTHING && last == join && self.caller(of_last) == self.caller(path);
        let entry = (join, path, if again { rest } else { before });
        let passed = &mut self.passed;
        *self.passed_numbers.entry(entry).or_insert_with(|| {
            passed.push(entry);
            passed.len() as u32 - 1
        })
    }

    /// The joins of a list, each with the path there.
    pub(crate) fn passed(&self, list: PassedId) -> impl Iterator<Item = (u32, PathId)> {
        let entry = |list: PassedId| (list != NOTHING).then(|| self.passed[list as usize]);
        std::iter::successors(entry(list), move |&(_, _, rest)| entry(rest))
            .map(|(join, path, _)| (join, path))
    }

    fn number(&mut self, parent: PathId, step: Step) -> PathId {
        let nodes = &mut self.nodes;
        *self.numbers.entry((parent, step)).or_insert_with(|| {
            nodes.push(Node { parent, step, again: 0, entered: (u32::MAX, 0) });
            nodes.len() as u32 - 1
        })
    }

    /// The path after an edge of the control flow, and whether it begins another trip.
    #[inline]
    pub(crate) fn follow(&mut self, mut path: PathId, edge: &Edge) -> PathId {
        for _ in 0..edge.leaves {
            if let Node { parent, step: Step::Trip(..), .. } = self.nodes[path as usize] {
                path = parent;
            }
        }
        for &entered in &edge.enters {
            path = self.enter(path, entered);
        }
        if edge.again.is_some() {
            path = self.again(path);
        }
        path
    }

    #[inline]
    fn enter(&mut self, path: PathId, number: u32) -> PathId {
        let (known, to) = self.nodes[path as usize].entered;
        if known == number {
            return to;
        }
        let to = self.number(path, Step::Trip(number, 0));
        self.nodes[path as usize].entered = (number, to);
        to
    }

    #[inline]
    fn again(&mut self, path: PathId) -> PathId {
        let Node { parent, step, again, .. } = self.nodes[path as usize];
        if again != 0 {
            return again;
        }
        let Step::Trip(number, trip) = step else { return path };
        let to = self.number(parent, Step::Trip(number, trip.saturating_add(1)));
        self.nodes[path as usize].again = to;
        to
    }

    pub(crate) fn call(&mut self, path: PathId, pc: Pc) -> PathId {
        self.number(path, Step::Call(pc))
    }

    /// The path is that of a call: its registers begin here.
    pub(crate) fn set_frame(&mut self, call: PathId, frame: Frame) {
        self.frames.insert(call, frame);
    }

    /// Where the registers of the innermost call begin.
    pub(crate) fn frame(&self, path: PathId) -> Frame {
        let mut at = path;
        loop {
            let Node { parent, step, .. } = self.nodes[at as usize];
            match step {
                Step::Start => return Frame::default(),
                Step::Call(_) => return self.frames.get(&at).copied().unwrap_or_default(),
                Step::Trip(..) => at = parent,
            }
        }
    }

    /// The path and the instruction of the innermost call.
    pub(crate) fn caller(&self, path: PathId) -> Option<(PathId, Pc)> {
        let mut at = path;
        loop {
            let Node { parent, step, .. } = self.nodes[at as usize];
            match step {
                Step::Start => return None,
                Step::Call(pc) => return Some((parent, pc)),
                Step::Trip(..) => at = parent,
            }
        }
    }

    /// The steps of a path, outermost first.
    pub(crate) fn steps(&self, path: PathId) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut at = path;
        while at != ROOT {
            let Node { parent, step, .. } = self.nodes[at as usize];
            steps.push(step);
            at = parent;
        }
        steps.reverse();
        steps
    }

    /// The trips of the loops around, outermost first.
    pub(crate) fn trips(&self, path: PathId) -> Vec<u32> {
        let trip = |step| match step {
            Step::Trip(_, trip) => Some(trip),
            _ => None,
        };
        self.steps(path).into_iter().filter_map(trip).collect()
    }

    /// Which of two instructions comes first in the program as written.
    pub(crate) fn order(&self, program: &Program, a: (Pc, PathId), b: (Pc, PathId)) -> Ordering {
        let rank = |pc: Pc| program.order[pc as usize];
        if a.1 == b.1 {
            return rank(a.0).cmp(&rank(b.0));
        }
        let (of_a, of_b) = (self.steps(a.1), self.steps(b.1));
        let parting = of_a.iter().zip(&of_b).take_while(|(a, b)| a == b).count();
        if let (Some(&Step::Trip(x, first)), Some(&Step::Trip(y, second))) =
            (of_a.get(parting), of_b.get(parting))
            && x == y
        {
            return first.cmp(&second);
        }
        let place = |steps: &[Step], own: Pc| match steps.get(parting) {
            Some(&Step::Call(pc)) => rank(pc),
            Some(&Step::Trip(number, _)) => rank(program.loops[number as usize].head),
            _ => rank(own),
        };
        place(&of_a, a.0).cmp(&place(&of_b, b.0)).then(rank(a.0).cmp(&rank(b.0)))
    }
}
