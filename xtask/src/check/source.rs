//! The engine that runs a kernel's source, rewritten by its attribute.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result, bail};

use super::kernel::Kernel;
use super::{Args, flags, follow, generate};
use crate::program::{self, Ran};
use crate::workshop::Workshop;

/// Judges a kernel of a Rust file, whose text this is. What this engine cannot follow is an error.
pub(super) fn file(
    args: &Args,
    kernel: &Kernel,
    file: &Path,
    text: &str,
    workshop: &Workshop,
) -> Result<Ran> {
    let shown = args.path.display();
    kernel.for_source().with_context(|| shown.to_string())?;
    if let Some(first) = follow::first(text) {
        bail!(
            "{shown}:{}: --engine source cannot follow {}; --engine ptx can, and needs a rustc with library source \
             (cargo xtask doctor)",
            first.line,
            first.what
        );
    }
    if args.shared.is_some() {
        bail!("--shared: --engine source has no dynamic shared memory; --engine ptx has");
    }
    let main = workshop.path().join("main.rs");
    fs::write(&main, generate::program(file, kernel))
        .with_context(|| format!("cannot write {}", main.display()))?;
    let here = env::current_dir().context("cannot tell the current folder")?;
    let Some(program) = program::compile(workshop, &main, &here, args.limit())? else {
        bail!("{shown} does not compile with this project's cuda_std; the compiler's message is above");
    };
    let mut command = Command::new(program);
    command.args(flags(args));
    command
        .args(kernel.scalars(args.n, &args.arg)?.iter().map(|(name, value)| format!("--arg={name}={value}")));
    command.args(kernel.fillings(&args.data).iter().map(|(name, data)| format!("--data={name}={data}")));
    program::run(workshop, command, args.limit())
}
