//! The block that is running: its threads, and what they do to memory and to each other.
//!
//! One worker runs one block at a time. Kernel code reaches the block through a thread-local pointer, and
//! no borrow of the block is alive where it gives its turn back.

use std::cell::Cell;
use std::panic::resume_unwind;
use std::ptr;
use std::sync::Arc;

use super::barrier::{Barrier, Turn};
use super::fiber::{self, Footing};
use super::findings::Findings;
use super::global::Global;
use super::launch::Shape;
use super::limits::Dim3;
use super::nest::{NestId, Nests, Step};
use super::order::{Access, Clock, Clocks, Conflict, Plain, WARP};
use super::report::{Fault, FaultKind, Place};
use super::schedule::{Scheduler, Warp};
use super::shared::SharedArrays;
use super::site::Site;
use super::trace::Recorder;
use super::value::{CellValue, bits_at};
use super::worker::Queue;

/// What runs the threads of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    /// No kernel has been called yet.
    Undecided,
    /// They are futures.
    Futures,
    /// They are fibers.
    Fibers,
}

/// What is not the same for all threads of the block: most kernels never need it.
#[derive(Debug)]
pub(crate) struct Lane {
    /// The loop or call that the thread is in.
    pub(crate) step: Option<Step>,
    /// The id of that path, once something needed it.
    nest: Option<NestId>,
    /// How far the thread has come in the program as written: the last loop head that it passed, or join after a
    /// branch or a loop.
    pub(crate) passed: Option<Step>,
    pub(crate) ticks: u32,
    /// Where the thread waits, if it is not where the first to arrive at the block barrier does.
    pub(crate) waits: Option<(Site, NestId)>,
    pub(crate) warp_mask: u32,
    /// The barrier that completed after the thread had exited, if one has.
    pub(crate) exited_above: Option<Site>,
}

impl Lane {
    fn new() -> Self {
        Self {
            step: None,
            nest: Some(NestId::ROOT),
            passed: None,
            ticks: 0,
            waits: None,
            warp_mask: 0,
            exited_above: None,
        }
    }

    /// Goes one step further down the path, or back up.
    pub(crate) fn go(&mut self, step: Option<Step>, nest: Option<NestId>) {
        self.step = step;
        self.nest = nest;
    }

    /// The id of the path that the thread is on.
    #[inline]
    pub(crate) fn nest(&mut self, nests: &mut Nests) -> NestId {
        match self.nest {
            Some(nest) => nest,
            None => self.find_nest(nests),
        }
    }

    #[cold]
    fn find_nest(&mut self, nests: &mut Nests) -> NestId {
        let nest = self.step.map_or(NestId::ROOT, |step| nests.id(step));
        self.nest = Some(nest);
        nest
    }
}

/// What the running thread has done since it was resumed. A thread makes one visible access a step,
/// so that the lanes of a warp can take turns; a write to global memory rides along with an access to
/// shared memory, which cannot tell the two apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stepped {
    /// There is no thread yet.
    Outside,
    Nothing,
    Shared,
    GlobalRead,
    GlobalWrite,
}

/// A read of a cell that nothing had written yet.
#[derive(Clone, Copy, Debug)]
struct EarlyRead {
    array: usize,
    index: usize,
    access: Access,
}

/// A write raced with the reads of a cell that a thread made under these clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RacedRead {
    array: usize,
    index: usize,
    thread: u16,
    since: Clock,
    until: Clock,
}

/// A write to global memory whose value the emulator has not seen yet: `*pointer = value` writes it
/// through a reference, right after it was handed out.
struct Unsettled {
    buffer: usize,
    index: usize,
    address: usize,
    /// What the element held before, if the write has to be judged.
    judge: Option<(Access, u64)>,
}

