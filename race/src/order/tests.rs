//! Hand-made traces: who accesses one cell, and what synchronises in between.

use super::*;

/// A trace over one cell, for a block of 64 threads: two warps.
struct Trace {
    clocks: Clocks,
    shadow: Shadow,
    exited: Vec<u16>,
    found: Vec<(u16, u16, bool)>,
}

impl Trace {
    fn new() -> Self {
        let mut clocks = Clocks::new(64);
        assert!(clocks.begin_block());
        Self { clocks, shadow: Shadow::new(1), exited: Vec::new(), found: Vec::new() }
    }

    fn access(&self, thread: u16, writes: bool) -> Access {
        Access::new(Site::here(), NestId::ROOT, self.clocks.now(thread), thread, writes)
    }

    fn write(mut self, thread: u16, value: u64, old: u64) -> Self {
        let by = self.access(thread, true);
        let mut conflicts = Vec::new();
        match self.shadow.plain_write(&self.clocks, 0, by) {
            Plain::Ordered => {}
            Plain::Races => conflicts.push(self.shadow.race(0, by)),
            Plain::No => self.shadow.write(&self.clocks, 0, &by, (value, old), &mut conflicts),
        }
        self.found.extend(conflicts.iter().map(|found| (found.earlier.thread(), thread, found.same_value)));
        self
    }

    fn read(mut self, thread: u16) -> Self {
        let by = self.access(thread, false);
        let mut conflicts = Vec::new();
        match self.shadow.plain_read(&self.clocks, 0, by) {
            Plain::Ordered => {}
            Plain::Races => conflicts.push(self.shadow.race(0, by)),
            Plain::No => self.shadow.read(&self.clocks, 0, &by, &mut conflicts),
        }
        self.found.extend(conflicts.iter().map(|found| (found.earlier.thread(), thread, found.same_value)));
        self
    }

    fn exit(mut self, thread: u16) -> Self {
        self.exited.push(thread);
        self
    }

    fn block_barrier(mut self) -> Self {
        let exited = self.exited.clone();
        let left: Vec<u16> = (0..64).filter(|thread| !exited.contains(thread)).collect();
        self.clocks.block_barrier(left.len() == 64, left.into_iter());
        self
    }

    fn warp_barrier(mut self, warp: usize, lanes: u32) -> Self {
        let alive = |lane: &u16| !self.exited.contains(&(warp as u16 * 32 + lane));
        let alive = (0..32).filter(alive).fold(0, |alive, lane| alive | 1 << lane);
        self.clocks.warp_barrier(warp, lanes, alive);
        self
    }

    #[track_caller]
    fn finds(mut self, expected: &[(u16, u16, bool)]) {
        self.found.sort_unstable();
        assert_eq!(self.found, expected, "(earlier thread, later thread, same value)");
    }
}

#[test]
fn a_thread_does_not_race_with_itself() {
    Trace::new().write(3, 1, 0).read(3).write(3, 2, 1).read(3).finds(&[]);
}

#[test]
fn a_write_and_a_read_without_a_barrier_race_in_either_order() {
    Trace::new().write(3, 1, 0).read(40).finds(&[(3, 40, false)]);
    Trace::new().read(40).write(3, 1, 0).finds(&[(40, 3, false)]);
}

#[test]
fn two_reads_do_not_race() {
    Trace::new().read(3).read(40).finds(&[]);
}

#[test]
fn a_block_barrier_orders_its_participants() {
    Trace::new().write(3, 1, 0).block_barrier().read(40).write(3, 2, 1).finds(&[(40, 3, false)]);
    Trace::new().write(3, 1, 0).block_barrier().read(40).block_barrier().write(3, 2, 1).finds(&[]);
}

#[test]
fn an_exited_thread_takes_no_part() {
    Trace::new().write(3, 1, 0).exit(3).block_barrier().block_barrier().read(40).finds(&[(3, 40, false)]);
    Trace::new().write(3, 1, 0).block_barrier().exit(3).block_barrier().read(40).finds(&[]);
}

