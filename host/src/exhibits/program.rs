//! The exhibits as a program. Exit codes: 0 the verdicts are what they must be, 1 they are not, 2 cannot
//! run.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::{Parser, Subcommand};
use command::text::wrapped;
use cuda_std::emulator::Schedule;

use super::{Exhibit, Guess, Outcome};
use crate::args::{CompilerChoice, DeviceChoice, ENGINE_AND_CARD, Engine, Format};
use crate::device::{Device, Emulator};
use crate::{docs, exhibits};

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    disable_version_flag = true,
    disable_help_subcommand = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the exhibits in teaching order, one line each
    Exhibits {
        /// Only those whose launch on a card is sure to end
        #[arg(long)]
        card: bool,
        /// How the list comes out
        #[arg(long, value_enum, default_value = "table")]
        format: Format,
    },
    /// Show one exhibit: its source and its question, then the run and what it proves
    Exhibit(Show),
    /// Renew the quotations in docs/
    Docs {
        /// Only look whether they are up to date
        #[arg(long)]
        check: bool,
    },
}

#[derive(clap::Args)]
struct Show {
    /// Its name; `cargo xtask exhibits` lists them
    name: Option<String>,
    /// Threads a block; without, all sizes that the exhibit shows
    #[arg(long)]
    block: Option<u32>,
    /// Ask for a guess first
    #[arg(long)]
    predict: bool,
    /// Where the kernel runs; its verdict is the emulator's
    #[arg(long, value_enum, default_value = "auto")]
    device: DeviceChoice,
    /// What executes it on this machine's CPU
    #[arg(long, value_enum, default_value = "source")]
    engine: Engine,
    /// Run it on a card even if it need not end there
    #[arg(long)]
    undefined: bool,
    /// How many seconds a launch on a card may take, with all that comes before it
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    timeout: u32,
    /// What compiles the kernels for a card
    #[arg(long, value_enum, default_value = "auto")]
    compiler: CompilerChoice,
    /// Seed of the emulator's interleaving
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How the result comes out
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// The kernels as PTX; xtask names the file
    #[arg(long, hide = true, value_name = "FILE")]
    ptx: Option<PathBuf>,
    /// Only say what is wrong with the flags, if anything
    #[arg(long, hide = true)]
    check_flags: bool,
}

/// Shows the exhibits with the program's command line.
#[must_use]
pub fn main() -> ExitCode {
    command::main(|cli: &Cli| match &cli.command {
        Command::Exhibits { card, format } => list(*card, *format),
        Command::Exhibit(args) => show(args),
        Command::Docs { check } => renew(*check),
    })
}

