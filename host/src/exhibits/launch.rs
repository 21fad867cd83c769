//! Running an exhibit on the emulator.

use anyhow::{Context, Result, ensure};
use cuda_std::emulator::{GlobalMemory, Launch, Policy, Report, Schedule, Trace};

use super::{Call, Ending, Exhibit, Problem};
use crate::answer::wrong_at;
use crate::args::Engine;
use crate::kept::{self, Argument};
use crate::reference::POISON;

/// What came of one exhibit at one block size.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Threads a block.
    pub block: u32,
    /// What the checks found.
    pub report: Report,
    /// What the kernel left in the output.
    pub out: Vec<f32>,
    /// How many elements the output has.
    pub len: usize,
    /// How many of them are not what the reference says, if there is one.
    pub wrong: Option<usize>,
    /// Which of them are wrong.
    pub wrong_at: Vec<usize>,
    /// How the launch on a card ended, if there was one. The rest is the emulator's.
    pub card: Option<Ending>,
    /// The checks say what they must; and if the kernel is right, so is its answer.
    pub as_expected: bool,
}

impl Outcome {
    /// The same verdict beside a card's answer.
    #[must_use]
    pub fn beside(self, exhibit: &Exhibit, ending: Ending) -> Self {
        let as_expected = self.as_expected && ending.holds(exhibit, self.block);
        Self { card: Some(ending), as_expected, ..self }
    }

    /// How many elements are wrong where the kernel ran, if there is an answer and a right one.
    #[must_use]
    pub fn mismatches(&self) -> Option<usize> {
        self.card.as_ref().map_or(self.wrong, Ending::mismatches)
    }
}

/// Launches an exhibit's kernel, or kernels, in blocks of `block` threads.
///
/// # Errors
///
/// If the emulator refuses the launch.
pub fn launch(exhibit: &Exhibit, block: u32, policy: Policy, seed: u64) -> Result<Outcome> {
    launch_as(exhibit, block, &Schedule::seeded(policy, seed)).map(|(outcome, _)| outcome)
}

/// As [`launch`], under any schedule.
///
/// # Errors
///
/// If the emulator refuses the launch.
pub fn launch_as(exhibit: &Exhibit, block: u32, schedule: &Schedule) -> Result<(Outcome, Trace)> {
    launch_with(exhibit, block, schedule, |launch| launch)
}

/// As [`launch_as`], with whatever else a launch can be asked for.
///
/// # Errors
///
/// If the emulator refuses the launch.
pub fn launch_with(
    exhibit: &Exhibit,
    block: u32,
    schedule: &Schedule,
    ask: impl FnOnce(Launch) -> Launch,
) -> Result<(Outcome, Trace)> {
    let problem = Problem::new(exhibit.shape, block);
    let mut out = vec![POISON; problem.len];
    let asked = ask(Launch::new(problem.grid, problem.sides));
    let (report, trace) = run(exhibit.call, &problem, &mut out, asked, schedule)
        .with_context(|| format!("cannot launch {} in blocks of {block}", exhibit.name))?;
    Ok((outcome(exhibit, &problem, out, report, Engine::Source), trace))
}

/// As [`launch_as`], on either engine.
///
/// # Errors
///
/// If the engine refuses the launch.
pub fn launch_on_engine(
    engine: Engine,
    exhibit: &Exhibit,
    block: u32,
    schedule: &Schedule,
) -> Result<(Outcome, Trace)> {
    if engine == Engine::Source {
        return launch_as(exhibit, block, schedule);
    }
    let problem = Problem::new(exhibit.shape, block);
    let mut out = vec![POISON; problem.len];
    let (report, trace) = run_ptx(exhibit.call, &problem, &mut out, schedule)
        .with_context(|| format!("cannot launch {} in blocks of {block}", exhibit.name))?;
    Ok((outcome(exhibit, &problem, out, report, engine), trace))
}

/// What came of a launch that left this output.
fn outcome(exhibit: &Exhibit, problem: &Problem, out: Vec<f32>, report: Report, engine: Engine) -> Outcome {
    let wanted = exhibit.reference.map(|reference| reference(problem));
    let wrong_at = wanted.as_ref().map(|wanted| wrong_at(&out, wanted)).unwrap_or_default();
    let block = problem.block;
    let expected = match engine {
        Engine::Source => exhibit.expected(block),
        Engine::Ptx => exhibit.expected_in_ptx(block),
    };
    let answer_holds = !expected.is_clean() || wrong_at.is_empty();
    Outcome {
        block,
        as_expected: expected.holds(&report) && answer_holds,
        report,
        len: problem.len,
        wrong: wanted.map(|_| wrong_at.len()),
        wrong_at,
        out,
        card: None,
    }
}