/// Everything about the block that is running.
pub(crate) struct Block {
    pub(crate) shape: Shape,
    /// Where the worker's blocks come from.
    pub(crate) queue: Arc<Queue>,
    pub(crate) engine: Engine,
    pub(crate) linear: u64,
    pub(crate) index: Dim3,
    pub(crate) current: u16,
    pub(crate) stepped: Stepped,
    pub(crate) checks: bool,
    pub(crate) tick_limit: u32,
    /// False from a divergent barrier on: nothing is ordered any more in a documented way.
    pub(crate) judging: bool,
    /// The barrier that the running thread, a future, has come to and does not wait at yet.
    pub(crate) waits_at: Option<Site>,
    pub(crate) lanes: Vec<Lane>,
    /// Some lane holds something that it does not hold at the start.
    pub(crate) lanes_differ: bool,
    /// Of each thread, if they are fibers.
    pub(crate) footings: Vec<Footing>,
    pub(crate) warps: Vec<Warp>,
    pub(crate) ready_warps: u32,
    pub(crate) alive: u32,
    pub(crate) barrier: Barrier,
    pub(crate) turn: Turn,
    pub(crate) clocks: Clocks,
    pub(crate) nests: Nests,
    pub(crate) scheduler: Scheduler,
    pub(crate) shared: SharedArrays,
    pub(crate) global: Global,
    pub(crate) findings: Findings,
    /// Something ended this block; the launch ends with it.
    pub(crate) faulted: bool,
    /// The block to record a trace of.
    pub(crate) traced: Option<u64>,
    /// What the panic hook saw of a panic in the kernel.
    pub(crate) panic: Option<String>,
    /// What the access at hand conflicts with.
    conflicts: Vec<Conflict>,
    early_reads: Vec<EarlyRead>,
    raced_reads: Vec<RacedRead>,
    unsettled: Option<Unsettled>,
}

thread_local! {
    static CURRENT: Cell<*mut Block> = const { Cell::new(ptr::null_mut()) };
}

/// What a thread is unwound with when its block is stopped.
pub(crate) struct Stopped;

/// Makes `block` the one that kernel code on this OS thread belongs to.
pub(crate) fn enter(block: *mut Block) {
    CURRENT.set(block);
}

/// Is this OS thread running a kernel?
pub(crate) fn running() -> bool {
    !CURRENT.get().is_null()
}

/// Lends the running block to `f`, which must not suspend.
#[inline(always)]
pub(crate) fn with<R>(f: impl FnOnce(&mut Block) -> R) -> R {
    let block = CURRENT.get();
    assert!(!block.is_null(), "this function of cuda_std only works inside a kernel");
    // SAFETY: `enter` set a block that lives until `enter(null)`. Only this OS thread uses it, and `f`
    // neither suspends nor calls back into kernel code, so that no second borrow can be alive.
    f(unsafe { &mut *block })
}

/// Gives the turn back to the scheduler, until the running thread is resumed. `site` is where the kernel is.
#[inline(always)]
fn suspend(site: Site) {
    if !fiber::suspend() {
        fault(FaultKind::TurnLimit(with(|block| block.tick_limit)), site)
    }
}

/// The running thread has arrived at a barrier here: waits, or leaves that to the kernel.
#[inline(always)]
pub(crate) fn wait(site: Site) {
    match with(|block| block.engine) {
        Engine::Undecided => stop(),
        Engine::Futures => with(|block| block.waits_at = Some(site)),
        Engine::Fibers => suspend(site),
    }
}

/// Unwinds the running thread: its block has been stopped.
#[cold]
pub(crate) fn stop() -> ! {
    resume_unwind(Box::new(Stopped))
}

/// Stops the running thread, and with it the block.
#[cold]
pub(crate) fn fault(what: FaultKind, site: Site) -> ! {
    with(|block| block.fault(what, site));
    stop()
}

/// Called before an access: ends the step if the running thread has made one in it already. A thread that is
/// a future has seen to that itself; in an operator it cannot, and goes on.
#[inline(always)]
pub(crate) fn step(access: Stepped, site: Site) {
    while with(|block| block.engine != Engine::Futures && !block.takes(access)) {
        match with(|block| block.engine) {
            Engine::Fibers => suspend(site),
            _ => stop(),
        }
    }
}

impl Block {
    pub(crate) fn new(
        shape: Shape,
        scheduler: Scheduler,
        global: Global,
        queue: Arc<Queue>,
        (checks, tick_limit): (bool, u32),
    ) -> Self {
        let threads = shape.block.count() as usize;
        Self {
            shape,
            queue,
            engine: Engine::Undecided,
            linear: 0,
            index: Dim3::from(0),
            current: 0,
            stepped: Stepped::Outside,
            checks,
            tick_limit,
            judging: checks,
            waits_at: None,
            lanes: (0..threads).map(|_| Lane::new()).collect(),
            lanes_differ: false,
            footings: Vec::new(),
            warps: vec![Warp::default(); threads.div_ceil(WARP)],
            ready_warps: 0,
            alive: 0,
            barrier: Barrier::default(),
            turn: Turn::default(),
            clocks: Clocks::new(threads),
            nests: Nests::default(),
            scheduler,
            shared: SharedArrays::default(),
            global,
            findings: Findings::default(),
            faulted: false,
            traced: None,
            panic: None,
            conflicts: Vec::new(),
            early_reads: Vec::new(),
            raced_reads: Vec::new(),
            unsettled: None,
        }
    }

