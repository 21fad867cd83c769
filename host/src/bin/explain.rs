//! `cargo xtask explain`: a page that shows one run of a kernel, step by step.
//! Exit codes: 0 written, 2 cannot run.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

use anyhow::{Context, Result, bail};
use clap::Parser;
use cuda_std::emulator::{MAX_BLOCK_THREADS, Policy};
use host::explain::page::{Contents, Exhibit, choices};
use host::explain::{Choice, PRESETS, Preset, find, index, page, scene, write};

const CANNOT_RUN: u8 = 2;

/// Writes a page that shows what the threads of a block do, drawn from a run of the emulator.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask explain", disable_version_flag = true)]
struct Args {
    /// What to show first; `--list` names them all
    #[arg(default_value = PRESETS[0].name, hide_default_value = true)]
    exhibit: String,
    /// Threads in a block, to begin with
    #[arg(long, default_value_t = 32)]
    block: u32,
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
    /// Name the exhibits
    #[arg(long)]
    list: bool,
}

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
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(CANNOT_RUN)
        }
    }
}

fn run(args: &Args) -> Result<()> {
    if args.list {
        for preset in PRESETS {
            println!("{:<28} {}", preset.name, preset.title);
        }
        return Ok(());
    }
    let Some(first) = find(&args.exhibit) else {
        bail!("no exhibit is called {}; `cargo xtask explain --list` names them all", args.exhibit);
    };
    if !(1..=MAX_BLOCK_THREADS).contains(&args.block) {
        bail!("--block {}: a block has 1 to {MAX_BLOCK_THREADS} threads", args.block);
    }
    let written = if args.all { write_all(args)? } else { write_one(args, first)? };
    println!("{}", written.display());
    if args.open {
        open(&written)?;
    }
    Ok(())
}

/// One file with every exhibit in it.
fn write_one(args: &Args, first: &'static Preset) -> Result<PathBuf> {
    let exhibits = PRESETS.iter().map(|preset| exhibit(args, preset)).collect::<Result<_>>()?;
    let text = page(&Contents { exhibits, elsewhere: Vec::new(), first, choice: choice(args) });
    let path = match &args.output {
        Some(path) => path.clone(),
        None => beside_us(&format!("{}.html", first.name))?,
    };
    write::write(&path, &text)?;
    Ok(path)
}

/// A folder with a page for each exhibit; returns the index.
fn write_all(args: &Args) -> Result<PathBuf> {
    let folder = match &args.output {
        Some(folder) => folder.clone(),
        None => beside_us("site")?,
    };
    let all: Vec<_> = PRESETS.iter().collect();
    let mut pages = Vec::new();
    for preset in PRESETS {
        let contents = Contents {
            exhibits: vec![exhibit(args, preset)?],
            elsewhere: all.clone(),
            first: preset,
            choice: choice(args),
        };
        pages.push((format!("{}.html", preset.name), page(&contents)));
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    for (name, text) in &pages {
        write::write(&folder.join(name), text)?;
    }
    // Last, so that it never links a page that is not there.
    let path = folder.join("index.html");
    write::write(&path, &index(&all))?;
    Ok(path)
}

fn exhibit(args: &Args, preset: &'static Preset) -> Result<Exhibit> {
    let scenes = choices(args.block, args.seed)
        .into_iter()
        .map(|choice| scene::scene(preset, choice))
        .collect::<Result<_>>()?;
    Ok(Exhibit { preset, scenes })
}

fn choice(args: &Args) -> Choice {
    Choice { block: args.block, policy: Policy::Lockstep, seed: args.seed }
}

/// Where cargo puts what it makes, so that nothing lands among the sources.
fn beside_us(name: &str) -> Result<PathBuf> {
    let program = env::current_exe().context("cannot tell where this program lies")?;
    let target = program.ancestors().nth(2).unwrap_or(Path::new("."));
    let folder = target.join("explain");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    Ok(folder.join(name))
}

fn open(path: &Path) -> Result<()> {
    let (program, flags): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("explorer", &[])
    } else {
        ("xdg-open", &[])
    };
    Command::new(program)
        .args(flags)
        .arg(path)
        .spawn()
        .with_context(|| format!("the page is written, but {program} does not start a browser"))?;
    Ok(())
}
