//! The block that is running: its threads, and what they do to memory and to each other.
//!
//! One worker runs one block at a time. Kernel code reaches the block through a thread-local pointer, and
//! no borrow of the block is alive where it gives its turn back.

use std::cell::Cell;
use std::num::NonZeroU32;
use std::panic::resume_unwind;
use std::ptr;
use std::sync::Arc;

use super::barrier::{Barrier, Turn};
use super::fiber::{self, Footing};
use super::findings::{Findings, Memory};
use super::global::{Global, show};
use super::launch::Shape;
use super::limits::Dim3;
use super::nest::{NestId, Nests, Step};
use super::order::{Access, Clocks, Conflict, Plain, WARP};
use super::report::{Fault, FaultKind};
use super::schedule::{Scheduler, Warp};
use super::shared::SharedArrays;
use super::site::Site;
use super::trace::Recorder;
use super::value::CellValue;
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

/// The number of an early read of the running block, from 1.
pub(crate) type EarlyReadId = NonZeroU32;

/// What came of an access.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome {
    /// It was made.
    Made,
    /// The running thread's step is full: it is to be made in the next.
    Later,
    /// The block has been stopped.
    Stopped,
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
    /// It has come to a barrier. A thread that is a future does not wait there yet.
    Barrier,
}

/// A read of a cell that nothing had written yet.
#[derive(Clone, Copy, Debug)]
struct EarlyRead {
    array: usize,
    index: usize,
    access: Access,
    /// The one of the same cell before this one.
    before: Option<EarlyReadId>,
    /// A write raced with it.
    raced: bool,
}

