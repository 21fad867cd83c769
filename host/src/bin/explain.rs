//! `cargo xtask explain`: a page that shows one run of a kernel, step by step.
//! Exit codes: 0 written, 2 cannot run.

use std::io::Write;
use std::path::{self, Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use anyhow::{Context, Result, bail};
use clap::Parser;
use host::exhibits::{self, EXHIBITS, Exhibit};
use host::explain::page::{Contents, Shown};
use host::explain::{Extent, choice, choices, index, page, scene};

/// Writes a page that shows what the threads of a block do, drawn from a run of the emulator.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask explain", bin_name = "cargo xtask explain", disable_version_flag = true)]
struct Args {
    /// What to show first; `cargo xtask exhibits` lists them
    #[arg(default_value = "block-32-hides-it")]
    exhibit: String,
    /// Threads a block, to begin with
    #[arg(long)]
    block: Option<u32>,
    /// Seed of the interleaving, to begin with
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The file to write, or with --all the folder
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// A page for every exhibit, and an index
    #[arg(long)]
    all: bool,
    /// Open it in a browser
    #[arg(long)]
    open: bool,
}

fn main() -> ExitCode {
    command::main(run)
}

fn run(args: &Args) -> Result<ExitCode> {
    let first = exhibits::named(&args.exhibit)?;
    if let Some(block) = args.block
        && !choice::allows(first, block)
    {
        let sizes: Vec<_> = choice::sizes(first).iter().map(u32::to_string).collect();
        bail!("--block {block}: {} has something to show at {}", first.name, sizes.join(", "));
    }
    let written = if args.all { write_all(args)? } else { write_one(args, first)? };
    writeln!(command::stdout(), "{}", written.display())?;
    if args.open && !opens(&written) {
        command::note(format_args!(
            "no browser found; open this file yourself: {}",
            path::absolute(&written)?.display()
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// One file with every exhibit in it; the one asked for is there in full.
fn write_one(args: &Args, first: &'static Exhibit) -> Result<PathBuf> {
    let shown = EXHIBITS
        .iter()
        .map(|exhibit| match exhibit.name == first.name {
            true => shown(exhibit, args.block, args.seed, Extent::Whole),
            false => shown(exhibit, None, args.seed, Extent::Brief),
        })
        .collect::<Result<_>>()?;
    let text = page(&Contents { shown, pages: Vec::new(), first, block: args.block });
    let path = match &args.output {
        Some(path) => path.clone(),
        None => beside_us(&format!("{}.html", first.name))?,
    };
    command::file::write(&path, &text)?;
    Ok(path)
}

/// A folder with a page for each exhibit; returns the index.
fn write_all(args: &Args) -> Result<PathBuf> {
    let folder = match &args.output {
        Some(folder) => folder.clone(),
        None => beside_us("site")?,
    };
    let all: Vec<_> = EXHIBITS.iter().collect();
    let mut pages = Vec::new();
    for &first in &all {
        let block = args.block.filter(|&block| choice::allows(first, block));
        let shown = vec![shown(first, block, args.seed, Extent::Whole)?];
        let text = page(&Contents { shown, pages: all.clone(), first, block });
        pages.push((format!("{}.html", first.name), text));
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    for (name, text) in &pages {
        command::file::write(&folder.join(name), text)?;
    }
    // Last, so that it never links a page that is not there.
    let path = folder.join("index.html");
    command::file::write(&path, &index(&all))?;
    Ok(path)
}

fn shown(exhibit: &'static Exhibit, block: Option<u32>, seed: u64, extent: Extent) -> Result<Shown> {
    let choices = choices(exhibit, block, seed, extent);
    Ok(Shown { exhibit, scenes: scene::scenes(exhibit, &choices, block)? })
}

/// Where cargo puts what it makes, so that nothing lands among the sources.
fn beside_us(name: &str) -> Result<PathBuf> {
    let program = env::current_exe().context("cannot tell where this program lies")?;
    let target = program.ancestors().nth(2).unwrap_or(Path::new("."));
    let folder = target.join("explain");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    Ok(folder.join(name))
}

/// Whether a browser seems to show the file.
fn opens(path: &Path) -> bool {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let mut command = Command::new(program);
    command.arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut opener) = command.spawn() else { return false };
    // One that still runs then is the browser itself. explorer's exit code says nothing.
    let patience = Instant::now() + Duration::from_secs(2);
    while !cfg!(windows) && Instant::now() < patience {
        match opener.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => thread::sleep(Duration::from_millis(20)),
            Err(_) => return false,
        }
    }
    true
}
