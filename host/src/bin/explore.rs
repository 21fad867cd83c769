//! `cargo xtask explore`. Exit codes: 0 as a defined kernel must be, or not a defined one; 1 a defined
//! kernel with a finding or a wrong answer; 2 cannot run.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Parser, ValueEnum};
use cuda_std::emulator::{MAX_BLOCK_THREADS, MAX_GRID, Policy, Schedule};
use host::answer::NO_RIGHT_ANSWER;
use host::args::Engine;
use host::explore::{self, Explored, Shown, Size, Subject};
use host::{kept, memory, verdict};

/// Two warps: threads a block, of a kernel that is for all sizes.
const BLOCK: u32 = 64;

/// Runs one kernel under many schedules.
#[derive(Parser)]
#[command(name = "cargo xtask explore", bin_name = "cargo xtask explore", disable_version_flag = true)]
struct Args {
    /// A kernel of the lesson, or an exhibit
    kernel: String,
    /// What executes it
    #[arg(long, value_enum, default_value = "source")]
    engine: Engine,
    /// Threads a block; if left out, the first size that an exhibit shows, and 64 of another kernel
    #[arg(long)]
    block: Option<u32>,
    /// How many elements; one block's worth if left out (exhibits bring their own)
    #[arg(long)]
    n: Option<usize>,
    /// How many different interleavings to try
    #[arg(long, default_value_t = 1000)]
    schedules: usize,
    /// How threads take turns
    #[arg(long, value_enum, default_value = "random")]
    policy: Turns,
    /// The first seed
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Run this one schedule again
    #[arg(long)]
    replay: Option<Schedule>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Turns {
    /// The lanes of a warp step together
    Lockstep,
    /// A random part of the lanes of a random warp
    Independent,
    /// A random thread
    Random,
    /// Every order, one after the other (small blocks)
    Exhaustive,
}

impl From<Turns> for Policy {
    fn from(turns: Turns) -> Self {
        match turns {
            Turns::Lockstep => Self::Lockstep,
            Turns::Independent => Self::Independent,
            Turns::Random => Self::Random,
            Turns::Exhaustive => Self::Exhaustive,
        }
    }
}

fn main() -> ExitCode {
    command::main(run)
}

fn run(args: &Args) -> Result<ExitCode> {
    let subject = explore::subject(&args.kernel)?;
    if args.engine == Engine::Ptx {
        kept::check()?;
    }
    if args.schedules == 0 {
        bail!("--schedules 0 leaves nothing to run; give at least 1");
    }
    if args.n.is_some() && !subject.takes_n() {
        bail!("--n: exhibits bring their own input");
    }
    let block = args.block.unwrap_or_else(|| subject.blocks().first().copied().unwrap_or(BLOCK));
    let size = Size { block, n: args.n.unwrap_or(block as usize) };
    if subject.takes_n() {
        check(size)?;
    }
    let (text, found) = match &args.replay {
        Some(schedule) => replay(&*subject, args.engine, size, schedule)?,
        None => {
            let policy = args.policy.into();
            let explored = explore::explore(&*subject, args.engine, size, policy, args.seed, args.schedules)?;
            (
                tell(args, &*subject, size, &explored),
                explored.findings + explored.wrong.unwrap_or_default() > 0,
            )
        }
    };
    let mut stdout = command::stdout();
    writeln!(stdout, "{}, in blocks of {} threads\n{text}", subject.name(), size.block)?;
    Ok(command::verdict(!found || !subject.defined(size.block)))
}

/// What is wrong with the numbers is said before anything runs.
fn check(Size { block, n }: Size) -> Result<()> {
    if n == 0 {
        bail!("--n 0 leaves nothing to do; give at least 1 element");
    }
    if !(1..=MAX_BLOCK_THREADS).contains(&block) {
        bail!("--block {block}: a block has 1 to {MAX_BLOCK_THREADS} threads");
    }
    if n.div_ceil(block as usize) > MAX_GRID.x as usize {
        bail!("--n {n} needs more than {} blocks of {block} threads; give fewer elements", MAX_GRID.x);
    }
    // Input, output, its bits, the reference, and the emulator's copy of the output.
    memory::ask(n, 5 * size_of::<f32>())
}

/// What one schedule does, and whether there is anything wrong with it.
fn replay(subject: &dyn Subject, engine: Engine, size: Size, schedule: &Schedule) -> Result<(String, bool)> {
    let ran = subject.run(engine, size, schedule)?;
    if !ran.trace.follows(schedule) {
        bail!("--replay {schedule} is of another launch: this one cannot take its turns so");
    }
    let lines = [
        format!("schedule      {schedule}"),
        format!("interleaving  {:016x}", ran.trace.interleaving),
        format!("output        {:016x}, {}", explore::fingerprint(&ran.output), answer(ran.mismatches)),
        format!("race          {}", verdict::race(&ran.report)),
    ];
    let mut parts = vec![lines.join("\n")];
    parts.extend(verdict::findings(&ran.report));
    Ok((parts.join("\n\n"), !ran.report.is_clean() || ran.mismatches.is_some_and(|wrong| wrong > 0)))
}

fn tell(args: &Args, subject: &dyn Subject, size: Size, explored: &Explored) -> String {
    let Explored { runs, interleavings, outputs, findings, .. } = explored;
    let wrong = explored.wrong.map_or_else(|| answer(None), |wrong| wrong.to_string());
    let all = if explored.complete { ": all there are" } else { "" };
    let lines = [
        format!("runs                     {runs}"),
        format!("different interleavings  {interleavings}{all}"),
        format!("different outputs        {outputs}"),
        format!("runs with a finding      {findings}"),
        format!("runs with a wrong answer {wrong}"),
    ];
    let again = |what: &str, Shown { schedule, mismatches, .. }: &Shown| {
        let (kernel, Size { block, n }) = (&args.kernel, size);
        let engine = if args.engine == Engine::Ptx { " --engine ptx" } else { "" };
        let n = if subject.takes_n() { format!(" --n {n}") } else { String::new() };
        format!(
            "first {what}: {schedule}, {}\n  \
             cargo xtask explore {kernel}{engine} --block {block}{n} --replay {schedule}",
            answer(*mismatches)
        )
    };
    let mut parts = vec![lines.join("\n")];
    if let Some(shown) = &explored.first_finding {
        parts.push(again("finding", shown));
        parts.extend(verdict::findings(&shown.report));
    }
    parts.extend(explored.first_wrong.iter().map(|shown| again("wrong answer", shown)));
    parts.join("\n\n")
}

fn answer(mismatches: Option<usize>) -> String {
    match mismatches {
        None => NO_RIGHT_ANSWER.into(),
        Some(0) => "the answer is right".into(),
        Some(wrong) => format!("{wrong} elements wrong"),
    }
}
