//! `cargo xtask check FILE`: lints a kernel of the learner's own, runs it on the emulator, and reports.

mod generate;
mod kernel;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::Duration;
use std::{env, fs, path};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use command::text::wrapped;
use serde_json::{Value, json};

use crate::STACK;
use crate::cargo::rustc;
use crate::child;
use crate::lint::{self, Source};
use crate::program::{self, Limit};
use crate::workshop::Workshop;
use kernel::Kernel;

/// CUDA's limit.
const MAX_BLOCK_THREADS: u32 = 1024;

/// Exit codes: 0 nothing found, 1 something found, 2 it cannot run.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A Rust file with a kernel: slices `&[T]`, pointers `*mut T` and scalars as parameters
    path: PathBuf,
    /// Which kernel, if the file has several
    #[arg(long)]
    kernel: Option<String>,
    /// Block sizes to launch it with, comma-separated
    #[arg(long, value_delimiter = ',', default_value = "32,64,128,256")]
    block: Vec<u32>,
    /// How many elements each slice and buffer has, and how many threads there are at least
    #[arg(long, default_value_t = 4096)]
    n: usize,
    /// The value of a scalar parameter; otherwise n for one named like a length, 2 for others
    #[arg(long, value_name = "NAME=VALUE")]
    arg: Vec<String>,
    /// Seed of the emulator's interleaving
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How the report comes out
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// How many seconds the compiler may take, and then the kernel
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
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
            if !(1..=MAX_BLOCK_THREADS).contains(&block) {
                bail!("--block {block}: a block has 1 to {MAX_BLOCK_THREADS} threads");
            }
            if u32::try_from(self.n.div_ceil(block as usize)).is_err() {
                bail!("--n {} takes too many blocks of {block} threads; give a smaller --n", self.n);
            }
        }
        Ok(())
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    args.check()?;
    let shown = args.path.display();
    let source = lint::read_file(&args.path)?;
    let file = path::absolute(&args.path).with_context(|| format!("cannot find {shown}"))?;
    let limit =
        Limit { time: Duration::from_secs(args.timeout), longer: " --timeout SECONDS gives it longer" };
    let workshop = Workshop::new()?;
    let source = Source { name: shown.to_string(), text: source };
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
    let scalars = kernel.scalars(args.n, &args.arg)?;
    let Some(program) = compile(&workshop, &generate::program(&file, &kernel), limit)? else {
        bail!("{shown} does not compile with this project's cuda_std; the compiler's message is above");
    };

    let lint = lint::check(&[source])?;
    if args.format == Format::Table {
        writeln!(
            command::stdout(),
            "{}\n\nthe lint over the source:\n{lint}\n",
            header(&kernel, args, &scalars)
        )?;
    }
    let ran = program::run(&workshop, &program, &flags(args, &scalars), limit)?;
    let Some(report) = ran.report else { return Ok(ExitCode::from(command::CANNOT_RUN)) };
    match args.format {
        Format::Table => write!(command::stdout(), "{report}")?,
        Format::Json => writeln!(command::stdout(), "{:#}", with_lint(&report, &lint)?)?,
    }
    let clean = ran.clean && lint.findings.is_empty();
    Ok(command::verdict(clean))
}

fn with_lint(report: &str, lint: &lint::Report) -> Result<Value> {
    let mut report: Value = serde_json::from_str(report).context("the report does not read as JSON")?;
    report["lint"] = serde_json::to_value(lint).context("the lint's report cannot be JSON")?;
    report["clean"] = json!(report["clean"] == true && lint.findings.is_empty());
    Ok(report)
}

fn compile(workshop: &Workshop, text: &str, limit: Limit) -> Result<Option<PathBuf>> {
    let main = workshop.path().join("main.rs");
    fs::write(&main, text).with_context(|| format!("cannot write {}", main.display()))?;
    let here = env::current_dir().context("cannot tell the current folder")?;
    program::compile(workshop, &main, &here, limit)
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

fn header(kernel: &Kernel, args: &Args, scalars: &[(String, String)]) -> String {
    let mut text = format!(
        "{} of {}\non the emulator: n = {}, lockstep, seed {}",
        kernel.name,
        args.path.display(),
        args.n,
        args.seed
    );
    if !scalars.is_empty() {
        let values: Vec<_> = scalars.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        text += "\n";
        text += &wrapped("arguments (--arg NAME=VALUE sets them): ", &values.join(", "));
    }
    if args.block.iter().all(|&block| block > 3 && args.n.is_multiple_of(block as usize)) {
        text += &format!("\nevery block is full; --n {} tries a last one that is not", args.n + 3);
    }
    text + "\nno answer is compared: a right answer would prove nothing"
}

fn flags(args: &Args, scalars: &[(String, String)]) -> Vec<String> {
    let blocks: Vec<String> = args.block.iter().map(u32::to_string).collect();
    let format = if args.format == Format::Json { "json" } else { "table" };
    let mut flags = vec![
        format!("--block={}", blocks.join(",")),
        format!("--n={}", args.n),
        format!("--seed={}", args.seed),
        format!("--format={format}"),
    ];
    flags.extend(scalars.iter().map(|(name, value)| format!("--arg={name}={value}")));
    flags
}
