//! The program around one kernel that is not part of the lesson: a learner's, in the exercise or under
//! `cargo xtask check`. It launches the kernel at several block sizes and seeds, and reports.
//!
//! Exit codes: 0 clean, 1 something was found, 2 cannot run.

mod number;
mod outcome;
mod print;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use clap::Parser;
use cuda_std::emulator::{FaultKind, Launch};

use crate::args::Format;
use crate::{memory, verdict};

pub use number::Number;
use outcome::Launched;
pub use outcome::Outcome;

/// A thread may go round loops four times for each element, and at least this often: a learner should
/// not wait long for being told that a loop is endless.
const LEAST_TICK_LIMIT: u32 = 1 << 20;

#[derive(Parser)]
#[command(disable_version_flag = true)]
struct Args {
    /// Block sizes to launch the kernel with
    #[arg(long, value_delimiter = ',', default_value = "32,64,128,256")]
    block: Vec<u32>,
    /// How many elements each slice and buffer has
    #[arg(long, default_value_t = 4096)]
    n: usize,
    /// Seeds of the emulator's interleaving, one run each
    #[arg(long, value_delimiter = ',', default_value = "0")]
    seed: Vec<u64>,
    /// The value of a scalar parameter
    #[arg(long, value_name = "NAME=VALUE")]
    arg: Vec<String>,
    /// How the report comes out
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// The file for the report: what a kernel prints does not get into it
    #[arg(long, value_name = "FILE")]
    report: PathBuf,
}

/// One launch to make.
#[derive(Debug)]
pub struct Case<'a> {
    n: usize,
    block: u32,
    seed: u64,
    blocks: u32,
    args: &'a [String],
}

impl Case<'_> {
    /// How many elements each slice and buffer has.
    #[must_use]
    pub fn n(&self) -> usize {
        self.n
    }

    /// Threads a block.
    #[must_use]
    pub fn block(&self) -> usize {
        self.block as usize
    }

    /// The launch: as many blocks as it takes for one thread an element.
    #[must_use]
    pub fn launch(&self) -> Launch {
        let trips = u32::try_from(self.n.saturating_mul(4)).unwrap_or(u32::MAX);
        Launch::new(self.blocks, self.block).seed(self.seed).tick_limit(trips.max(LEAST_TICK_LIMIT))
    }

    /// A slice or buffer of `n` elements: 0, 1, 2, … for whole numbers, so that each is a valid index;
    /// 1, 2, 3, … for floating-point ones.
    ///
    /// # Errors
    ///
    /// If there is no memory for it.
    pub fn buffer<T: Number>(&self) -> Result<Vec<T>> {
        // The emulator has a copy.
        memory::ask(self.n, 2 * size_of::<T>())?;
        let mut buffer = Vec::new();
        buffer
            .try_reserve_exact(self.n)
            .with_context(|| format!("no memory for {} elements; give a smaller --n", self.n))?;
        buffer.extend((0..self.n).map(T::element));
        Ok(buffer)
    }

    /// The value that the command line gives the scalar parameter `name`.
    ///
    /// # Errors
    ///
    /// If it gives none, or not one of this type.
    pub fn scalar<T: Number>(&self, name: &str) -> Result<T> {
        let value = self
            .args
            .iter()
            .rev()
            .find_map(|arg| arg.split_once('=').filter(|(of, _)| *of == name))
            .map(|(_, value)| value)
            .ok_or_else(|| anyhow!("parameter `{name}` has no value; give --arg {name}=VALUE"))?;
        let not_one = || anyhow!("--arg {name}={value}: not a {}", std::any::type_name::<T>());
        value.parse().map_err(|_| not_one())
    }
}

/// The whole program: reads the command line, calls `launch` for each block size and seed, and reports.
///
/// The report's file is written in any case, empty where there is nothing to report: without it the program
/// was ended by something else, such as the kernel.
pub fn main(kernel: &str, launch: impl Fn(&Case<'_>) -> Result<Outcome>) -> ExitCode {
    command::main(|args: &Args| {
        let launched = run(args, kernel, launch);
        let text = match (&launched, args.format) {
            (Err(_), _) => String::new(),
            (Ok(launched), Format::Table) => print::text(launched) + "\n",
            (Ok(launched), Format::Json) => {
                format!("{:#}\n", print::json(kernel, args.n, &args.arg, launched))
            }
        };
        command::file::write(&args.report, &text)?;
        let clean = launched?.iter().all(|launched| launched.clean);
        Ok(command::verdict(clean))
    })
}

fn run(args: &Args, kernel: &str, launch: impl Fn(&Case<'_>) -> Result<Outcome>) -> Result<Vec<Launched>> {
    if args.n == 0 {
        bail!("--n 0 leaves nothing to do; give at least 1 element");
    }
    let mut all = Vec::new();
    for &block in &args.block {
        if block == 0 {
            bail!("--block 0: a block has at least 1 thread");
        }
        let blocks = u32::try_from(args.n.div_ceil(block as usize))
            .map_err(|_| anyhow!("--n {} takes too many blocks of {block} threads", args.n))?;
        for &seed in &args.seed {
            let outcome = launch(&Case { n: args.n, block, seed, blocks, args: &args.arg })?;
            if let Some(fault) = &outcome.report.fault
                && matches!(fault.what, FaultKind::TickLimit(_) | FaultKind::TurnLimit(_))
            {
                bail!("{kernel} with {block} threads a block: {}", verdict::fault(fault));
            }
            all.push(Launched::new(block, seed, &outcome));
        }
    }
    Ok(all)
}
