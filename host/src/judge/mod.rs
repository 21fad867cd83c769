//! A kernel in PTX, whatever it was compiled from, launched on the engine that executes PTX, and judged:
//! `cargo xtask check`.
//!
//! Exit codes: 0 clean, 1 something was found, 2 cannot run.

mod arguments;
mod card;
mod program;
mod signature;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use clap::Parser;
use command::text::wrapped;
use race::schedule::Schedule;
use serde_json::json;
use simt::{Launch, Memory};

use crate::args::Format;
use crate::harness::{self, Launched, Outcome, print, trips};
use arguments::{Arguments, Wishes};
use program::Program;

#[derive(Parser)]
#[command(name = "judge", disable_version_flag = true)]
struct Args {
    /// The PTX to judge
    ptx: PathBuf,
    /// What to call its file
    #[arg(long, value_name = "FILE")]
    shown: Option<String>,
    /// The folder that paths of source files are shown from
    #[arg(long, value_name = "FOLDER")]
    shown_from: Option<PathBuf>,
    /// PTX of the same kernels that a card gets, to be compared
    #[arg(long, value_name = "FILE")]
    card: Option<PathBuf>,
    /// What the kernel takes, as JSON; otherwise what its PTX lets see
    #[arg(long, value_name = "FILE")]
    signature: Option<PathBuf>,
    /// Which kernel, if there are several
    #[arg(long)]
    kernel: Option<String>,
    /// Dynamic shared memory of a block, in bytes
    #[arg(long)]
    shared: Option<u32>,
    #[command(flatten)]
    launches: harness::Args,
}

/// Dynamic shared memory where nobody says how much: what a block can have without asking for more.
const USUAL_SHARED: u32 = 48 * 1024;

/// Runs the program's command line.
#[must_use]
pub fn main() -> ExitCode {
    command::main(|args: &Args| {
        let judged = judge(args);
        // Written in any case: without it the program was ended by something else.
        let text = judged.as_ref().map_or("", |(text, _)| text);
        command::file::write(&args.launches.report, text)?;
        judged.map(|(_, clean)| command::verdict(clean))
    })
}

/// The report, and whether nothing was found.
fn judge(args: &Args) -> Result<(String, bool)> {
    let program = Program::read(&args.ptx, args)?;
    let wishes = Wishes { n: args.launches.n, args: &args.launches.arg, data: &args.launches.data };
    let arguments = Arguments::new(&program.kernel, &program.parameters, wishes)?;
    let shared = match args.shared {
        Some(bytes) => bytes,
        None if program.kernel.has_dynamic_shared() => {
            USUAL_SHARED.saturating_sub(program.kernel.static_shared())
        }
        None => 0,
    };
    let launches = launches(args, &program, &arguments, shared)?;
    let card = args.card.as_ref().map(|path| card::compare(path, args, &arguments, shared, &launches));
    let clean = launches.iter().all(|launched| launched.clean);
    let text = match args.launches.format {
        Format::Table => {
            let mut lines = vec![format!("{} on the PTX engine: {}", program.name, schedule(args))];
            lines.extend(arguments.lines().iter().map(|line| wrapped("  ", line)));
            if shared > 0 {
                lines.push(format!("  dynamic shared memory: {shared} bytes (--shared sets it)"));
            }
            lines.push(print::text(&launches));
            lines.extend(card.map(|card| wrapped("the card's PTX, as rustc optimises it: ", &card)));
            lines.join("\n") + "\n"
        }
        Format::Json => {
            let mut report =
                print::json(&program.name, "ptx", args.launches.n, &args.launches.arg, &launches);
            report["data"] = arguments.json();
            report["dynamic_shared"] = json!(shared);
            report["schedule"] = json!(schedule(args));
            report["card"] = json!(card);
            format!("{report:#}\n")
        }
    };
    Ok((text, clean))
}

fn schedule(args: &Args) -> String {
    let seeds: Vec<_> = args.launches.seed.iter().map(u64::to_string).collect();
    let grid = args.launches.grid.map(|grid| format!(", grid {grid}")).unwrap_or_default();
    format!("n = {}{grid}, {}, seed {}", args.launches.n, args.launches.policy.name(), seeds.join(", "))
}

fn launches(args: &Args, program: &Program, arguments: &Arguments, shared: u32) -> Result<Vec<Launched>> {
    args.launches.each(|grid, block, seed| {
        let mut memory = Memory::new();
        let values = arguments.put(&mut memory);
        let outcome = Launch::new(grid, block.0)
            .schedule(Schedule::seeded(args.launches.policy, seed))
            .dynamic_shared(shared)
            .budget(trips(args.launches.n))
            .run(&program.kernel, &mut memory, &values)
            .map_err(|error| anyhow!("{} with blocks of {block} threads: {error}", program.name))?;
        let printed = String::from_utf8_lossy(&outcome.printed).into_owned();
        let launched = Launched::new(block, seed, &Outcome::unknown(outcome.report));
        Ok(launched.printing(printed))
    })
}

/// Reads a file, and says which one where that fails.
fn read(path: &std::path::Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}
