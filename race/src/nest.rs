//! Where in the program a thread is: the loops around it, with their trips, the arms of branches, and
//! the calls.
//!
//! Two things hang on it. A barrier is the *same* barrier for two threads only if they reached it by
//! the same calls and in the same trip of every loop. And the order "as written" of two accesses,
//! which names a hazard read-after-write or write-after-read, is that of their paths.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

use crate::site::Site;

/// One path, for as long as its block runs. Equal paths have equal ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NestId(u32);

impl NestId {
    /// Outside every loop and call.
    pub const ROOT: Self = Self(0);

    #[inline]
    pub(crate) fn number(self) -> u32 {
        self.0
    }

    #[inline]
    pub(crate) fn from_number(number: u32) -> Self {
        Self(number)
    }
}

/// One step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The path that it goes on from.
    pub parent: NestId,
    /// The loop, branch, call or place.
    pub site: Site,
    /// What of it.
    pub within: Within,
}

/// What a step goes into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Within {
    /// Nothing: a place by itself, or a statement that calls a helper.
    Place,
    /// An arm of a branch.
    Arm(u32),
    /// A trip of a loop.
    Trip(u32),
}

/// The paths that the running block has seen.
#[derive(Debug, Default)]
pub struct Nests {
    steps: Vec<Step>,
    ids: FxHashMap<Step, NestId>,
}

impl Nests {
    /// A new block begins: paths of the last one are forgotten.
    pub fn begin_block(&mut self) {
        self.steps.clear();
        self.ids.clear();
    }

    /// The path that goes on from `step.parent` by this step.
    pub fn id(&mut self, step: Step) -> NestId {
        *self.ids.entry(step).or_insert_with(|| {
            self.steps.push(step);
            NestId(u32::try_from(self.steps.len()).expect("the tick limit keeps paths below 2^32"))
        })
    }

    fn step(&self, id: NestId) -> Option<&Step> {
        self.steps.get((id.0 as usize).wrapping_sub(1))
    }

    /// The steps down to a place, outermost first.
    fn path(&self, place: Step) -> Vec<(Site, Within)> {
        let mut path = vec![(place.site, place.within)];
        let mut at = place.parent;
        while let Some(step) = self.step(at) {
            path.push((step.site, step.within));
            at = step.parent;
        }
        path.reverse();
        path
    }

    /// The trips of the loops around, outermost first.
    pub fn trips(&self, id: NestId) -> Vec<u32> {
        let Some(&step) = self.step(id) else { return Vec::new() };
        let trip = |(_, within)| match within {
            Within::Trip(trip) => Some(trip),
            _ => None,
        };
        self.path(step).into_iter().filter_map(trip).collect()
    }

    /// Which of two places comes first in the program as written: trips of common loops decide, then
    /// the position in the source.
    pub fn compare(&self, a: Step, b: Step) -> Ordering {
        let key = |(site, within): (Site, Within)| (site.position(), within);
        self.path(a).into_iter().map(key).cmp(self.path(b).into_iter().map(key))
    }

    /// Does a thread that has come to `mark` have `place` behind it? It does not if the two are in
    /// different arms of one branch.
    pub fn is_past(&self, mark: Step, place: Step) -> bool {
        let (of_mark, of_place) = (self.path(mark), self.path(place));
        let parting = of_mark.iter().zip(&of_place).find(|(a, b)| a != b);
        let arms = matches!(parting, Some(((a, Within::Arm(_)), (b, Within::Arm(_)))) if a == b);
        !arms && self.compare(mark, place) == Ordering::Greater
    }
}
