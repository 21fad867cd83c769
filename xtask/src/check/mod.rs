//! `cargo xtask check FILE`: lints a kernel of the learner's own, judges it, and reports.

mod follow;
mod generate;
mod kernel;
#[path = "../../../emulator/macros/src/emulated/names.rs"]
mod names;
mod ptx;
mod source;
mod types;

use std::io::Write;
use std::path;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use command::text::wrapped;
use race::extent::Extent;
use race::limits;
use serde_json::{Value, json};

use crate::STACK;
use crate::cargo::rustc;
use crate::child;
use crate::lint::{self, Source};
use crate::program::Limit;
use crate::ptx::toolchain;
use crate::workshop::Workshop;
use kernel::Kernel;

/// Exit codes: 0 nothing found, 1 something found, 2 it cannot run.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A Rust file with a kernel, or PTX of any origin
    path: PathBuf,
    /// What executes the kernel
    #[arg(long, value_enum, default_value_t = Engine::Auto)]
    engine: Engine,
    /// Which kernel, if the file has several
    #[arg(long)]
    kernel: Option<String>,
    /// Block sizes to launch it with, comma-separated: 256, 32x8 or 8x8x4
    #[arg(long, value_delimiter = ',', default_value = "32,64,128,256")]
    block: Vec<Extent>,
    /// How many blocks, as 16, 4x4 or 2x2x2 [default: as many along x as it takes for n threads]
    #[arg(long)]
    grid: Option<Extent>,
    /// How many elements each slice and buffer has, and how many threads there are at least
    #[arg(long, default_value_t = 4096)]
    n: usize,
    /// Dynamic shared memory of a block in bytes [default: what is left of 48 KiB, if the kernel uses any]
    #[arg(long, value_name = "BYTES")]
    shared: Option<u32>,
    /// The value of a parameter, by its name or its index from 0; otherwise n for one named like a length, 2 for
    /// others. The bytes of a struct or an array: 0x..., otherwise zeros
    #[arg(long, value_name = "NAME=VALUE")]
    arg: Vec<String>,
    /// What a slice or buffer holds: FILE.npy, iota, random:SEED, zeros or ones [default: iota, that is 0, 1, 2, ...,
    /// and for floating-point numbers 1, 2, 3, ...]
    #[arg(long, value_name = "NAME=DATA")]
    data: Vec<String>,
    /// Seed of the interleaving
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How threads take turns
    #[arg(long, default_value = "lockstep", value_parser = ["lockstep", "independent", "random"])]
    policy: String,
    /// Do not judge what a card gets too
    #[arg(long)]
    no_card: bool,
    /// How the report comes out
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// How many seconds the compiler may take, and then the kernel
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
}

/// What executes a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// ptx where a compiler for it is there, else source
    Auto,
    /// The kernel compiled to PTX, as a card runs it, executed on the CPU
    Ptx,
    /// The emulator, which runs the source itself and needs no other compiler
    Source,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Format {
    Table,
    Json,
}

impl Args {
    /// What is wrong with the numbers is said before anything is compiled.
    fn check(&self) -> Result<()> {
        if self.n == 0 {
            bail!("--n 0 leaves nothing to do; give at least 1 element");
        }
        for &block in &self.block {
            let grid = match self.grid {
                Some(grid) => grid.0,
                None => match u32::try_from(self.n as u64 / block.0.count().max(1)) {
                    Ok(blocks) => blocks.max(1).into(),
                    Err(_) => {
                        bail!("--n {} takes too many blocks of {block} threads; give a smaller --n", self.n)
                    }
                },
            };
            limits::check(grid, block.0).with_context(|| format!("--block {block}"))?;
        }
        Ok(())
    }
}

