//! `cargo xtask bench`: measures, and says what was measured and how. Exit codes: 0 measured, 2 cannot run.

mod cpu;
mod figure;
mod floor;
mod launch;
mod memory;
mod own;
mod peers;
mod spread;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, ValueEnum};
use host::args::Format;
use serde_json::json;

/// Measures this project, alone or beside what one would use instead.
#[derive(Parser)]
#[command(name = "cargo xtask bench", bin_name = "cargo xtask bench", disable_version_flag = true)]
struct Args {
    /// What to measure; everything but the peers if nothing is named
    parts: Vec<own::Part>,
    /// Measure Oclgrind and racecheck on the same kernels instead, where they are installed
    #[arg(long, conflicts_with = "parts")]
    peers: bool,
    /// How often to measure each
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// How the figures come out
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// The command that lets racecheck judge the lesson's program; xtask names it
    #[arg(long, hide = true, num_args = 1.., allow_hyphen_values = true)]
    racecheck: Vec<OsString>,
    /// Say how many bytes one launch over so many elements takes, in a process of its own
    #[arg(long, hide = true)]
    memory_of: Option<usize>,
}

fn main() -> ExitCode {
    command::main(run)
}

fn run(args: &Args) -> Result<ExitCode> {
    if let Some(n) = args.memory_of {
        writeln!(command::stdout(), "{}", memory::of_launch(n)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut figures = Vec::new();
    let mut stdout = command::stdout();
    let table = args.format == Format::Table;
    let mut take = |figure: figure::Figure| {
        if table {
            if figures.is_empty() {
                let (cpu, rounds) = (cpu::describe(), args.rounds);
                writeln!(stdout, "{cpu}\neach cell: the median of {rounds} (the least to the most)")?;
            }
            writeln!(stdout, "\n{figure}")?;
        }
        figures.push(figure);
        anyhow::Ok(())
    };
    if args.peers {
        peers::measure(args.rounds, &args.racecheck, &mut take)?;
    } else {
        let parts = if args.parts.is_empty() { own::Part::value_variants() } else { &args.parts };
        for part in parts {
            command::note(format_args!("measuring: {}", part.name()));
            take(part.measure(args.rounds)?)?;
        }
    }
    if !table {
        let all = json!({ "machine": cpu::describe(), "rounds": args.rounds, "figures": figures });
        writeln!(command::stdout(), "{all:#}")?;
    }
    Ok(ExitCode::SUCCESS)
}
