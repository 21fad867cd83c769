//! Where in the program a thread is: the loops around it, with their trips, and the calls.
//!
//! Two things hang on it. A barrier is the *same* barrier for two threads only if they reached it by
//! the same calls and in the same trip of every loop. And the order "as written" of two accesses,
//! which names a hazard read-after-write or write-after-read, is that of their paths.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

use super::site::Site;

/// One path, for as long as its block runs. Equal paths have equal ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NestId(u32);

impl NestId {
    /// Outside every loop and call.
    pub(crate) const ROOT: Self = Self(0);
}

/// One step of a path: a loop and the trip it is in, or a statement that calls a helper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    pub(crate) parent: NestId,
    pub(crate) site: Site,
    pub(crate) trip: Option<u32>,
}

/// The paths that the running block has seen.
#[derive(Debug, Default)]
pub(crate) struct Nests {
    steps: Vec<Step>,
    ids: FxHashMap<Step, NestId>,
}

impl Nests {
    pub(crate) fn begin_block(&mut self) {
        self.steps.clear();
        self.ids.clear();
    }

    /// The path that goes on from `step.parent` by this step.
    pub(crate) fn id(&mut self, step: Step) -> NestId {
        *self.ids.entry(step).or_insert_with(|| {
            self.steps.push(step);
            NestId(u32::try_from(self.steps.len()).expect("the tick limit keeps paths below 2^32"))
        })
    }

    fn step(&self, id: NestId) -> Option<&Step> {
        self.steps.get((id.0 as usize).wrapping_sub(1))
    }

    /// The steps of a path, outermost first.
    fn path(&self, id: NestId) -> Vec<(Site, Option<u32>)> {
        let mut path = Vec::new();
        let mut at = id;
        while let Some(step) = self.step(at) {
            path.push((step.site, step.trip));
            at = step.parent;
        }
        path.reverse();
        path
    }

    /// The trips of the loops around, outermost first.
    pub(crate) fn trips(&self, id: NestId) -> Vec<u32> {
        self.path(id).into_iter().filter_map(|(_, trip)| trip).collect()
    }

    /// Which of two places comes first in the program as written: trips of common loops decide, then
    /// the position in the source.
    pub(crate) fn compare(&self, a: Step, b: Step) -> Ordering {
        let whole = |place: Step| {
            let mut path = self.path(place.parent);
            path.push((place.site, place.trip));
            path
        };
        let key = |&(site, trip): &(Site, Option<u32>)| (site.position(), trip);
        whole(a).iter().map(key).cmp(whole(b).iter().map(key))
    }
}