/// A write to global memory whose value the emulator has not seen yet: `*pointer = value` writes it
/// through a reference, right after it was handed out.
struct Unsettled {
    buffer: usize,
    index: usize,
    /// If the write has to be judged: its cell, and what the element held before.
    judge: Option<(Access, usize, u64)>,
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
    /// Accesses are judged and not traced, the lanes do not differ and nothing has ended the block: most accesses
    /// of most kernels take a short way.
    plain: bool,
    /// Where the running thread came to a barrier last.
    pub(crate) barrier_site: Option<Site>,
    pub(crate) lanes: Vec<Lane>,
    /// Some lane holds something that it does not hold at the start.
    lanes_differ: bool,
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
        Engine::Futures => {}
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

/// Makes an access by the running thread, here. If its step is full, it ends first. (A thread that is a future
/// has seen to that itself; in an operator it cannot, and goes on.)
#[inline(always)]
pub(crate) fn access<R>(site: Site, make: impl Fn(&mut Block) -> (R, Outcome)) -> R {
    loop {
        match with(&make) {
            (made, Outcome::Made) => return made,
            (_, Outcome::Later) if with(|block| block.engine) == Engine::Fibers => suspend(site),
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
            plain: false,
            barrier_site: None,
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
        self.plain = self.checks && self.findings.trace.is_none();
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

    /// Gives this thread its turn.
    #[inline]
    pub(crate) fn resume(&mut self, thread: u16) {
        self.current = thread;
        self.turn.lane = 1 << (usize::from(thread) % WARP);
        self.stepped = Stepped::Nothing;
    }

    /// Does the running thread, a future, have to wait at a barrier that it has come to?
    #[inline]
    pub(crate) fn waits_at_barrier(&mut self) -> bool {
        let waits = self.stepped == Stepped::Barrier;
        if waits {
            self.stepped = Stepped::Nothing;
        }
        waits
    }

    /// The running thread, a future, came to a barrier and went on.
    #[cold]
    pub(crate) fn hidden_barrier(&mut self) {
        self.fault(FaultKind::HiddenBarrier, self.barrier_site);
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
        let current = self.current;
        self.lane_of(current)
    }

    /// What is particular to this thread.
    #[inline]
    pub(crate) fn lane_of(&mut self, thread: u16) -> &mut Lane {
        self.lanes_differ = true;
        self.plain = false;
        &mut self.lanes[usize::from(thread)]
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
        for read in self.early_reads.drain(..) {
            let array = self.shared.array(read.array);
            array.early_reads[read.index] = None;
            if !read.raced {
                let (memory, index) = (array.memory(), read.index as u64);
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

    /// [`access`](Self::access), while the block is plain: all that would set clocks apart ends that.
    #[inline]
    fn plain_access(&self, site: Site, writes: bool) -> Access {
        debug_assert!(!self.plain || self.clocks.now(self.current) == self.clocks.common());
        Access::new(site, NestId::ROOT, self.clocks.common(), self.current, writes)
    }

    pub(crate) fn fault(&mut self, what: FaultKind, site: impl Into<Option<Site>>) {
        let site = site.into();
        let thread = u32::from(self.current);
        self.faulted = true;
        self.plain = false;
        self.findings.fault(Fault { what, block: self.linear, thread, site });
    }

    /// Is the running thread's step, if it does not see to that itself, too full for this?
    #[inline]
    fn waits_before(&mut self, access: Stepped) -> bool {
        self.engine != Engine::Futures && !self.takes(access)
    }

    /// Writes the cell of this slot.
    #[inline(never)]
    pub(crate) fn slot_write<T: CellValue>(&mut self, address: usize, value: T, site: Site) -> Outcome {
        if self.waits_before(Stepped::Shared) {
            return Outcome::Later;
        }
        let by = self.plain_access(site, true);
        if self.plain
            && let Some((cells, index)) = self.shared.find::<T>(address)
            && cells.shadow.settled(&self.clocks, index, by)
        {
            cells.replace(index, value);
            return Outcome::Made;
        }
        self.slot_write_in_full(address, value, site)
    }

    #[inline(never)]
    fn slot_write_in_full<T: CellValue>(&mut self, address: usize, value: T, site: Site) -> Outcome {
        let Some((array, index)) = self.locate::<T>(address, site) else {
            return self.copy_write(site);
        };
        let by = self.access(site, true);
        if self.findings.trace.is_some() {
            let place = self.shared.array(array).memory().place(index as u64);
            self.trace_access(site, true, place, Some(value));
        }
        let cells = self.shared.array(array);
        let old = cells.replace(index, value);
        if !self.checks {
            return self.outcome();
        }
        match cells.shadow.plain_write(&self.clocks, index, by) {
            Plain::Ordered => {}
            Plain::Races => self.race_on_slot(array, index, site, true),
            Plain::No => self.judge_slot_write(array, index, site, (value.bits(), old.bits())),
        }
        self.outcome()
    }

    /// Of a write, `written` is the value and what it was written over.
    #[inline(never)]
    fn judge_slot_write(&mut self, array: usize, index: usize, site: Site, written: (u64, u64)) {
        let by = self.access(site, true);
        let Self { shared, clocks, conflicts, .. } = self;
        let cells = shared.array(array);
        cells.shadow.write(clocks, index, &by, written, conflicts);
        let memory = cells.memory();
        for number in 0..self.conflicts.len() {
            let conflict = self.conflicts[number];
            self.race_early_reads(array, index, &conflict);
        }
        self.report_conflicts(memory, index, &by);
    }

    /// The access just made races with one other.
    #[inline(never)]
    fn race_on_slot(&mut self, array: usize, index: usize, site: Site, writes: bool) {
        let by = self.access(site, writes);
        let cells = self.shared.array(array);
        let (memory, conflict) = (cells.memory(), cells.shadow.race(index, by));
        if writes {
            self.race_early_reads(array, index, &conflict);
        }
        self.report(memory, index, &by, &conflict);
    }

    #[cold]
    fn copy_write(&mut self, site: Site) -> Outcome {
        if !self.faulted {
            let by = self.access(site, true);
            self.findings.lost_write(&self.nests, self.linear, by);
        }
        self.outcome()
    }

    /// Reads the cell of this slot; a cell that nothing has written in this block holds poison.
    #[inline(never)]
    pub(crate) fn slot_read<T: CellValue>(&mut self, address: usize, site: Site) -> (T, Outcome) {
        if self.waits_before(Stepped::Shared) {
            return (T::POISON, Outcome::Later);
        }
        let by = self.plain_access(site, false);
        if self.plain
            && let Some((cells, index)) = self.shared.find::<T>(address)
            && cells.shadow.written(&self.clocks, index)
            && cells.shadow.settled(&self.clocks, index, by)
        {
            return (cells.get(index), Outcome::Made);
        }
        self.slot_read_in_full(address, site)
    }

    #[inline(never)]
    fn slot_read_in_full<T: CellValue>(&mut self, address: usize, site: Site) -> (T, Outcome) {
        let Some((array, index)) = self.locate::<T>(address, site) else {
            return (T::POISON, self.copy_read(site));
        };
        if !self.checks {
            return (self.shared.array(array).get(index), self.outcome());
        }
        if self.findings.trace.is_some() {
            let cells = self.shared.array(array);
            let place = cells.memory().place(index as u64);
            let value: Option<T> = cells.shadow.written(&self.clocks, index).then(|| cells.get(index));
            self.trace_access(site, false, place, value);
        }
        let by = self.access(site, false);
        let cells = self.shared.array(array);
        let written = cells.shadow.written(&self.clocks, index);
        let value = if written { cells.get(index) } else { T::POISON };
        match cells.shadow.plain_read(&self.clocks, index, by) {
            Plain::Ordered => {}
            Plain::Races
                if self.plain
                    && self.findings.again(cells.memory(), by, &cells.shadow.race(index, by), None) => {}
            Plain::Races => self.race_on_slot(array, index, site, false),
            Plain::No => self.judge_slot_read(array, index, site),
        }
        if !written {
            self.read_early(array, index, site);
        }
        (value, self.outcome())
    }

    #[inline(never)]
    fn judge_slot_read(&mut self, array: usize, index: usize, site: Site) {
        let by = self.access(site, false);
        let Self { shared, clocks, conflicts, .. } = self;
        let cells = shared.array(array);
        cells.shadow.read(clocks, index, &by, conflicts);
        let memory = cells.memory();
        self.report_conflicts(memory, index, &by);
    }

    /// Which cell the copy was taken of is not known any more, nor when.
    #[cold]
    fn copy_read(&mut self, site: Site) -> Outcome {
        if !self.faulted {
            self.fault(FaultKind::CopyRead, site);
        }
        Outcome::Stopped
    }

    fn outcome(&self) -> Outcome {
        if self.faulted { Outcome::Stopped } else { Outcome::Made }
    }

    /// Which shared array and which cell of it this slot is. `None` for a copy of a slot, or after a fault.
    #[inline]
    fn locate<T>(&mut self, address: usize, site: Site) -> Option<(usize, usize)> {
        match self.shared.locate::<T>(address) {
            None => self.first_use::<T>(address, site),
            found => found,
        }
    }

    #[cold]
    fn first_use<T>(&mut self, address: usize, site: Site) -> Option<(usize, usize)> {
        match self.shared.first_use(address) {
            Ok(true) => self.shared.locate::<T>(address),
            Ok(false) => None,
            Err(bytes) => {
                self.fault(FaultKind::SharedMemory { bytes }, site);
                None
            }
        }
    }

    /// Nothing has written the cell yet.
    #[inline(never)]
    fn read_early(&mut self, array: usize, index: usize, site: Site) {
        if self.judging {
            let access = self.access(site, false);
            let last = &mut self.shared.array(array).early_reads[index];
            self.early_reads.push(EarlyRead { array, index, access, before: *last, raced: false });
            *last = u32::try_from(self.early_reads.len()).ok().and_then(NonZeroU32::new);
        }
    }

    /// The write at hand conflicts with this: if it is an early read of the cell, it was not uninitialised.
    fn race_early_reads(&mut self, array: usize, index: usize, conflict: &Conflict) {
        if !self.judging {
            return;
        }
        let Conflict { earlier, since, .. } = conflict;
        let clocks = *since..=earlier.clock().max(*since);
        let mut next = self.shared.array(array).early_reads[index];
        while let Some(number) = next {
            let read = &mut self.early_reads[number.get() as usize - 1];
            read.raced |= read.access.thread() == earlier.thread() && clocks.contains(&read.access.clock());
            next = read.before;
        }
    }

    /// Records an access to an element of a global buffer; a write is about to be made.
    #[inline(never)]
    pub(crate) fn global_access<T: CellValue>(
        &mut self,
        buffer: usize,
        at: *mut T,
        writes: bool,
        site: Site,
    ) -> Outcome {
        if self.waits_before(if writes { Stepped::GlobalWrite } else { Stepped::GlobalRead }) {
            return Outcome::Later;
        }
        if self.plain {
            let by = self.plain_access(site, writes);
            if self.global.goes_on(&self.clocks, at, by) {
                return Outcome::Made;
            }
        }
        self.global_access_in_full(buffer, at, writes, site)
    }

    #[inline(never)]
    fn global_access_in_full<T: CellValue>(
        &mut self,
        buffer: usize,
        at: *mut T,
        writes: bool,
        site: Site,
    ) -> Outcome {
        let Some(index) = self.global.index_of(buffer, at) else {
            let outside = self.global.outside(buffer, at.addr());
            self.fault(outside, site);
            return Outcome::Stopped;
        };
        if !self.checks {
            return Outcome::Made;
        }
        self.settle_write();
        let memory = self.global.memory(buffer);
        if self.findings.trace.is_some() {
            self.trace_access(site, writes, memory.place(index as u64), None::<u64>);
            if let Some(trace) = &mut self.findings.trace {
                trace.value_follows(at.expose_provenance(), show::<T>);
            }
        }
        let by = self.access(site, writes);
        let Self { global, clocks, conflicts, .. } = self;
        let slot = global.touch(buffer, index, by);
        let shadow = &mut global.shadow;
        let mut judge = None;
        match if writes { shadow.plain_write(clocks, slot, by) } else { shadow.plain_read(clocks, slot, by) }
        {
            Plain::Ordered => {}
            Plain::Races => conflicts.push(shadow.race(slot, by)),
            Plain::No if writes => judge = Some((by, slot, global.bits(buffer, index))),
            Plain::No => shadow.read(clocks, slot, &by, conflicts),
        }
        if judge.is_some() || (writes && global.grid.in_full()) {
            global.break_off();
            self.unsettled = Some(Unsettled { buffer, index, judge });
        }
        self.report_conflicts(memory, index, &by);
        Outcome::Made
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
        let Some(Unsettled { buffer, index, judge }) = self.unsettled.take() else { return };
        let Self { global, clocks, conflicts, .. } = self;
        let value = global.bits(buffer, index);
        global.grid.wrote(index, value);
        if let Some((by, slot, old)) = judge {
            global.shadow.write(clocks, slot, &by, (value, old), conflicts);
            self.report_conflicts(self.global.memory(buffer), index, &by);
        }
    }

    /// Reports the conflicts that the access `by` to this place has just been found to have.
    fn report_conflicts(&mut self, memory: Memory, index: usize, by: &Access) {
        let mut conflicts = std::mem::take(&mut self.conflicts);
        for conflict in conflicts.drain(..) {
            self.report(memory, index, by, &conflict);
        }
        self.conflicts = conflicts;
    }

    fn report(&mut self, memory: Memory, index: usize, by: &Access, conflict: &Conflict) {
        if self.judging {
            let exited_above = if self.lanes_differ {
                self.lanes[usize::from(conflict.earlier.thread())].exited_above
            } else {
                None
            };
            let place = (memory, index);
            self.findings.conflict(&self.nests, self.linear, place, by, conflict, exited_above);
        }
    }
}
