//! The exhibits as a program. Exit codes: 0 the verdicts are what they must be, 1 they are not, 2 cannot
//! run.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Parser, Subcommand};
use host::args::{DeviceChoice, Format};
use host::exhibits::{self, Blocks, Exhibit, Guess, Outcome};
use host::{device::Device, device::Emulator, docs};

const NOT_AS_EXPECTED: u8 = 1;

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
    /// Where the kernel runs
    #[arg(long, value_enum, default_value = "auto")]
    device: DeviceChoice,
    /// Seed of the emulator's interleaving
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How the result comes out
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

fn main() -> ExitCode {
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
    io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn show(args: &Show) -> Result<ExitCode> {
    let Some(name) = &args.name else { bail!("which exhibit? `cargo xtask exhibits` lists them") };
    let exhibit = named(name)?;
    let blocks = blocks(exhibit, args.block)?;
    let device = match args.device {
        DeviceChoice::Auto | DeviceChoice::Emulator => Emulator::new(args.seed).describe(),
        DeviceChoice::Cuda => bail!("--device cuda is not built in; use --device emulator"),
    };
    if args.format == Format::Json {
        if args.predict {
            bail!("--predict asks questions, which --format json has no room for; leave out one of them");
        }
        let outcomes = run(exhibit, &blocks, args.seed)?;
        writeln!(io::stdout(), "{:#}", exhibits::json(exhibit, &device, args.seed, &outcomes))?;
        return Ok(verdict(&outcomes));
    }
    let mut stdout = io::stdout();
    let colour = stdout.is_terminal() && std::env::var_os("NO_COLOR").is_none();
    writeln!(stdout, "{}", exhibits::page(exhibit, colour))?;
    let guesses = if args.predict { ask(&blocks)? } else { Vec::new() };
    let outcomes = run(exhibit, &blocks, args.seed)?;
    writeln!(stdout, "device: {device}\nschedule: {}\n", exhibits::schedule(exhibit, args.seed))?;
    write!(stdout, "{}", exhibits::results(exhibit, &outcomes))?;
    if !guesses.is_empty() {
        writeln!(stdout)?;
    }
    for (guess, outcome) in guesses.iter().zip(&outcomes) {
        writeln!(stdout, "{}", guess.compare(outcome))?;
    }
    Ok(verdict(&outcomes))
}

fn named(name: &str) -> Result<&'static Exhibit> {
    match exhibits::find(name) {
        Some(exhibit) => Ok(exhibit),
        None => bail!("no exhibit is called {name:?}; did you mean `{}`?", exhibits::nearest(name)),
    }
}

fn blocks(exhibit: &Exhibit, asked: Option<u32>) -> Result<Vec<u32>> {
    match asked {
        None => Ok(exhibit.blocks.shown().to_vec()),
        Some(block) if exhibit.blocks.allow(block) => Ok(vec![block]),
        Some(block) => match exhibit.blocks {
            Blocks::WholeWarps(_) => {
                bail!("--block {block}: give whole warps, a multiple of 32 from 32 to 1024")
            }
            Blocks::Only(sizes) => {
                let sizes: Vec<_> = sizes.iter().map(u32::to_string).collect();
                bail!("--block {block}: {} is about blocks of {}", exhibit.name, sizes.join(", "))
            }
        },
    }
}

fn ask(blocks: &[u32]) -> Result<Vec<Guess>> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout());
    writeln!(output, "Say {}.", exhibits::WORDS)?;
    let guesses = blocks.iter().map(|&block| Guess::ask(block, &mut input, &mut output));
    let guesses = guesses.collect::<Result<_>>()?;
    writeln!(output)?;
    Ok(guesses)
}

fn run(exhibit: &Exhibit, blocks: &[u32], seed: u64) -> Result<Vec<Outcome>> {
    blocks.iter().map(|&block| exhibits::launch(exhibit, block, exhibit.policy, seed)).collect()
}

fn verdict(outcomes: &[Outcome]) -> ExitCode {
    let expected = outcomes.iter().all(|outcome| outcome.as_expected);
    if expected { ExitCode::SUCCESS } else { ExitCode::from(NOT_AS_EXPECTED) }
}

fn renew(check: bool) -> Result<ExitCode> {
    let stale = docs::renew(&docs::root(), !check)?;
    for page in &stale {
        let page = page.display();
        if check {
            eprintln!("{page} quotes what has changed; run `cargo xtask docs`");
        } else {
            writeln!(io::stdout(), "renewed {page}")?;
        }
    }
    let fails = check && !stale.is_empty();
    Ok(if fails { ExitCode::from(NOT_AS_EXPECTED) } else { ExitCode::SUCCESS })
}