#[test]
fn every_reader_counts() {
    Trace::new().read(3).read(40).read(41).write(50, 1, 0).finds(&[
        (3, 50, false),
        (40, 50, false),
        (41, 50, false),
    ]);
}

#[test]
fn the_same_value_is_told_from_another() {
    Trace::new().write(3, 7, 0).write(40, 7, 7).finds(&[(3, 40, true)]);
    Trace::new().write(3, 7, 0).write(40, 8, 7).finds(&[(3, 40, false)]);
    // Thread 3 wrote 7 at first, so that nothing says which value thread 40 met.
    Trace::new().write(3, 7, 0).write(3, 8, 7).write(40, 8, 8).finds(&[(3, 40, false), (3, 40, true)]);
    let twice = Trace::new().write(3, 7, 0).write(3, 8, 7).write(3, 8, 8);
    twice.write(40, 8, 8).finds(&[(3, 40, false), (3, 40, true)]);
}

#[test]
fn an_earlier_writer_is_not_forgotten_behind_a_later_one() {
    Trace::new().write(3, 7, 0).write(40, 7, 7).read(41).finds(&[
        (3, 40, true),
        (3, 41, false),
        (40, 41, false),
    ]);
}

#[test]
fn sync_warp_orders_the_lanes_it_names() {
    Trace::new().write(0, 1, 0).warp_barrier(0, 0b11).read(1).finds(&[]);
    Trace::new().write(0, 1, 0).warp_barrier(0, 0b11).read(2).finds(&[(0, 2, false)]);
    Trace::new().write(0, 1, 0).warp_barrier(1, u32::MAX).read(32).finds(&[(0, 32, false)]);
}

#[test]
fn sync_warp_chains() {
    Trace::new().write(0, 1, 0).warp_barrier(0, 0b011).warp_barrier(0, 0b110).read(2).finds(&[]);
    Trace::new().write(0, 1, 0).warp_barrier(0, 0b110).warp_barrier(0, 0b011).read(2).finds(&[(0, 2, false)]);
}

/// Lane 0 hands its write on to lane 1 and exits; lane 1 carries it through the block barrier.
#[test]
fn what_sync_warp_ordered_goes_through_a_block_barrier() {
    Trace::new().write(0, 1, 0).warp_barrier(0, 0b11).exit(0).block_barrier().read(40).finds(&[]);
}

/// Lanes that have synchronised have other clocks than the rest, behind the block barrier too.
#[test]
fn a_block_barrier_orders_nothing_that_comes_after_it_whatever_sync_warp_did() {
    Trace::new().warp_barrier(1, 0b11).block_barrier().write(32, 1, 0).read(0).finds(&[(32, 0, false)]);
}

#[test]
fn a_new_block_knows_nothing_of_the_last() {
    let mut trace = Trace::new().write(3, 1, 0).read(40);
    trace.found.clear();
    assert!(trace.clocks.begin_block());
    trace.shadow.begin_block();
    trace.read(41).write(3, 1, 1).finds(&[(41, 3, false)]);
}

#[test]
fn clocks_run_out_in_time() {
    let mut clocks = Clocks::new(1);
    clocks.latest = Clock::MAX / 2 - 2;
    assert!(clocks.begin_block());
    assert!(!clocks.begin_block());
}

/// A loop may go round a million times before it is stopped.
#[test]
fn a_loop_leaves_no_more_than_its_threads_and_lines() {
    let mut trace = Trace::new();
    for _ in 0..1000 {
        trace = trace.write(0, 1, 1).warp_barrier(0, u32::MAX).read(1).warp_barrier(0, u32::MAX).read(40);
        trace.found.clear();
    }
    let More { writes, reads } = &trace.shadow.more[0];
    assert!(writes.len() <= 2 && reads.len() <= 4, "{writes:?} {reads:?}");
}

#[test]
fn a_block_barrier_leaves_nothing() {
    let mut trace = Trace::new();
    for _ in 0..1000 {
        trace = trace.read(1).read(2).read(40).block_barrier();
    }
    assert!(trace.shadow.more[0].reads.len() <= 3, "{:?}", trace.shadow.more[0]);
}
