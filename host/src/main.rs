//! The lesson as a program. Exit codes: 0 every gate holds, 1 a gate failed, 2 cannot run.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Parser;
use host::args::{Args, DeviceChoice, Format};
use host::device::{Device, Emulator};
use host::lesson::{self, Launched, Run};
use host::report;

const GATE_FAILED: u8 = 1;
const CANNOT_RUN: u8 = 2;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) if error.use_stderr() => {
            eprintln!("{}", error.render().to_string().lines().next().unwrap_or_default());
            return ExitCode::from(CANNOT_RUN);
        }
        Err(help) => {
            print!("{}", help.render());
            return ExitCode::SUCCESS;
        }
    };
    run(&args).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(CANNOT_RUN)
    })
}

fn run(args: &Args) -> Result<ExitCode> {
    if let Err(message) = args.check() {
        bail!(message);
    }
    let mut device = open(args)?;
    let mut runs = Vec::new();
    for number in 1..=args.runs {
        if number > 1 {
            device.next_run();
        }
        let run = lesson::run(args, &mut *device)?;
        if args.format == Format::Table {
            if number == 1 {
                println!("{}", report::header(args, &device.describe()));
            }
            println!("{}", report::text(args, &run, number));
        }
        runs.push(run);
    }
    if args.format == Format::Json {
        println!("{:#}", report::json(args, &device.describe(), &runs));
    }
    let holds = runs.iter().flat_map(Run::launches).all(Launched::gate_holds);
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::from(GATE_FAILED) })
}

fn open(args: &Args) -> Result<Box<dyn Device>> {
    match args.device {
        DeviceChoice::Auto | DeviceChoice::Emulator => Ok(Box::new(Emulator::new(args.seed))),
        DeviceChoice::Cuda => bail!("--device cuda is not built in; use --device emulator"),
    }
}
