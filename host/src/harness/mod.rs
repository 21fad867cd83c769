//! The program around one kernel that is not part of the lesson: a learner's, in the exercise or under
//! `cargo xtask check`. It launches the kernel at several block sizes and seeds, and reports.
//!
//! Exit codes: 0 clean, 1 something was found, 2 cannot run.

mod args;
mod number;
mod outcome;
pub(crate) mod print;

use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use clap::Parser;
use cuda_std::emulator::{FaultKind, Launch};
use race::extent::Extent;
use race::limits::Dim3;

use crate::args::Format;
use crate::data::{Filling, given};
use crate::{memory, verdict};

pub(crate) use args::Args;
pub use number::Number;
pub(crate) use outcome::Launched;
pub use outcome::Outcome;

/// A thread may go round loops four times for each element, and at least this often: a learner should
/// not wait long for being told that a loop is endless.
const LEAST_TICK_LIMIT: u32 = 1 << 20;

#[derive(Parser)]
#[command(disable_version_flag = true)]
struct Cli {
    #[command(flatten)]
    args: Args,
}

/// One launch to make.
#[derive(Debug)]
pub struct Case<'a> {
    args: &'a Args,
    grid: Dim3,
    block: Extent,
    seed: u64,
}

impl Case<'_> {
    /// How many elements each slice and buffer has.
    #[must_use]
    pub fn n(&self) -> usize {
        self.args.n
    }

    /// Threads a block.
    #[must_use]
    pub fn block(&self) -> usize {
        self.block.0.count() as usize
    }

    /// The launch: as many blocks as it takes for one thread an element, unless the command line says how many.
    #[must_use]
    pub fn launch(&self) -> Launch {
        Launch::new(self.grid, self.block.0)
            .policy(self.args.policy)
            .seed(self.seed)
            .tick_limit(trips(self.args.n))
    }

    /// The slice or buffer `name`, of `n` elements: 0, 1, 2, … for whole numbers, so that each is a valid index;
    /// 1, 2, 3, … for floating-point ones; or what the command line asks for.
    ///
    /// # Errors
    ///
    /// If there is no memory for it, or if it is to come from a file that does not have it.
    pub fn buffer<T: Number>(&self, name: &str) -> Result<Vec<T>> {
        // As bytes, as elements, and the engine's copy.
        memory::ask(self.args.n, 3 * size_of::<T>())?;
        let filling = given(&self.args.data, name, None).map_or(Ok(Filling::Iota), Filling::parse);
        let what = || format!("--data {name}");
        let bytes = filling.and_then(|filling| filling.bytes(T::ELEMENT, self.args.n)).with_context(what)?;
        Ok(bytes.chunks_exact(T::ELEMENT.size()).map(T::from_bytes).collect())
    }

    /// The value that the command line gives the scalar parameter `name`.
    ///
    /// # Errors
    ///
    /// If it gives none, or not one of this type.
    pub fn scalar<T: Number>(&self, name: &str) -> Result<T> {
        let value = given(&self.args.arg, name, None)
            .ok_or_else(|| anyhow!("parameter `{name}` has no value; give --arg {name}=VALUE"))?;
        let bytes = T::ELEMENT
            .parse(value)
            .map_err(|_| anyhow!("--arg {name}={value}: not a {}", std::any::type_name::<T>()))?;
        Ok(T::from_bytes(&bytes))
    }
}

/// How many trips of loops a thread may make in a block.
pub(crate) fn trips(n: usize) -> u32 {
    u32::try_from(n.saturating_mul(4)).unwrap_or(u32::MAX).max(LEAST_TICK_LIMIT)
}

/// The whole program: reads the command line, calls `launch` for each block size and seed, and reports.
///
/// The report's file is written in any case, empty where there is nothing to report: without it the program
/// was ended by something else, such as the kernel.
pub fn main(kernel: &str, launch: impl Fn(&Case<'_>) -> Result<Outcome>) -> ExitCode {
    command::main(|Cli { args }: &Cli| {
        let launched = run(args, kernel, launch);
        let text = match (&launched, args.format) {
            (Err(_), _) => String::new(),
            (Ok(launched), Format::Table) => print::text(launched) + "\n",
            (Ok(launched), Format::Json) => {
                format!("{:#}\n", print::json(kernel, "emulator", args.n, &args.arg, launched))
            }
        };
        command::file::write(&args.report, &text)?;
        let clean = launched?.iter().all(|launched| launched.clean);
        Ok(command::verdict(clean))
    })
}

fn run(args: &Args, kernel: &str, launch: impl Fn(&Case<'_>) -> Result<Outcome>) -> Result<Vec<Launched>> {
    args.each(|grid, block, seed| {
        let outcome = launch(&Case { args, grid, block, seed })?;
        if let Some(fault) = &outcome.report.fault
            && outcome.report.hazards.is_empty()
            && matches!(fault.what, FaultKind::TickLimit(_) | FaultKind::TurnLimit(_))
        {
            bail!("{kernel} with {block} threads a block: {}", verdict::fault(fault));
        }
        Ok(Launched::of_source(block, seed, outcome))
    })
}
