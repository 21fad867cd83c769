//! `cargo xtask`: the learner's commands.

mod bench;
mod built;
mod cargo;
mod check;
mod child;
mod cuda;
mod doctor;
mod exercise;
mod host;
mod interrupt;
mod link;
mod lint;
mod machine;
pub mod measured;
mod piece;
mod place;
mod program;
mod ptx;
mod rust_cuda;
mod sanitizer;
mod workshop;

use std::panic::resume_unwind;
use std::process::ExitCode;
use std::thread;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use host::Flags;

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    about = "What the block barrier guarantees: a lesson in Rust"
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Run the lesson: three kernels, four block sizes, one table
    Run(Flags),
    /// Write a page that shows a run step by step
    Explain(Flags),
    /// List the exhibits: a kernel for every sentence of the lesson
    Exhibits(Flags),
    /// Show and run one exhibit
    Exhibit(Flags),
    /// Renew what docs/ quotes from the kernels
    Docs(Flags),
    /// Compile the kernels to PTX and audit their barriers
    Ptx(ptx::Args),
    /// Run one kernel under many schedules
    Explore(Flags),
    /// Build the lesson for a card, without running it
    BuildCuda(cuda::Args),
    /// Let NVIDIA's racecheck judge the kernels on a card
    Racecheck(sanitizer::Args),
    /// Let NVIDIA's synccheck judge their barriers
    Synccheck(sanitizer::Args),
    /// Let NVIDIA's memcheck judge their accesses
    Memcheck(sanitizer::Args),
    /// Type-check the kernels against the real cuda_std of Rust-CUDA
    CheckCudaStd,
    /// Say what this machine has, and what each missing piece enables
    Doctor,
    /// Name every barrier that some threads may not come to
    Lint(lint::Args),
    /// The exercise: three steps on one file, three questions
    Exercise(exercise::Args),
    /// Run a kernel of your own, in Rust or in PTX, and judge it
    ///
    /// The file is compiled and run with your rights, and not locked in: read what you did not write before you check
    /// it.
    Check(check::Args),
    /// Run every test of the project
    Test(cargo::TestArgs),
    /// Measure this project, alone or beside its alternatives
    Bench(Flags),
}

/// The parser and the analyses of source code go as deep as the source is nested.
pub(crate) const STACK: usize = 512 << 20;

/// Reads the command line and does what it says.
#[must_use]
pub fn main() -> ExitCode {
    command::main(|cli: &Cli| {
        command::project::root()?;
        interrupt::listen()?;
        thread::scope(|scope| {
            let work = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || run(cli));
            work.context("cannot start a thread")?.join().unwrap_or_else(|panic| resume_unwind(panic))
        })
    })
}

fn run(cli: &Cli) -> Result<ExitCode> {
    match &cli.command {
        None => command::help::<Cli>(),
        Some(Command::Run(flags)) => host::lesson(flags),
        Some(Command::Explain(flags)) => host::explain(flags),
        Some(Command::Exhibits(flags)) => host::list(flags),
        Some(Command::Exhibit(flags)) => host::exhibit(flags),
        Some(Command::Docs(flags)) => host::docs(flags),
        Some(Command::Ptx(args)) => ptx::run(args),
        Some(Command::Explore(flags)) => host::explore(flags),
        Some(Command::BuildCuda(args)) => cuda::run(args),
        Some(Command::Racecheck(args)) => sanitizer::run(sanitizer::Tool::Racecheck, args),
        Some(Command::Synccheck(args)) => sanitizer::run(sanitizer::Tool::Synccheck, args),
        Some(Command::Memcheck(args)) => sanitizer::run(sanitizer::Tool::Memcheck, args),
        Some(Command::CheckCudaStd) => rust_cuda::check::run(),
        Some(Command::Doctor) => doctor::run(),
        Some(Command::Lint(args)) => lint::run(args),
        Some(Command::Exercise(args)) => exercise::run(args),
        Some(Command::Check(args)) => check::run(args),
        Some(Command::Test(args)) => cargo::test(args),
        Some(Command::Bench(flags)) => bench::run(flags),
    }
}
