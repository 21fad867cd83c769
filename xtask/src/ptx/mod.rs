//! `cargo xtask ptx`: compiles the kernels to PTX and audits their barriers.

mod audit;
mod compile;
mod debug;
mod graph;
mod lines;
mod report;
mod shared;
mod source;
#[cfg(test)]
mod tests;
pub(crate) mod toolchain;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::cargo::target_dir;
use crate::machine::Machine;
use crate::rust_cuda;
use crate::rust_cuda::parts::Parts;
use compile::Kernels;

/// What to compile for, and with what.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The GPU architecture, sm_75 or compute_75: the PTX runs on cards of this compute capability and above
    #[arg(long, default_value = "sm_75")]
    arch: String,
    /// The compiler
    #[arg(long, value_enum, default_value_t = Compiler::Auto)]
    compiler: Compiler,
    /// Where the PTX goes [default: target/ptx/kernels-ARCH.ptx, or …-split.ptx with --jump-threading]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Turn rustc's JumpThreading pass on, to see it split barriers; the audit then only reports
    #[arg(long)]
    jump_threading: bool,
}

/// Who compiles the kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Compiler {
    /// cuda_builder where all that it needs is there, else rustc
    Auto,
    /// rustc's own nvptx64 target: needs the library source and nothing else
    Rustc,
    /// Rust-CUDA's cuda_builder: `cargo xtask doctor` lists what it needs
    CudaBuilder,
}

impl Compiler {
    /// Does something with the PTX of one compiler. `Auto` takes rustc where cuda_builder cannot do it.
    pub(crate) fn try_each<T>(self, work: impl Fn(Self) -> Result<T>) -> Result<T> {
        match self {
            Self::Auto if Parts::find(&Machine::here()).is_err() => work(Self::Rustc),
            Self::Auto => work(Self::CudaBuilder).or_else(|error| {
                command::note(format_args!("{error:#}; rustc compiles the kernels instead"));
                work(Self::Rustc)
            }),
            named => work(named),
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let built = args.compiler.try_each(|compiler| make(args, compiler))?;
    writeln!(command::stdout(), "{}", report::table(&built.rows))?;
    if !built.refused.is_empty() {
        command::note(built.refused.join("\n"));
        return Ok(command::verdict(false));
    }
    if !built.lines {
        writeln!(command::stdout(), "the PTX names no lines of the source, so barriers were only counted")?;
    }
    writeln!(command::stdout(), "{} by {}", command::text::path(&built.output), built.compiler)?;
    writeln!(command::stdout(), "The audit counts barriers; it says nothing of races.")?;
    Ok(ExitCode::SUCCESS)
}

/// Compiles and audits the project's kernels for `arch` without a word, and says where the PTX is.
pub(crate) fn build(arch: &str, compiler: Compiler) -> Result<PathBuf> {
    let args = Args { arch: arch.to_owned(), compiler, output: None, jump_threading: false };
    compiler.try_each(|compiler| make(&args, compiler))?.accepted()
}

/// Does the same with the kernel in a learner's file, and puts the PTX into `output`.
pub(crate) fn build_learners(file: &Path, arch: &str, output: PathBuf) -> Result<PathBuf> {
    let (ptx, compiler) = by_rustc(Kernels::Learners(file), arch, false)?;
    finish(&ptx, Kernels::Learners(file), compiler, output, true)?.accepted()
}

/// What came of a build.
struct Built {
    rows: Vec<audit::Row>,
    /// Why no PTX was written, if so.
    refused: Vec<String>,
    /// The PTX names lines of the source.
    lines: bool,
    output: PathBuf,
    compiler: String,
}

impl Built {
    /// Where the PTX is; an error where the audit refused it.
    fn accepted(self) -> Result<PathBuf> {
        match self.refused.first() {
            None => Ok(self.output),
            Some(line) => bail!("{}", line.trim_start_matches("error: ")),
        }
    }
}

fn make(args: &Args, compiler: Compiler) -> Result<Built> {
    let number = number(&args.arch)?;
    let (arch, (ptx, compiler)) = match compiler {
        Compiler::CudaBuilder => {
            let machine = Machine::here();
            let parts = Parts::find(&machine).context("cuda_builder cannot run here")?;
            let arch = format!("compute_{number}");
            let ptx = rust_cuda::build::compile(&parts, &arch, args.jump_threading)?;
            (arch, (ptx, parts.describe(&machine)))
        }
        Compiler::Auto | Compiler::Rustc => {
            let arch = format!("sm_{number}");
            let made = by_rustc(Kernels::Own, &arch, args.jump_threading)?;
            (arch, made)
        }
    };
    let output = args.output.clone().unwrap_or_else(|| default_output(&arch, args.jump_threading));
    finish(&ptx, Kernels::Own, compiler, output, !args.jump_threading)
}

/// The PTX, and the compiler's version.
fn by_rustc(kernels: Kernels<'_>, arch: &str, jump_threading: bool) -> Result<(String, String)> {
    let toolchain = toolchain::find()?;
    toolchain.check_arch(arch)?;
    Ok((compile::compile(&toolchain, kernels, arch, jump_threading)?, toolchain.version))
}

/// Audits PTX, and puts it in place unless the audit refuses it. If not `strict`, faults are only reported.
fn finish(ptx: &str, kernels: Kernels<'_>, compiler: String, output: PathBuf, strict: bool) -> Result<Built> {
    let rows = audit(&lines::placed(ptx), &kernels.source(), strict)?;
    let ptx = debug::without(&lines::own(ptx));
    let refused = report::refusals(&rows);
    if refused.is_empty() {
        // The lesson's program prints this line.
        command::file::write(&output, &format!("{}{compiler}\n{ptx}", driver::COMPILED_BY))?;
    }
    let lines = ptx.lines().any(|line| lines::file(line).is_some());
    Ok(Built { rows, refused, lines, output, compiler })
}

/// Audits PTX that was made of the crate with this root. If not `strict`, faults are only reported.
pub(crate) fn audit(ptx: &str, lib: &Path, strict: bool) -> Result<Vec<audit::Row>> {
    Ok(audit::audit(&graph::parse(ptx)?, &source::read(lib)?, strict))
}

/// The 75 of `sm_75`, as rustc has it, and of `compute_75`, as cuda_builder has it.
fn number(arch: &str) -> Result<&str> {
    let number = arch.strip_prefix("sm_").or_else(|| arch.strip_prefix("compute_"));
    number
        .filter(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_alphanumeric()))
        .with_context(|| format!("--arch {arch}: give a name such as sm_75 or compute_75"))
}

fn default_output(arch: &str, jump_threading: bool) -> PathBuf {
    let split = if jump_threading { "-split" } else { "" };
    target_dir().join("ptx").join(format!("kernels-{arch}{split}.ptx"))
}
