//! A launch: a grid of blocks, spread over the cores of this machine.

use std::marker::PhantomData;
use std::sync::{Arc, Once};
use std::{panic, ptr, thread};

use race::findings::Findings;
use race::grid::{Detail, Pattern, hazards, may_meet};
use race::limits::{self, Dim3, LaunchError, MAX_EXHAUSTIVE_BLOCK};
use race::schedule::{Policy, Schedule, Scheduler, Trace};
use race::{Hazard, Report, direct_path};

use super::block::{Block, running, with};
use super::global::{Buffer, Global};
use super::value::CellValue;
use super::worker::{self, Kernel, Queue};

/// How often a thread may go round loops, in one block, before it is stopped as endless; and how many accesses
/// it may make between two trips, which stops a loop in a function that the kernel calls.
pub const DEFAULT_TICK_LIMIT: u32 = 1 << 20;

/// A worker makes stacks for the threads of a block, which takes about as long as it takes to run some dozens of
/// blocks; and longer, the more workers ask the operating system at once.
const BLOCKS_A_WORKER: u64 = 256;

/// The most stacks that a launch makes. Linux lets a process map 65,530 pieces of memory, and a stack with its
/// guard page is two.
const MAX_STACKS: usize = 16 * 1024;

/// The buffers that the kernels of a launch may write, for as long as they are borrowed.
#[derive(Debug, Default)]
pub struct GlobalMemory<'a> {
    buffers: Vec<Buffer>,
    borrowed: PhantomData<&'a mut [u8]>,
}

impl<'a> GlobalMemory<'a> {
    /// No buffers yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lends a buffer to the kernels; reports call it `name`.
    pub fn lend<T: CellValue>(&mut self, name: &'static str, data: &'a mut [T]) -> DevicePtr<T> {
        let base = data.as_mut_ptr();
        self.buffers.push(Buffer { name, base: base as usize, len: data.len(), size: size_of::<T>() });
        DevicePtr(base)
    }
}

/// A pointer to a lent buffer, to hand to a kernel.
#[derive(Clone, Copy, Debug)]
pub struct DevicePtr<T>(*mut T);

// SAFETY: the pointer is only followed by kernels, through checked handles that access memory shared
// between blocks atomically.
unsafe impl<T: CellValue> Send for DevicePtr<T> {}
// SAFETY: as above.
unsafe impl<T: CellValue> Sync for DevicePtr<T> {}

impl<T> DevicePtr<T> {
    /// The kernel's argument.
    #[must_use]
    pub fn as_mut_ptr(&self) -> *mut T {
        self.0
    }
}

/// The shape of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) grid: Dim3,
    pub(crate) block: Dim3,
    /// The block is one-dimensional.
    pub(crate) flat: bool,
}

/// A launch of a kernel on the emulator.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    shape: Shape,
    policy: Policy,
    seed: u64,
    checks: bool,
    tick_limit: u32,
    workers: Option<usize>,
    traced: Option<u64>,
}

impl Launch {
    /// A launch of `grid` blocks of `block` threads: lockstep, seed 0, all checks on.
    #[must_use]
    pub fn new(grid: impl Into<Dim3>, block: impl Into<Dim3>) -> Self {
        let (grid, block) = (grid.into(), block.into());
        Self {
            shape: Shape { grid, block, flat: block.y == 1 && block.z == 1 },
            policy: Policy::Lockstep,
            seed: 0,
            checks: true,
            tick_limit: DEFAULT_TICK_LIMIT,
            workers: None,
            traced: None,
        }
    }

    /// How threads are interleaved.
    #[must_use]
    pub fn policy(self, policy: Policy) -> Self {
        Self { policy, ..self }
    }

    /// The seed of the interleaving: the same seed gives the same output.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Whether accesses are judged. Without, only the values are computed, and blocks that race with each other
    /// leave what the machine happened to do.
    #[must_use]
    pub fn checks(self, checks: bool) -> Self {
        Self { checks, ..self }
    }

    /// How often a thread may go round loops in one block.
    #[must_use]
    pub fn tick_limit(self, tick_limit: u32) -> Self {
        Self { tick_limit, ..self }
    }

    /// How many OS threads run blocks; if not set, as many as the machine has cores, and fewer for few blocks. The
    /// outcome is the same.
    #[must_use]
    pub fn workers(self, workers: usize) -> Self {
        Self { workers: Some(workers.max(1)), ..self }
    }

    /// Records everything that this block (linear in the grid) does; the trace is in the report. It
    /// takes checks: without them accesses are not looked at.
    #[must_use]
    pub fn trace(self, block: u64) -> Self {
        Self { traced: Some(block), ..self }
    }

    /// Runs `kernel` once for each thread of the grid. The closure calls one `#[kernel]` function, last: a
    /// kernel goes on from block to block and only returns after the last.
    ///
    /// # Errors
    ///
    /// If CUDA would refuse the launch. What the kernel does wrong is in the report.
    ///
    /// # Panics
    ///
    /// If the operating system has no memory for the threads' stacks.
    pub fn run(
        &self,
        memory: &mut GlobalMemory<'_>,
        kernel: impl Fn() + Sync,
    ) -> Result<Report, LaunchError> {
        self.run_as(&Schedule::seeded(self.policy, self.seed), memory, kernel).map(|(report, _)| report)
    }