    pub(crate) fn begin(&mut self, linear: u64) {
        self.linear = linear;
        self.index = self.shape.grid.point(linear);
        self.judging = self.checks;
        self.faulted = false;
        self.barrier = Barrier::default();
        self.turn = Turn::default();
        self.nests.begin_block();
        self.scheduler.begin_block(linear);
        if !self.clocks.begin_block() {
            self.clocks = Clocks::new(self.lanes.len());
            self.shared.forget_all();
            self.global.forget_all();
        }
        self.shared.begin_block();
        self.global.begin_block();
        self.early_reads.clear();
        self.raced_reads.clear();
        if self.traced == Some(linear) {
            self.findings.trace = Some(Box::new(Recorder::new(linear, self.lanes.len() as u32)));
        }
        let mut left = self.lanes.len();
        for warp in &mut self.warps {
            let lanes = left.min(WARP);
            left -= lanes;
            let mask = u32::MAX >> (WARP - lanes);
            *warp = Warp { alive: mask, ready: mask, ..Warp::default() };
        }
        self.ready_warps = u32::MAX >> (WARP - self.warps.len());
        self.alive = self.lanes.len() as u32;
        if std::mem::take(&mut self.lanes_differ) {
            self.lanes.fill_with(Lane::new);
        }
    }

    /// Which lanes of which warp run next; `None` if the block is over.
    pub(crate) fn next_turn(&mut self) -> Option<(usize, u32)> {
        if self.faulted {
            return None;
        }
        if self.ready_warps == 0 {
            if self.alive > 0 {
                self.stuck();
            }
            return None;
        }
        if let Some(trace) = &mut self.findings.trace {
            trace.next_turn();
        }
        Some(self.scheduler.pick(self.ready_warps, &self.warps))
    }

    /// What the running thread has under it, which is a fiber.
    #[inline]
    pub(crate) fn footing(&mut self) -> &mut Footing {
        &mut self.footings[usize::from(self.current)]
    }

    /// Takes this access into the running thread's step, unless the step is full: then its turn is over.
    #[inline]
    pub(crate) fn takes(&mut self, access: Stepped) -> bool {
        let before = self.stepped;
        let (takes, after) = match access {
            Stepped::Shared => (matches!(before, Stepped::Nothing | Stepped::GlobalWrite), access),
            Stepped::GlobalWrite if before == Stepped::Shared => (true, before),
            _ => (before == Stepped::Nothing, access),
        };
        if takes {
            self.stepped = after;
        }
        takes
    }

    /// What is particular to the running thread.
    #[inline]
    pub(crate) fn lane(&mut self) -> &mut Lane {
        self.lanes_differ = true;
        &mut self.lanes[usize::from(self.current)]
    }

    /// The path that the running thread is on.
    #[inline]
    pub(crate) fn nest(&mut self) -> NestId {
        if self.lanes_differ {
            self.lanes[usize::from(self.current)].nest(&mut self.nests)
        } else {
            NestId::ROOT
        }
    }

    /// The block is over: reads that nothing wrote for, and nothing raced with, were uninitialised.
    pub(crate) fn end(&mut self) {
        self.settle_write();
        self.global.grid.end_block(self.linear);
        if let Some(trace) = self.findings.trace.take() {
            self.findings.report.trace = Some(trace.finish());
        }
        if self.early_reads.is_empty() {
            return;
        }
        self.raced_reads.sort_unstable();
        self.raced_reads.dedup();
        for read in &self.early_reads {
            let cell = (read.array, read.index, read.access.thread());
            let of = |raced: &RacedRead| (raced.array, raced.index, raced.thread);
            let from = self.raced_reads.partition_point(|raced| of(raced) < cell);
            let mut raced = self.raced_reads[from..].iter().take_while(|raced| of(raced) == cell);
            if !raced.any(|raced| (raced.since..=raced.until).contains(&read.access.clock())) {
                let memory = self.shared.array(read.array).memory();
                let index = read.index as u64;
                self.findings.uninitialised(&self.nests, self.linear, memory, index, read.access);
            }
        }
    }

    /// The running thread's indices in its block.
    #[inline]
    pub(crate) fn thread_idx(&self) -> Dim3 {
        let linear = u32::from(self.current);
        if self.shape.flat {
            Dim3 { x: linear, y: 0, z: 0 }
        } else {
            self.shape.block.point(u64::from(linear))
        }
    }