/// The kernels' PTX.
fn run_ptx(call: Call, problem: &Problem, out: &mut [f32], schedule: &Schedule) -> Result<(Report, Trace)> {
    let input = &problem.input[..];
    let launch = |name: &str, arguments: &mut [Argument<'_>]| {
        kept::launch(name, problem.grid, problem.sides, schedule, arguments)
    };
    match call {
        Call::Tile(kernel) => {
            launch(kernel.name, &mut [Argument::Slice("input", input), Argument::Buffer("out", out)])
        }
        Call::Prefix(kernel) => launch(
            kernel.name,
            &mut [
                Argument::Slice("input", input),
                Argument::Buffer("out", out),
                Argument::Number(problem.keep()),
            ],
        ),
        Call::Product(kernel) => launch(
            kernel.name,
            &mut [
                Argument::Slice("a", input),
                Argument::Slice("b", &problem.second),
                Argument::Buffer("out", out),
                Argument::Number(u32::try_from(problem.n())?),
            ],
        ),
        Call::Grid(kernels) => {
            one_launch(kernels.len(), schedule)?;
            let mut cells = vec![POISON; out.len()];
            let (mut whole, mut trace) = (Report::default(), Trace::default());
            for kernel in kernels {
                let (report, order) = launch(
                    kernel.name,
                    &mut [
                        Argument::Slice("input", input),
                        Argument::Buffer("cells", &mut cells),
                        Argument::Buffer("out", out),
                    ],
                )?;
                add(&mut whole, report);
                trace.merge(order);
            }
            Ok((whole, trace))
        }
    }
}

/// Orders are counted through in one launch.
fn one_launch(launches: usize, schedule: &Schedule) -> Result<()> {
    let one = launches == 1 || schedule.policy() != Policy::Exhaustive;
    ensure!(one, "orders are counted through in one launch, and this has {launches}");
    Ok(())
}

fn run(
    call: Call,
    problem: &Problem,
    out: &mut [f32],
    launch: Launch,
    schedule: &Schedule,
) -> Result<(Report, Trace)> {
    let input = &problem.input[..];
    let mut cells = vec![POISON; out.len()];
    let mut memory = GlobalMemory::new();
    let out = memory.lend("out", out);
    // SAFETY, for every call below: `Problem` has the elements that the kernels ask for. What a kernel
    // does that it must not, the emulator catches and reports.
    Ok(match call {
        Call::Tile(kernel) => {
            // SAFETY: see above.
            launch.run_as(schedule, &mut memory, || unsafe { (kernel.function)(input, out.as_mut_ptr()) })?
        }
        Call::Prefix(kernel) => {
            // SAFETY: see above.
            launch.run_as(schedule, &mut memory, || unsafe {
                (kernel.function)(input, out.as_mut_ptr(), problem.keep());
            })?
        }
        Call::Product(kernel) => {
            let n = u32::try_from(problem.n())?;
            // SAFETY: see above.
            launch.run_as(schedule, &mut memory, || unsafe {
                (kernel.function)(input, &problem.second, out.as_mut_ptr(), n);
            })?
        }
        Call::Grid(kernels) => {
            let cells = memory.lend("cells", &mut cells);
            one_launch(kernels.len(), schedule)?;
            let (mut whole, mut trace) = (Report::default(), Trace::default());
            for kernel in kernels {
                // SAFETY: see above.
                let (report, order) = launch.run_as(schedule, &mut memory, || unsafe {
                    (kernel.function)(input, cells.as_mut_ptr(), out.as_mut_ptr());
                })?;
                add(&mut whole, report);
                trace.merge(order);
            }
            (whole, trace)
        }
    })
}

/// Adds what a second launch found to what the first did.
fn add(whole: &mut Report, next: Report) {
    whole.hazards.extend(next.hazards);
    whole.uninitialised.extend(next.uninitialised);
    whole.lost_writes.extend(next.lost_writes);
    whole.warp_misuse.extend(next.warp_misuse);
    whole.divergence = whole.divergence.take().or(next.divergence);
    whole.early_exit = whole.early_exit.or(next.early_exit);
    whole.fault = whole.fault.take().or(next.fault);
    whole.trace = next.trace.or(whole.trace.take());
}
