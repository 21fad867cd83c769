//! `cargo xtask ptx`: compiles the kernels to PTX and audits their barriers.

mod audit;
mod compile;
mod graph;
mod lines;
mod report;
mod source;
#[cfg(test)]
mod tests;
pub(crate) mod toolchain;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, process};

use anyhow::{Context, Result, bail};

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
    let built = make(args)?;
    println!("{}", report::table(&built.rows));
    if !built.refused.is_empty() {
        eprintln!("{}", built.refused.join("\n"));
        return Ok(ExitCode::from(CHECK_FAILED));
    }
    println!("{} by {}", built.output.display(), built.compiler);
    Ok(ExitCode::SUCCESS)
}

/// Compiles and audits the kernels for `arch` without a word, and says where the PTX is.
pub(crate) fn build(arch: &str) -> Result<PathBuf> {
    let built = make(&Args {
        arch: arch.to_owned(),
        compiler: Compiler::Rustc,
        output: None,
        jump_threading: false,
    })?;
    match built.refused.first() {
        None => Ok(built.output),
        Some(line) => bail!("{}", line.trim_start_matches("error: ")),
    }
}

/// What came of a build.
struct Built {
    rows: Vec<audit::Row>,
    /// Why no PTX was written, if so.
    refused: Vec<String>,
    output: PathBuf,
    compiler: String,
}

fn make(args: &Args) -> Result<Built> {
    let toolchain = match args.compiler {
        Compiler::Rustc => toolchain::find()?,
    };
    toolchain.check_arch(&args.arch)?;
    let ptx = compile::compile(&toolchain, &args.arch, args.jump_threading)?;
    let ptx = lines::own(&ptx);
    let source = source::read(&root().join("kernels-gpu/src/lib.rs"))?;
    let rows = audit::audit(&graph::parse(&ptx)?, &source, !args.jump_threading);
    let refused = report::refusals(&rows);
    let output = args.output.clone().unwrap_or_else(|| default_output(args));
    if refused.is_empty() {
        write(&output, &ptx)?;
    }
    Ok(Built { rows, refused, output, compiler: toolchain.version })
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
