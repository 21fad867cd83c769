//! `cargo xtask ptx`: compiles the kernels to PTX and audits their barriers.

mod audit;
mod compile;
mod graph;
mod lines;
mod report;
mod source;
#[cfg(test)]
mod tests;
mod toolchain;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, process};

use anyhow::{Context, Result};

use crate::CHECK_FAILED;
use crate::cargo::{root, target_dir};

/// What to compile for, and with what.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The GPU architecture: the PTX runs on cards of this compute capability and above
    #[arg(long, default_value = "sm_75")]
    arch: String,
    /// The compiler
    #[arg(long, value_enum, default_value_t = Compiler::Rustc)]
    compiler: Compiler,
    /// Where the PTX goes [default: target/ptx/kernels-<ARCH>.ptx, or …-split.ptx with --jump-threading]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Turn rustc's JumpThreading pass on, to see it split barriers; the audit then only reports
    #[arg(long)]
    jump_threading: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Compiler {
    /// rustc's own nvptx64 target: needs the library source and nothing else
    Rustc,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let toolchain = match args.compiler {
        Compiler::Rustc => toolchain::find()?,
    };
    toolchain.check_arch(&args.arch)?;
    let ptx = compile::compile(&toolchain, &args.arch, args.jump_threading)?;
    let ptx = lines::own(&ptx);
    let source = source::read(&root().join("kernels-gpu/src/lib.rs"))?;
    let rows = audit::audit(&graph::parse(&ptx)?, &source, !args.jump_threading);

    println!("{}", report::table(&rows));
    let refused = report::refusals(&rows);
    if !refused.is_empty() {
        eprintln!("{}", refused.join("\n"));
        return Ok(ExitCode::from(CHECK_FAILED));
    }
    let output = args.output.clone().unwrap_or_else(|| default_output(args));
    write(&output, &ptx)?;
    println!("{} by {}", output.display(), toolchain.version);
    Ok(ExitCode::SUCCESS)
}

fn default_output(args: &Args) -> PathBuf {
    let split = if args.jump_threading { "-split" } else { "" };
    target_dir().join("ptx").join(format!("kernels-{}{split}.ptx", args.arch))
}

/// Puts a whole file in place, or none.
fn write(path: &Path, text: &str) -> Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(format!(".{}", process::id()));
    let written = fs::write(&part, text).and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        // It may not exist; then there is nothing to remove.
        let _ = fs::remove_file(&part);
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}