    /// An access by the running thread at this place. It is cheap: what is seldom needed makes it again, so
    /// that it stays in registers where it always is.
    #[inline]
    pub(crate) fn access(&mut self, site: Site, writes: bool) -> Access {
        let nest = self.nest();
        Access::new(site, nest, self.clocks.now(self.current), self.current, writes)
    }

    pub(crate) fn fault(&mut self, what: FaultKind, site: impl Into<Option<Site>>) {
        let site = site.into();
        let thread = u32::from(self.current);
        self.faulted = true;
        self.findings.fault(Fault { what, block: self.linear, thread, site });
    }

    /// Which shared array and which cell of it this slot is; `None` for a copy of a slot.
    #[inline]
    pub(crate) fn locate<T>(&mut self, address: usize, site: Site) -> Option<(usize, usize)> {
        let found = match self.shared.locate(address) {
            None => self.first_use(address, site),
            found => found,
        };
        found.map(|(array, offset)| (array, offset / size_of::<T>()))
    }

    #[cold]
    fn first_use(&mut self, address: usize, site: Site) -> Option<(usize, usize)> {
        match self.shared.first_use(address) {
            Ok(found) => found,
            Err(bytes) => {
                self.fault(FaultKind::SharedMemory { bytes }, site);
                stop()
            }
        }
    }

    /// Writes the cell of this slot. True if the block has to stop.
    #[inline(never)]
    pub(crate) fn slot_write<T: CellValue>(&mut self, address: usize, value: T, site: Site) -> bool {
        match self.locate::<T>(address, site) {
            Some((array, index)) => self.shared_write(array, index, value, site),
            None => {
                let by = self.access(site, true);
                self.findings.lost_write(&self.nests, self.linear, by);
            }
        }
        self.faulted
    }

    /// Reads the cell of this slot. True if the block has to stop.
    #[inline(never)]
    pub(crate) fn slot_read<T: CellValue>(&mut self, address: usize, site: Site) -> (T, bool) {
        let value = match self.locate::<T>(address, site) {
            Some((array, index)) => self.shared_read(array, index, site),
            // Which cell the copy was taken of is not known any more, nor when.
            None => {
                self.fault(FaultKind::CopyRead, site);
                T::POISON
            }
        };
        (value, self.faulted)
    }

    /// Reads a cell of shared memory; a cell that nothing has written in this block holds poison.
    #[inline]
    fn shared_read<T: CellValue>(&mut self, array: usize, index: usize, site: Site) -> T {
        if !self.checks {
            return self.shared.array(array).get(index);
        }
        let by = self.access(site, false);
        let cells = self.shared.array(array);
        let written = cells.shadow.written(&self.clocks, index);
        let value = if written { cells.get(index) } else { T::POISON };
        if self.findings.trace.is_some() {
            let place = cells.memory().place(index as u64);
            self.trace_access(site, false, place, written.then_some(value));
            self.judge_shared_read(array, index, site);
        } else {
            match cells.shadow.plain_read(&self.clocks, index, by) {
                Plain::Ordered => {}
                Plain::Races(write) => {
                    let place = cells.memory().place(index as u64);
                    self.read_races(place, site, write);
                }
                Plain::No => self.judge_shared_read(array, index, site),
            }
        }
        if !written {
            self.read_early(array, index, site);
        }
        value
    }

    #[cold]
    fn read_early(&mut self, array: usize, index: usize, site: Site) {
        if self.judging {
            let access = self.access(site, false);
            self.early_reads.push(EarlyRead { array, index, access });
        }
    }

    #[inline(never)]
    fn judge_shared_read(&mut self, array: usize, index: usize, site: Site) {
        let by = self.access(site, false);
        let Self { shared, clocks, conflicts, .. } = self;
        let cells = shared.array(array);
        let place = cells.memory().place(index as u64);
        cells.shadow.read(clocks, index, &by, conflicts);
        self.report_conflicts(&place, &by);
    }

    /// Writes a cell of shared memory.
    #[inline]
    fn shared_write<T: CellValue>(&mut self, array: usize, index: usize, value: T, site: Site) {
        if !self.checks {
            self.shared.array(array).replace(index, value);
            return;
        }
        let by = self.access(site, true);
        if self.findings.trace.is_some() {
            let place = self.shared.array(array).memory().place(index as u64);
            self.trace_access(site, true, place, Some(value));
        }
        let cells = self.shared.array(array);
        let old = cells.replace(index, value);
        if !cells.shadow.write_ordered(&self.clocks, index, by) {
            self.judge_shared_write(array, index, site, (value.bits(), old.bits()));
        }
    }