impl Args {
    /// How long one program may take.
    fn limit(&self) -> Limit {
        Limit { time: Duration::from_secs(self.timeout), longer: " --timeout SECONDS gives it longer" }
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    args.check()?;
    if args.path.extension().is_some_and(|extension| extension == "ptx") {
        return run_ptx(args);
    }
    let shown = args.path.display();
    let text = lint::read_file(&args.path)?;
    let file = path::absolute(&args.path).with_context(|| format!("cannot find {shown}"))?;
    let limit = args.limit();
    let workshop = Workshop::new()?;
    let source = Source { name: shown.to_string(), text };
    let parsed = match lint::parse(&source) {
        Ok(parsed) => parsed,
        Err(error) => {
            bail!(
                "{}",
                syntax_error(&workshop, &file, &source.name, limit).unwrap_or_else(|| error.to_string())
            )
        }
    };
    let kernel = kernel::choose(&parsed, args.kernel.as_deref()).with_context(|| shown.to_string())?;
    kernel.check_given(&args.arg, &args.data)?;
    let (engine, why, judged) = match toolchain(args)? {
        Ok(toolchain) => {
            let compiled = ptx::compiled(&toolchain, &file, &workshop, !args.no_card)?;
            let judged = ptx::file(args, &kernel, &compiled, &workshop)?;
            ("ptx", format!("executes what {} compiles", toolchain.version), judged)
        }
        Err(why) => {
            let ran = source::file(args, &kernel, &file, &source.text, &workshop)?;
            ("source", why, ptx::Judged { ran, card: None })
        }
    };
    let lint = lint::check(&[source])?;
    report(args, Some((&kernel, &lint)), engine, &why, judged)
}

fn run_ptx(args: &Args) -> Result<ExitCode> {
    if args.engine == Engine::Source {
        bail!("--engine source runs Rust and not PTX; leave it away");
    }
    let workshop = Workshop::new()?;
    let ran = ptx::text(args, &workshop)?;
    report(args, None, "ptx", "executes the file", ptx::Judged { ran, card: None })
}

/// The compiler of the PTX engine, or why the source engine is taken.
fn toolchain(args: &Args) -> Result<Result<toolchain::Toolchain, String>> {
    Ok(match args.engine {
        Engine::Source => Err("--engine source".into()),
        Engine::Ptx => Ok(toolchain::find().context("--engine ptx")?),
        Engine::Auto => toolchain::find().map_err(|why| format!("{why:#}")),
    })
}

/// Prints everything, and says whether nothing was found.
fn report(
    args: &Args,
    source: Option<(&Kernel, &lint::Report)>,
    engine: &str,
    why: &str,
    judged: ptx::Judged,
) -> Result<ExitCode> {
    let ptx::Judged { ran, card } = judged;
    let mut stdout = command::stdout();
    if args.format == Format::Table {
        writeln!(stdout, "{}", wrapped("engine: ", &format!("{engine}, {why}")))?;
        if let Some((kernel, lint)) = source {
            writeln!(stdout, "{}\n\nthe lint over the source:\n{lint}\n", header(kernel, args, engine)?)?;
        }
    }
    let Some(report) = ran.report else { return Ok(ExitCode::from(command::CANNOT_RUN)) };
    match args.format {
        Format::Table => {
            write!(stdout, "{report}")?;
            if let Some(card) = card {
                writeln!(stdout, "{}", wrapped("the card's PTX, as rustc optimises it: ", &card))?;
            }
        }
        Format::Json => {
            let mut report: Value =
                serde_json::from_str(&report).context("the report does not read as JSON")?;
            report["engine"] = json!({ "name": engine, "why": why });
            if let Some((_, lint)) = source {
                report["lint"] = serde_json::to_value(lint).context("the lint's report cannot be JSON")?;
                report["clean"] = json!(report["clean"] == true && lint.findings.is_empty());
            }
            if let Some(card) = card {
                report["card"] = json!(card);
            }
            writeln!(stdout, "{report:#}")?;
        }
    }
    let clean = ran.clean && source.is_none_or(|(_, lint)| lint.findings.is_empty());
    Ok(command::verdict(clean))
}

/// The first error of rustc, which explains one better than the parser here, in a line.
fn syntax_error(workshop: &Workshop, file: &Path, shown: &str, limit: Limit) -> Option<String> {
    let mut parse = rustc();
    parse
        .env("RUST_MIN_STACK", STACK.to_string())
        .args(["--crate-name=file", "--crate-type=lib", "--edition=2024", "--error-format=short"])
        .args(["--emit=metadata", "--out-dir"])
        .arg(workshop.path())
        .arg(file)
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let said = child::run_within(limit.time, &mut parse).ok()?.stderr;
    let said = String::from_utf8_lossy(&said);
    let (at, error) = said.lines().find_map(|line| line.split_once(": error"))?;
    let (_code, what) = error.split_once(": ")?;
    let mut place = at.rsplitn(3, ':');
    let (column, line) = (place.next()?, place.next()?);
    Some(format!("{shown}:{line}:{column}: this does not parse as Rust: {what}"))
}

fn header(kernel: &Kernel, args: &Args, engine: &str) -> Result<String> {
    let mut text = format!("{} of {}", kernel.name, args.path.display());
    // The other engine says it with its table.
    if engine == "source" {
        text += &format!("\non the emulator: n = {}, {}, seed {}", args.n, args.policy, args.seed);
        let scalars = kernel.scalars(args.n, &args.arg)?;
        if !scalars.is_empty() {
            let values: Vec<_> = scalars.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            text += "\n";
            text += &wrapped("arguments (--arg NAME=VALUE sets them): ", &values.join(", "));
        }
        let fillings = kernel.fillings(&args.data);
        if !fillings.is_empty() {
            let values: Vec<_> = fillings.iter().map(|(name, data)| format!("{name} = {data}")).collect();
            text += "\n";
            text += &wrapped("data (--data NAME=DATA sets them): ", &values.join(", "));
        }
    }
    if args.block.iter().all(|block| block.0.count() > 3 && (args.n as u64).is_multiple_of(block.0.count())) {
        text += &format!("\nevery block is full; --n {} tries a last one that is not", args.n + 3);
    }
    Ok(text + "\nno answer is compared: a right answer would prove nothing")
}

/// What both programs take.
fn flags(args: &Args) -> Vec<String> {
    let blocks: Vec<String> = args.block.iter().map(Extent::to_string).collect();
    let format = if args.format == Format::Json { "json" } else { "table" };
    let mut flags = vec![
        format!("--block={}", blocks.join(",")),
        format!("--n={}", args.n),
        format!("--seed={}", args.seed),
        format!("--policy={}", args.policy),
        format!("--format={format}"),
    ];
    flags.extend(args.grid.map(|grid| format!("--grid={grid}")));
    flags
}