    /// As [`run`](Self::run), under this schedule; and says what the interleaving was.
    ///
    /// # Errors
    ///
    /// If CUDA would refuse the launch, or if its blocks are too large to be explored exhaustively.
    ///
    /// # Panics
    ///
    /// As for `run`.
    pub fn run_as(
        &self,
        schedule: &Schedule,
        memory: &mut GlobalMemory<'_>,
        kernel: impl Fn() + Sync,
    ) -> Result<(Report, Trace), LaunchError> {
        limits::check(self.shape.grid, self.shape.block)?;
        catch_kernel_panics();
        let blocks = self.shape.grid.count();
        let mut workers = self.workers.unwrap_or_else(|| {
            let cores = thread::available_parallelism().map_or(1, Into::into);
            cores.min(usize::try_from(blocks.div_ceil(BLOCKS_A_WORKER)).unwrap_or(cores))
        });
        if schedule.policy() == Policy::Exhaustive {
            let threads = self.shape.block.count();
            if threads > u64::from(MAX_EXHAUSTIVE_BLOCK) {
                return Err(LaunchError::ExhaustiveThreads(threads));
            }
            // One sequence of decisions, block after block.
            workers = 1;
        }
        let threads = usize::try_from(self.shape.block.count()).unwrap_or(MAX_STACKS);
        let workers =
            workers.min(usize::try_from(blocks).unwrap_or(workers)).min((MAX_STACKS / threads).max(1));
        let before = (blocks > 1).then(|| snapshot(&memory.buffers));
        let run = |workers, detail| self.run_on(schedule, workers, detail, &memory.buffers, &kernel);
        let (report, mut patterns, trace) = run(workers, Detail::Patterns);
        match before {
            // Blocks that race with each other leave what the machine happened to do, and so do those that
            // ran beside one that ended the launch. Do it again in the order of the blocks, so that the same
            // seed gives the same output.
            Some(before) if may_meet(&mut patterns) || (workers > 1 && report.fault.is_some()) => {
                restore(&memory.buffers, &before);
                let (report, runs, trace) = run(1, Detail::Full);
                let buffers: Vec<_> = memory.buffers.iter().map(Buffer::memory).collect();
                Ok((with_hazards(report, hazards(&runs, &buffers)), trace))
            }
            _ => Ok((report, trace)),
        }
    }

    fn run_on(
        &self,
        schedule: &Schedule,
        workers: usize,
        detail: Detail,
        buffers: &[Buffer],
        kernel: &(impl Fn() + Sync),
    ) -> (Report, Vec<Pattern>, Trace) {
        let kernel: &Kernel<'_> = kernel;
        let queue = Arc::new(Queue::new(self.shape.grid.count(), workers));
        let work = || {
            let scheduler = Scheduler::new(schedule);
            let global = Global::new(buffers.to_vec(), detail);
            let limits = (self.checks, self.tick_limit);
            let mut block = Block::new(self.shape, scheduler, global, Arc::clone(&queue), limits);
            block.traced = self.traced;
            worker::run(block, kernel)
        };
        let mut findings = Findings::default();
        let mut patterns = Vec::new();
        let mut trace = Trace::default();
        let mut take = |(found, accesses, order): (Findings, Vec<Pattern>, Trace)| {
            findings.merge(found.finish());
            patterns.extend(accesses);
            trace.merge(order);
        };
        if workers == 1 {
            take(work());
        } else {
            // This thread only waits: where it runs, an idle core takes over a worker at once. A core that is
            // busy with this thread might keep one waiting behind it for as long as a launch takes.
            thread::scope(|scope| {
                let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
                for worker in workers {
                    match worker.join() {
                        Ok(done) => take(done),
                        Err(payload) => panic::resume_unwind(payload),
                    }
                }
            });
        }
        (findings.finish(), patterns, trace)
    }
}

fn with_hazards(mut report: Report, across: Vec<Hazard>) -> Report {
    report.hazards.extend(across);
    let mut findings = Findings::default();
    findings.merge(report);
    findings.finish()
}

fn snapshot(buffers: &[Buffer]) -> Vec<Vec<u8>> {
    buffers
        .iter()
        .map(|buffer| {
            let bytes = ptr::with_exposed_provenance::<u8>(buffer.base);
            // SAFETY: the buffer is lent to this launch, which has not begun; its elements are numbers
            // or `bool`, without padding.
            unsafe { std::slice::from_raw_parts(bytes, buffer.len * buffer.size) }.to_vec()
        })
        .collect()
}

fn restore(buffers: &[Buffer], before: &[Vec<u8>]) {
    for (buffer, bytes) in buffers.iter().zip(before) {
        let to = ptr::with_exposed_provenance_mut::<u8>(buffer.base);
        // SAFETY: the buffer is lent to this launch, none of whose threads runs now, and has as many
        // bytes as `snapshot` took from it.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) }
    }
}

/// Keeps the message of a panic in a kernel for the report, instead of printing it from the middle of
/// a launch; every other panic goes to the hook that was there before.
fn catch_kernel_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !running() {
                before(info);
                return;
            }
            let message = info.payload_as_str().unwrap_or("panicked");
            let message = match info.location() {
                Some(at) => format!("{message} ({}:{}:{})", direct_path(at.file()), at.line(), at.column()),
                None => message.to_owned(),
            };
            with(|block| block.panic = Some(message));
        }));
    });
}
