//! What `#[kernel]` writes into a kernel's body, so that a run knows what only the source shows: in
//! which trip of which loop a thread is, by which call it came, and that it went past a branch.

use super::block::{Passed, fault, with};
use super::nest::{NestId, Step};
use super::report::FaultKind;
use super::site::Site;

/// Where a thread was before it entered a loop or a call.
#[derive(Clone, Copy, Debug)]
pub struct Outer {
    step: Option<Step>,
    nest: NestId,
    site: Site,
    trips: u32,
}

/// Before a loop, or before a statement that calls a helper.
#[track_caller]
#[must_use]
pub fn enter() -> Outer {
    let site = Site::here();
    with(|block| {
        let lane = &mut block.lanes[usize::from(block.current)];
        let nest = lane.nest(&mut block.nests);
        Outer { step: lane.step, nest, site, trips: 0 }
    })
}

/// At the head of a loop's body.
pub fn trip(outer: &mut Outer) {
    let step = Step { parent: outer.nest, site: outer.site, trip: Some(outer.trips) };
    outer.trips += 1;
    let limit = with(|block| {
        let lane = &mut block.lanes[usize::from(block.current)];
        lane.go(Some(step), None);
        lane.passed = Passed::Mark(step);
        lane.ticks += 1;
        (lane.ticks > block.tick_limit).then_some(block.tick_limit)
    });
    if let Some(limit) = limit {
        fault(FaultKind::TickLimit(limit), outer.site);
    }
}

/// Into the call.
pub fn call(outer: &Outer) {
    let step = Step { parent: outer.nest, site: outer.site, trip: None };
    with(|block| block.lanes[usize::from(block.current)].go(Some(step), None));
}

/// After the loop or the call.
pub fn leave(outer: &Outer) {
    with(|block| block.lanes[usize::from(block.current)].go(outer.step, Some(outer.nest)));
}

/// After a branch or a loop in which there may be a barrier.
#[track_caller]
pub fn join() {
    let site = Site::here();
    with(|block| {
        let lane = &mut block.lanes[usize::from(block.current)];
        let parent = lane.nest(&mut block.nests);
        lane.passed = Passed::Mark(Step { parent, site, trip: None });
    });
}

/// At the end of the kernel, which a `return` does not come to.
pub fn end() {
    with(|block| block.lanes[usize::from(block.current)].passed = Passed::End);
}
