//! A kernel, and launches of it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use ptx::{Module, PositionId};
use race::findings::Findings;
use race::judge::{Judge, Lines, Setting};
use race::limits::{self, Dim3, LaunchError as Limit, MAX_EXHAUSTIVE_BLOCK};
use race::schedule::{Policy, Schedule, Scheduler, Trace};
use race::{Report, Site};

use crate::access::Memories;
use crate::address::{Window, base};
use crate::block::Runner;
use crate::code::Program;
use crate::dim::Shape;
use crate::error::{LaunchError, LoadError};
use crate::lower::lower;
use crate::memory::{Buffer, Memory};

/// Trips of loops that a thread may make in a block, before it is stopped as endless.
pub const DEFAULT_LOOP_BUDGET: u32 = 1 << 20;

/// Blocks for which it is worth to start another thread of this machine.
const BLOCKS_A_WORKER: u64 = 64;

/// The most shared memory that a block can ask for, in bytes: 227 KiB, of compute capability 9.0.
pub const MAX_SHARED: u32 = 227 * 1024;

/// A kernel that can be launched.
#[derive(Clone, Debug)]
pub struct Kernel {
    program: Program,
    /// For each instruction its place in the source, or in the PTX.
    sites: Vec<Site>,
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// As in the PTX.
    pub name: String,
    /// In bytes.
    pub size: u32,
}

impl Kernel {
    /// The kernel of this name. `library` tells which source files are libraries, whose lines are not shown; `file` is
    /// what reports call the PTX itself, where it names no source.
    ///
    /// # Errors
    ///
    /// If there is no such kernel, or if it can come to an instruction that is not supported.
    pub fn load(
        module: &Module,
        name: &str,
        file: &str,
        library: impl Fn(&str) -> bool,
    ) -> Result<Self, LoadError> {
        let program = lower(module, name)?;
        let site = |position: &Option<PositionId>, line: u32| {
            let place = position.and_then(|position| module.place(position, &library));
            match place.filter(|place| place.line != 0) {
                Some(place) => Site::at(module.file(place), place.line, place.column),
                None => Site::at(file, line, 1),
            }
        };
        let sites = program.positions.iter().zip(&program.lines).map(|(at, &line)| site(at, line)).collect();
        Ok(Self { program, sites })
    }

    /// The parameters, in order.
    #[must_use]
    pub fn parameters(&self) -> Vec<Parameter> {
        let parameter = |&(ref name, _, size): &(String, u32, u32)| Parameter { name: name.clone(), size };
        self.program.params.iter().map(parameter).collect()
    }

    /// Static shared memory of a block, in bytes.
    #[must_use]
    pub fn static_shared(&self) -> u32 {
        self.program.shared
    }

    /// Does it use dynamic shared memory?
    #[must_use]
    pub fn has_dynamic_shared(&self) -> bool {
        self.program.arrays.iter().any(|array| array.size == 0)
    }
}

/// What a launch printed and found.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// What was found.
    pub report: Report,
    /// What the interleaving was.
    pub trace: Trace,
    /// What the kernel printed, block after block as they ran.
    pub printed: Vec<u8>,
}

/// A launch of a kernel.
#[derive(Clone, Debug)]
pub struct Launch {
    grid: Dim3,
    block: Dim3,
    schedule: Schedule,
    checks: bool,
    budget: u32,
    workers: Option<usize>,
    dynamic_shared: u32,
}

impl Launch {
    /// A launch of `grid` blocks of `block` threads: lockstep, seed 0, all checks on.
    #[must_use]
    pub fn new(grid: impl Into<Dim3>, block: impl Into<Dim3>) -> Self {
        Self {
            grid: grid.into(),
            block: block.into(),
            schedule: Schedule::seeded(Policy::Lockstep, 0),
            checks: true,
            budget: DEFAULT_LOOP_BUDGET,
            workers: None,
            dynamic_shared: 0,
        }
    }

    /// How threads are interleaved.
    #[must_use]
    pub fn schedule(self, schedule: Schedule) -> Self {
        Self { schedule, ..self }
    }

    /// Whether accesses are judged. Bounds are checked anyway.
    #[must_use]
    pub fn checks(self, checks: bool) -> Self {
        Self { checks, ..self }
    }

    /// Trips of loops that a thread may make in a block.
    #[must_use]
    pub fn budget(self, budget: u32) -> Self {
        Self { budget, ..self }
    }

    /// How many threads of this machine run blocks. The outcome is the same.
    #[must_use]
    pub fn workers(self, workers: usize) -> Self {
        Self { workers: Some(workers.max(1)), ..self }
    }

    /// Dynamic shared memory of a block, in bytes.
    #[must_use]
    pub fn dynamic_shared(self, bytes: u32) -> Self {
        Self { dynamic_shared: bytes, ..self }
    }

    /// Runs the kernel with these arguments, each as its bytes in memory.
    ///
    /// # Errors
    ///
    /// If CUDA would refuse the launch, if the arguments are not those of the kernel, or if blocks are too large to be
    /// explored exhaustively. What the kernel does wrong is in the report.
    pub fn run(
        &self,
        kernel: &Kernel,
        memory: &mut Memory,
        arguments: &[Vec<u8>],
    ) -> Result<Outcome, LaunchError> {
        limits::check(self.grid, self.block)?;
        let threads = self.block.count();
        if self.schedule.policy() == Policy::Exhaustive && threads > u64::from(MAX_EXHAUSTIVE_BLOCK) {
            return Err(Limit::ExhaustiveThreads(threads).into());
        }
        let params = parameters(kernel, arguments)?;
        let shared = kernel.program.shared.saturating_add(self.dynamic_shared);
        if shared > MAX_SHARED {
            return Err(LaunchError::Shared(shared));
        }
        let shape = Shape { grid: self.grid, block: self.block, dynamic_shared: self.dynamic_shared, shared };
        let own = memory.buffers.len();
        let statics = kernel.program.statics.iter();
        memory.buffers.extend(statics.map(|it| Buffer::new(it.name, it.address, &it.bytes, 1, it.writable)));
        let outcome = self.run_in(kernel, memory, &params, shape);
        memory.buffers.truncate(own);
        Ok(outcome)
    }