fn list(card: bool, format: Format) -> Result<ExitCode> {
    let text = match format {
        Format::Table => exhibits::list(card),
        Format::Json => format!("{:#}\n", exhibits::list_json(card)),
    };
    command::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn show(args: &Show) -> Result<ExitCode> {
    let Some(name) = &args.name else { bail!("which exhibit? `cargo xtask exhibits` lists them") };
    let exhibit = exhibits::named(name)?;
    let blocks = match args.block {
        None => exhibit.blocks.shown().to_vec(),
        Some(block) => exhibit.check_block(block).map(|()| vec![block])?,
    };
    if args.format == Format::Json && args.predict {
        bail!("--predict asks questions, which --format json has no room for; leave out one of them");
    }
    if args.engine == Engine::Ptx && args.device == DeviceChoice::Cuda {
        bail!(ENGINE_AND_CARD);
    }
    let unruly = !exhibit.terminates && !args.undefined;
    if args.device == DeviceChoice::Cuda && unruly {
        bail!("--device cuda: {name} need not end on a card; to run it there all the same, add --undefined");
    }
    if args.check_flags {
        return Ok(ExitCode::SUCCESS);
    }
    let card = if args.engine == Engine::Ptx {
        None
    } else if unruly && args.ptx.is_some() && args.device == DeviceChoice::Auto {
        command::note(format_args!(
            "{name} need not end on a card, so it runs on the emulator; --undefined runs it on the card\n"
        ));
        None
    } else {
        card(args)?
    };
    let run = || run(exhibit, &blocks, args, card.as_ref());
    let emulator = Emulator::new(args.engine, args.seed)?.describe();
    if args.format == Format::Json {
        let outcomes = run()?;
        let device = card.as_ref().map_or(&emulator, |card| &card.description);
        writeln!(command::stdout(), "{:#}", exhibits::json(exhibit, device, args.seed, &outcomes))?;
        return Ok(verdict(&outcomes));
    }
    let mut stdout = command::stdout();
    writeln!(stdout, "{}", exhibits::page(exhibit, stdout.has_colour()))?;
    let guesses = if args.predict { ask(exhibit, &blocks)? } else { Vec::new() };
    let outcomes = run()?;
    match &card {
        Some(card) => writeln!(stdout, "GPU: {}\n", card.description)?,
        None => {
            let schedule = wrapped("schedule: ", &exhibits::schedule(exhibit, args.seed));
            writeln!(stdout, "device: {emulator}\n{schedule}\n")?;
        }
    }
    write!(stdout, "{}", exhibits::results(exhibit, &outcomes))?;
    if !guesses.is_empty() {
        writeln!(stdout)?;
    }
    for (guess, outcome) in guesses.iter().zip(&outcomes) {
        writeln!(stdout, "{}", guess.compare(outcome))?;
    }
    Ok(verdict(&outcomes))
}

/// The card to run on, looked for but not opened: that is for a process of its own.
struct Card {
    description: String,
    ptx: PathBuf,
}

/// The card that the flags ask for; `None` is the emulator.
#[cfg(feature = "cuda")]
fn card(args: &Show) -> Result<Option<Card>> {
    if args.device == DeviceChoice::Emulator {
        return Ok(None);
    }
    let Some(ptx) = &args.ptx else { bail!("no --ptx FILE given; `cargo xtask ptx` makes one") };
    let description = crate::device::Kernels::read(ptx)?.describe();
    Ok(Some(Card { description, ptx: ptx.clone() }))
}

/// The card that the flags ask for; `None` is the emulator.
#[cfg(not(feature = "cuda"))]
fn card(args: &Show) -> Result<Option<Card>> {
    match args.device {
        DeviceChoice::Auto | DeviceChoice::Emulator => Ok(None),
        DeviceChoice::Cuda => {
            bail!("this program was built for the emulator only; run `cargo xtask exhibit --device cuda`")
        }
    }
}

/// Every block size on the emulator, and on the card if there is one.
fn run(exhibit: &Exhibit, blocks: &[u32], args: &Show, card: Option<&Card>) -> Result<Vec<Outcome>> {
    let run = |&block: &u32| {
        let outcome = {
            let schedule = Schedule::seeded(exhibit.policy, args.seed);
            exhibits::launch_on_engine(args.engine, exhibit, block, &schedule)?.0
        };
        match card {
            None => Ok(outcome),
            Some(card) => {
                let ending = exhibits::launch_apart(exhibit, block, &card.ptx, args.timeout)?;
                Ok(outcome.beside(exhibit, ending))
            }
        }
    };
    blocks.iter().map(run).collect()
}

fn ask(exhibit: &Exhibit, blocks: &[u32]) -> Result<Vec<Guess>> {
    let (mut input, mut output) = (io::stdin().lock(), command::dialogue());
    let say = wrapped("Say ", exhibits::words(exhibit));
    writeln!(output, "{say}.").context("cannot ask for a guess")?;
    let guesses = blocks.iter().map(|&block| Guess::ask(exhibit, block, &mut input, &mut output));
    let guesses = guesses.collect::<Result<_>>()?;
    writeln!(output)?;
    Ok(guesses)
}

fn verdict(outcomes: &[Outcome]) -> ExitCode {
    command::verdict(outcomes.iter().all(|outcome| outcome.as_expected))
}

fn renew(check: bool) -> Result<ExitCode> {
    let stale = docs::renew(&command::project::root()?, !check)?;
    for page in &stale {
        let page = command::text::path(page);
        if check {
            command::note(format_args!("{page} quotes what has changed; run `cargo xtask docs`"));
        } else {
            writeln!(command::stdout(), "renewed {page}")?;
        }
    }
    Ok(command::verdict(!check || stale.is_empty()))
}
