//! What `#[kernel]` writes into a kernel's body, so that a run knows what only the source shows: in
//! which trip of which loop a thread is, by which call it came, and that it went past a branch.

use race::nest::{NestId, Step, Within};
use race::{FaultKind, Site};

use super::block::{Block, Engine, fault, with};
use super::fiber;

/// Where a thread was before it entered a loop, a branch or a call.
#[derive(Clone, Copy, Debug)]
pub struct Outer {
    step: Option<Step>,
    nest: NestId,
    site: Site,
    trips: u32,
}

/// Before a loop, a branch in which there may be a barrier, or a statement that calls a helper.
#[track_caller]
#[must_use]
pub fn enter() -> Outer {
    let site = Site::here();
    with(|block| {
        let nest = block.nest();
        Outer { step: block.lane().step, nest, site, trips: 0 }
    })
}

/// At the head of a loop's body.
pub fn trip(outer: &mut Outer) {
    let step = Step { parent: outer.nest, site: outer.site, within: Within::Trip(outer.trips) };
    outer.trips += 1;
    let limit = with(|block| {
        let lane = block.lane();
        lane.go(Some(step), None);
        lane.passed = Some(step);
        lane.ticks += 1;
        let ticks = lane.ticks;
        if let Some(footing) = block.footings.get_mut(usize::from(block.current)) {
            footing.turns = 0;
        }
        (ticks > block.tick_limit).then_some(block.tick_limit)
    });
    if let Some(limit) = limit {
        fault(FaultKind::TickLimit(limit), outer.site);
    }
}

/// Into the call.
pub fn call(outer: &Outer) {
    go(outer, Within::Place);
}

/// At the head of an arm of the branch; arms are numbered in the order of the source.
pub fn arm(outer: &Outer, number: u32) {
    go(outer, Within::Arm(number));
}

fn go(outer: &Outer, within: Within) {
    let step = Step { parent: outer.nest, site: outer.site, within };
    with(|block| block.lane().go(Some(step), None));
}

/// After the loop, the branch or the call.
pub fn leave(outer: &Outer) {
    with(|block| block.lane().go(outer.step, Some(outer.nest)));
}

/// After a branch or a loop in which there may be a barrier.
#[track_caller]
pub fn join() {
    let site = Site::here();
    with(|block| {
        let parent = block.nest();
        block.lane().passed = Some(Step { parent, site, within: Within::Place });
    });
}

/// What is wrong with a second kernel.
pub(crate) const ONE_KERNEL: &str =
    "a launch runs one kernel: this one was called by another, or after another";

/// Before the body of a kernel that needs stacks. False if there are none yet: it has to return, and is called
/// again on one.
///
/// # Panics
///
/// If this thread is in a kernel already, or has been.
#[must_use]
pub fn start() -> bool {
    match with(|block| block.engine) {
        Engine::Undecided => false,
        Engine::Fibers if fiber::start() => true,
        Engine::Fibers | Engine::Futures => panic!("{ONE_KERNEL}"),
    }
}

/// At the end of the kernel, which a `return` does not come to.
#[inline]
pub fn end() {
    with(Block::end_kernel);
}

/// After the kernel. False if the thread has no block any more; else it starts over, in its next block.
#[inline(always)]
pub fn next_block() -> bool {
    fiber::next_block()
}
