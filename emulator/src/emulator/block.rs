//! The block that is running: its threads, and what they do to memory and to each other.
//!
//! One worker runs one block at a time. Kernel code reaches the block through a thread-local pointer, and
//! no borrow of the block is alive where it gives its turn back.

use std::cell::Cell;
use std::panic::resume_unwind;
use std::ptr;
use std::sync::Arc;

use race::findings::Findings;
use race::limits::{Dim3, WARP};
use race::nest::{NestId, Nests, Step};
use race::order::{Access, Clocks, Conflict, Rows};
use race::recorder::Recorder;
use race::schedule::{Scheduler, Warp};
use race::{Fault, FaultKind, Site};

use super::accesses::Unsettled;
use super::barrier::{Barrier, Turn};
use super::fiber::{self, Footing};
use super::global::Global;
use super::judging::EarlyRead;
use super::launch::Shape;
use super::shared::SharedArrays;
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
    /// It has come to a barrier. A thread that is a future does not wait there yet.
    Barrier,
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
    /// What was done since the last barrier, if rows are kept.
    pub(crate) shared_rows: Rows,
    pub(crate) global_rows: Rows,
    /// So far rows could tell all.
    pub(crate) rows_serve: bool,
    /// What is done goes into rows.
    pub(crate) in_rows: bool,
    /// Something ended this block; the launch ends with it.
    pub(crate) faulted: bool,
    /// The block to record a trace of.
    pub(crate) traced: Option<u64>,
    /// What the panic hook saw of a panic in the kernel.
    pub(crate) panic: Option<String>,
    /// What the access at hand conflicts with.
    pub(crate) conflicts: Vec<Conflict>,
    pub(crate) early_reads: Vec<EarlyRead>,
    pub(crate) unsettled: Option<Unsettled>,
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
pub(crate) fn suspend(site: Site) {
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
            shared_rows: Rows::new(),
            global_rows: Rows::new(),
            rows_serve: true,
            in_rows: false,
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
            *warp = Warp { all: mask, alive: mask, ready: mask, ..Warp::default() };
        }
        self.ready_warps = u32::MAX >> (WARP - self.warps.len());
        self.alive = self.lanes.len() as u32;
        if std::mem::take(&mut self.lanes_differ) {
            self.lanes.fill_with(Lane::new);
        }
        self.begin_rows();
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
        let waits = self.lanes[usize::from(self.current)].waits.or(self.barrier.at);
        self.fault(FaultKind::HiddenBarrier, waits.map(|(site, _)| site));
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
        self.leave_rows();
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

    /// The block is over.
    pub(crate) fn end(&mut self) {
        self.end_rows();
        self.settle_rows();
        self.settle_write();
        self.global.grid.end_block(self.linear);
        if let Some(trace) = self.findings.trace.take() {
            self.findings.report.trace = Some(trace.finish());
        }
        self.end_early_reads();
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
        self.leave_rows();
        self.faulted = true;
        self.findings.fault(Fault { what, block: self.linear, thread, site });
    }
}
