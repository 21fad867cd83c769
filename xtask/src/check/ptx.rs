//! The engine that executes PTX.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, thread};

use anyhow::{Context, Result};

use super::Args;
use super::kernel::Kernel;
use crate::cargo::host_program;
use crate::program::{self, Ran};
use crate::ptx::compile::{Purpose, compile};
use crate::ptx::kernels::Kernels;
use crate::ptx::toolchain::Toolchain;
use crate::workshop::Workshop;

/// The least card that the project compiles for.
const CARD: &str = "sm_75";

/// PTX of a file's kernels: that by which the source is judged, and that for a card, or why there is none.
pub(super) struct Compiled {
    source: PathBuf,
    card: Option<Result<PathBuf>>,
}

/// Compiles the kernels of a file, both ways at once.
pub(super) fn compiled(
    toolchain: &Toolchain,
    file: &Path,
    workshop: &Workshop,
    card: bool,
) -> Result<Compiled> {
    let to = |name: &str, purpose| -> Result<PathBuf> {
        let ptx = compile(toolchain, Kernels::File(file), purpose)?;
        let path = workshop.path().join(name);
        fs::write(&path, ptx).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    };
    thread::scope(|scope| {
        // As rustc does by itself, and so whoever builds the kernel without this project: with the pass that splits
        // barriers.
        let for_card = Purpose::Card { arch: CARD, jump_threading: true, quiet: true };
        let card = card.then(|| scope.spawn(move || to("card.ptx", for_card)));
        let source = to("source.ptx", Purpose::Verdict);
        let card = card.map(|card| card.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        Ok(Compiled { source: source?, card })
    })
}

/// What came of judging, and what to say of the PTX for a card where it could not be judged.
pub(super) struct Judged {
    pub(super) ran: Ran,
    pub(super) card: Option<String>,
}

/// Judges a kernel of a Rust file.
pub(super) fn file(args: &Args, kernel: &Kernel, compiled: &Compiled, workshop: &Workshop) -> Result<Judged> {
    let signature = workshop.path().join("signature.json");
    fs::write(&signature, kernel.signature().to_string())
        .with_context(|| format!("cannot write {}", signature.display()))?;
    let mut judge = judge(args, &compiled.source)?;
    judge.arg("--signature").arg(signature);
    judge.arg(format!("--kernel={}", kernel.name));
    let mut said = None;
    match &compiled.card {
        None => {}
        Some(Ok(card)) => drop(judge.arg("--card").arg(card)),
        Some(Err(why)) => said = Some(format!("{why:#}")),
    }
    Ok(Judged { ran: run(args, workshop, judge)?, card: said })
}

/// Judges a kernel of a PTX file.
pub(super) fn text(args: &Args, workshop: &Workshop) -> Result<Ran> {
    let mut judge = judge(args, &args.path)?;
    if let Some(kernel) = &args.kernel {
        judge.arg(format!("--kernel={kernel}"));
    }
    run(args, workshop, judge)
}

fn judge(args: &Args, ptx: &Path) -> Result<Command> {
    let mut judge = Command::new(host_program("judge")?);
    judge.arg(ptx).arg("--shown").arg(&args.path);
    judge.arg("--shown-from").arg(env::current_dir().context("cannot tell the current folder")?);
    judge.args(super::flags(args));
    judge.args(args.arg.iter().map(|arg| format!("--arg={arg}")));
    judge.args(args.data.iter().map(|data| format!("--data={data}")));
    judge.args(args.shared.map(|bytes| format!("--shared={bytes}")));
    Ok(judge)
}

fn run(args: &Args, workshop: &Workshop, judge: Command) -> Result<Ran> {
    program::run(workshop, judge, args.limit())
}
