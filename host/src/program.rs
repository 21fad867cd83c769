//! The lesson as a program. Exit codes: 0 every gate holds, 1 a gate failed, 2 cannot run.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::args::{Args, DeviceChoice, Engine, Format};
use crate::device::{Device, Emulator};
use crate::lesson::{self, Launched, Run};
use crate::report;

/// Runs the lesson with the program's command line.
#[must_use]
pub fn main() -> ExitCode {
    command::main(run)
}

fn run(args: &Args) -> Result<ExitCode> {
    if let Err(message) = args.check() {
        bail!(message);
    }
    if args.check_flags {
        return Ok(ExitCode::SUCCESS);
    }
    let mut device = open(args)?;
    let mut stdout = command::stdout();
    let mut runs = Vec::new();
    for number in 1..=args.runs {
        if number > 1 {
            device.next_run();
        }
        let run = lesson::run(args, &mut *device)?;
        if args.format == Format::Table {
            if number == 1 {
                writeln!(stdout, "{}", report::header(args, &device.headline()))?;
            }
            writeln!(stdout, "{}", report::text(args, &run, number))?;
        }
        runs.push(run);
    }
    if args.format == Format::Json {
        writeln!(stdout, "{:#}", report::json(args, &device.describe(), &runs))?;
    }
    let holds = runs.iter().flat_map(Run::launches).all(Launched::gate_holds);
    Ok(command::verdict(holds))
}

fn open(args: &Args) -> Result<Box<dyn Device>> {
    let on_a_card = args.engine == Engine::Source && args.device != DeviceChoice::Emulator;
    #[cfg(feature = "cuda")]
    if on_a_card {
        let Some(ptx) = &args.ptx else {
            bail!("no --ptx FILE given; `cargo xtask ptx` makes one");
        };
        return Ok(Box::new(crate::device::Cuda::open(ptx, args.patience)?));
    }
    #[cfg(not(feature = "cuda"))]
    if on_a_card && args.device == DeviceChoice::Cuda {
        bail!("this program was built for the emulator only; run `cargo xtask run --device cuda`")
    }
    Ok(Box::new(Emulator::new(args.engine, args.seed)?))
}
