//! One kernel on a card, by name and from any PTX file: `lesson-cuda launch`. It compares the answer and
//! judges nothing. Exit codes: 0 it came to its end, 1 it ended in a fault, 2 cannot run.
//!
//! Made for programs that supervise it, since a kernel may hang: a process of its own can be ended.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use anyhow::{Context, Result, bail};
use clap::Parser;
use cuda_std::emulator::MAX_BLOCK_THREADS;
use driver::{DriverError, is_sticky};

use crate::answer::{Answer, Launches};
use crate::device::{Argument, Cuda, Device, leave};
use crate::reference::{POISON, input, reversed_tiles};
use crate::{exhibits, memory};

#[derive(Debug, Parser)]
#[command(name = "lesson-cuda", disable_version_flag = true)]
enum Cli {
    /// Launch a kernel and compare its answer, as JSON: with the reversed tiles, or as the exhibit says
    Launch(Args),
}

#[derive(Debug, clap::Args)]
struct Args {
    /// The PTX file
    #[arg(long, value_name = "FILE")]
    ptx: PathBuf,
    /// The name of a kernel in it, with the parameters `(input: &[f32], out: *mut f32)`
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// An exhibit instead, with the input that it has at this block size
    #[arg(long, value_name = "NAME", conflicts_with_all = ["kernel", "n"], required_unless_present = "kernel")]
    exhibit: Option<String>,
    /// How many elements the kernel's input and output have
    #[arg(long, default_value_t = 262_755)]
    n: usize,
    /// Threads a block
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_BLOCK_THREADS)))]
    block: u32,
    /// How often to launch it
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// How many seconds a launch may take before it counts as hung
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..))]
    patience: u32,
    /// End when standard input does: it is held open by the program that started this one
    #[arg(long, hide = true)]
    supervised: bool,
}

/// Runs the program's command line.
#[must_use]
pub fn main() -> ExitCode {
    command::main(|Cli::Launch(args): &Cli| run(args))
}

fn run(args: &Args) -> Result<ExitCode> {
    let exhibit = args.exhibit.as_deref().map(exhibits::named).transpose()?;
    if let Some(exhibit) = exhibit {
        exhibit.check_block(args.block)?;
    }
    if args.n == 0 {
        bail!("--n 0 leaves nothing to do; give at least 1 element");
    }
    // Input, output and reference.
    memory::ask(args.n, 3 * size_of::<f32>())?;
    if args.supervised {
        thread::spawn(|| {
            let _ = io::copy(&mut io::stdin(), &mut io::sink());
            leave()
        });
    }
    let mut cuda = Cuda::open(&args.ptx, args.patience)?;
    let mut report = Launches { device: cuda.describe(), launches: Vec::new(), fault: None };
    for _ in 0..args.runs {
        let launched = match (exhibit, &args.kernel) {
            (Some(exhibit), _) => exhibits::launch_on(&mut cuda, exhibit, args.block),
            (None, Some(kernel)) => reverse(&mut cuda, kernel, args),
            (None, None) => unreachable!("one of the two is required"),
        };
        match launched {
            Ok(answer) => report.launches.push(answer),
            Err(error) => {
                report.fault = Some(kernels_fault(error)?);
                break;
            }
        }
    }
    writeln!(command::stdout(), "{}", serde_json::to_string(&report)?)?;
    Ok(command::verdict(report.fault.is_none()))
}

fn reverse(cuda: &mut Cuda, kernel: &str, args: &Args) -> Result<Answer> {
    let input = input(args.n);
    let mut out = vec![POISON; args.n];
    let blocks = u32::try_from(args.n.div_ceil(args.block as usize)).context("too many blocks")?;
    let mut arguments = [Argument::Slice(&input), Argument::Buffer(&mut out)];
    cuda.run(&[kernel], (blocks, 1), (args.block, 1), &mut arguments)?;
    Ok(Answer::compare(&out, Some(&reversed_tiles(&input, args.block as usize))))
}

/// What the kernel did wrong, in words; any other error stays one.
fn kernels_fault(error: anyhow::Error) -> Result<String> {
    match error.downcast_ref::<DriverError>() {
        Some(fault) if is_sticky(fault.code) => Ok(fault.to_string()),
        _ => Err(error),
    }
}