    fn run_in(&self, kernel: &Kernel, memory: &mut Memory, params: &[u8], shape: Shape) -> Outcome {
        let blocks = self.grid.count();
        let cores = thread::available_parallelism().map_or(1, Into::into);
        let worthwhile = usize::try_from(blocks.div_ceil(BLOCKS_A_WORKER)).unwrap_or(cores);
        let mut workers = self.workers.unwrap_or_else(|| cores.min(worthwhile));
        // One sequence of decisions, block after block; or blocks that hand values to each other.
        if self.schedule.policy() == Policy::Exhaustive || kernel.program.communicates {
            workers = 1;
        }
        let objects: Vec<(u64, u64)> = if self.checks {
            let buffers = memory.buffers.iter().map(|buffer| (buffer.address, buffer.len));
            std::iter::once((0, 0)).chain(buffers).collect()
        } else {
            vec![(0, 0); memory.buffers.len() + 1]
        };
        let lines = Lines::new(&objects);
        let may_run_again = blocks > 1 && (self.checks || workers > 1);
        if may_run_again {
            memory.begin_saving();
        }
        let task = Task { launch: self, kernel, memory, params, shape, lines: &lines };
        let mut outcome = task.run(workers, false);
        // Blocks that race with each other leave what this machine happened to do, and so do those that ran beside one
        // that ended the launch. In the order of the blocks, the same seed gives the same output.
        if may_run_again && (lines.contested() || (workers > 1 && outcome.report.fault.is_some())) {
            memory.restore();
            outcome = task.run(1, true);
        }
        memory.end_saving();
        outcome
    }
}

/// One pass over all blocks.
struct Task<'a> {
    launch: &'a Launch,
    kernel: &'a Kernel,
    memory: &'a Memory,
    params: &'a [u8],
    shape: Shape,
    lines: &'a Lines,
}

impl Task<'_> {
    fn run(&self, workers: usize, across_blocks: bool) -> Outcome {
        let blocks = self.launch.grid.count();
        let next = AtomicU64::new(0);
        let stop = AtomicBool::new(false);
        let portion = (blocks / (workers as u64 * 16)).clamp(1, 64);
        let work = || {
            let mut runner = self.runner(across_blocks);
            'all: loop {
                let from = next.fetch_add(portion, Ordering::Relaxed);
                if from >= blocks {
                    break;
                }
                for block in from..(from + portion).min(blocks) {
                    if stop.load(Ordering::Relaxed) {
                        break 'all;
                    }
                    if !runner.run(block) {
                        stop.store(true, Ordering::Relaxed);
                        break 'all;
                    }
                }
            }
            finish(runner)
        };
        let outcomes = if workers <= 1 {
            vec![work()]
        } else {
            thread::scope(|scope| {
                let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
                let join = |worker: thread::ScopedJoinHandle<'_, Outcome>| match worker.join() {
                    Ok(outcome) => outcome,
                    Err(payload) => std::panic::resume_unwind(payload),
                };
                workers.into_iter().map(join).collect()
            })
        };
        let mut findings = Findings::default();
        let mut all = Outcome::default();
        for outcome in outcomes {
            findings.merge(outcome.report);
            all.trace.merge(outcome.trace);
            all.printed.extend(outcome.printed);
        }
        all.report = findings.finish();
        all
    }

    fn runner(&self, across_blocks: bool) -> Runner<'_> {
        let judge = self.launch.checks.then(|| {
            Judge::new(Setting {
                threads: self.shape.block.count() as u32,
                shared: self.shape.shared,
                shared_base: base(Window::Shared),
                objects: self.memory.buffers.len() as u32 + 1,
                across_blocks,
                orders: self.kernel.program.orders,
            })
        });
        let memories = Memories {
            shared: vec![0; self.shape.shared.div_ceil(4) as usize],
            params: self.params,
            buffers: &self.memory.buffers,
            judge,
            lines: self.lines,
            last: vec![0; self.kernel.program.accesses.len()],
        };
        let scheduler = Scheduler::new(&self.launch.schedule);
        let Self { kernel, shape, launch, .. } = self;
        Runner::new(&kernel.program, &kernel.sites, *shape, memories, scheduler, launch.budget)
    }
}

fn finish(runner: Runner<'_>) -> Outcome {
    let (findings, scheduler, printed) = runner.finish();
    Outcome { report: findings.finish(), trace: scheduler.into_trace(), printed }
}

/// The block of parameters, as the kernel finds it.
fn parameters(kernel: &Kernel, arguments: &[Vec<u8>]) -> Result<Vec<u8>, LaunchError> {
    let params = &kernel.program.params;
    if params.len() != arguments.len() {
        return Err(LaunchError::Arguments { given: arguments.len(), wanted: params.len() });
    }
    let mut block = Vec::new();
    for ((name, offset, size), argument) in params.iter().zip(arguments) {
        if argument.len() != *size as usize {
            return Err(LaunchError::Argument { name: name.clone(), given: argument.len(), wanted: *size });
        }
        block.resize(*offset as usize, 0);
        block.extend_from_slice(argument);
    }
    // A load of a whole vector may reach beyond the last parameter.
    block.resize(block.len().next_multiple_of(16), 0);
    Ok(block)
}