    /// Of a write, `written` is the value and what it was written over.
    #[inline(never)]
    fn judge_shared_write(&mut self, array: usize, index: usize, site: Site, written: (u64, u64)) {
        let by = self.access(site, true);
        let Self { shared, clocks, conflicts, judging, early_reads, raced_reads, .. } = self;
        let cells = shared.array(array);
        let place = cells.memory().place(index as u64);
        cells.shadow.write(clocks, index, &by, written, conflicts);
        if *judging && !early_reads.is_empty() {
            for Conflict { earlier, since, .. } in conflicts.iter().filter(|found| !found.earlier.writes()) {
                let until = earlier.clock().max(*since);
                raced_reads.push(RacedRead { array, index, thread: earlier.thread(), since: *since, until });
            }
        }
        self.report_conflicts(&place, &by);
    }

    /// Records an access to an element of a global buffer, which lies at `address`; a write is about to be
    /// made.
    #[inline(never)]
    pub(crate) fn global_access(
        &mut self,
        buffer: usize,
        index: usize,
        address: usize,
        writes: bool,
        site: Site,
    ) {
        self.settle_write();
        let by = self.access(site, writes);
        if self.findings.trace.is_some() {
            let place = self.global.place(buffer, index);
            // The value follows.
            self.trace_access(site, writes, place, None::<u64>);
        }
        self.global.grid.access(buffer, index, by);
        let slot = self.global.touch(buffer, index);
        if writes {
            let judge = if self.global.shadow().write_ordered(&self.clocks, slot, by) {
                None
            } else {
                // SAFETY: `GlobalPtr::access` found the address inside a buffer of this launch.
                let old = unsafe { bits_at(address, self.global.buffers[buffer].size) };
                Some((self.access(site, true), old))
            };
            if judge.is_some() || self.global.grid.in_full() {
                self.unsettled = Some(Unsettled { buffer, index, address, judge });
            }
        } else {
            match self.global.shadow().plain_read(&self.clocks, slot, by) {
                Plain::Ordered => {}
                Plain::Races(write) => self.read_races(self.global.place(buffer, index), site, write),
                Plain::No => self.judge_global_read(buffer, index, site),
            }
        }
    }

    /// Takes in the value of the last write to global memory, now that it is there. Has to come before the
    /// next access to global memory, and before the clock of the writing thread goes on.
    #[inline]
    pub(crate) fn settle_write(&mut self) {
        if self.unsettled.is_some() {
            self.settle();
        }
    }

    #[inline(never)]
    fn settle(&mut self) {
        if let Some(Unsettled { buffer, index, address, judge }) = &self.unsettled {
            let (buffer, index) = (*buffer, *index);
            // SAFETY: as in `global_access`; the launch that lent the buffer still runs.
            let value = unsafe { bits_at(*address, self.global.buffers[buffer].size) };
            self.global.grid.wrote(index, value);
            if let &Some((by, old)) = judge {
                self.judge_global_write(buffer, index, by, (value, old));
            }
            self.unsettled = None;
        }
    }

    #[inline(never)]
    fn judge_global_read(&mut self, buffer: usize, index: usize, site: Site) {
        let by = self.access(site, false);
        let Self { global, clocks, conflicts, .. } = self;
        let place = global.place(buffer, index);
        let slot = global.touch(buffer, index);
        global.shadow().read(clocks, slot, &by, conflicts);
        self.report_conflicts(&place, &by);
    }

    #[inline(never)]
    fn judge_global_write(&mut self, buffer: usize, index: usize, by: Access, written: (u64, u64)) {
        let Self { global, clocks, conflicts, .. } = self;
        let place = global.place(buffer, index);
        let slot = global.touch(buffer, index);
        global.shadow().write(clocks, slot, &by, written, conflicts);
        self.report_conflicts(&place, &by);
    }

    /// Nothing orders this write before the read that the running thread has just made.
    #[inline(never)]
    fn read_races(&mut self, place: Place, site: Site, write: Access) {
        let by = self.access(site, false);
        self.report(&place, &by, &Conflict::with(write, false));
    }

    /// Reports the conflicts that the access `by` to this place has just been found to have.
    fn report_conflicts(&mut self, place: &Place, by: &Access) {
        let mut conflicts = std::mem::take(&mut self.conflicts);
        for conflict in conflicts.drain(..) {
            self.report(place, by, &conflict);
        }
        self.conflicts = conflicts;
    }

    #[inline]
    fn report(&mut self, place: &Place, by: &Access, conflict: &Conflict) {
        if self.judging {
            let exited_above = self.lanes[usize::from(conflict.earlier.thread())].exited_above;
            self.findings.conflict(&self.nests, self.linear, place, by, conflict, exited_above);
        }
    }
}
