//! `cargo xtask ptx`: compiles the kernels to PTX and audits their barriers.

mod audit;
mod card;
pub(crate) mod compile;
mod debug;
mod kept;
pub(crate) mod kernels;
mod libraries;
mod lines;
mod report;
mod source;
mod tables;
#[cfg(test)]
mod tests;
pub(crate) mod toolchain;
mod verdict;

use std::io::Write;
use std::path::{self, Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::cargo::target_dir;
use crate::machine::Machine;
use crate::rust_cuda;
use crate::rust_cuda::parts::Parts;
use compile::Purpose;
use kernels::Kernels;

/// What to compile for, and with what.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A Rust file with kernels [default: the project's own]
    file: Option<PathBuf>,
    /// What the PTX is for
    #[arg(long = "for", value_enum, default_value_t = For::Card)]
    purpose: For,
    /// The GPU architecture, sm_75 or compute_75: the PTX for a card runs on this compute capability and above
    #[arg(long, default_value = "sm_75")]
    arch: String,
    /// The compiler
    #[arg(long, value_enum, default_value_t = Compiler::Auto)]
    compiler: Compiler,
    /// Where the PTX goes [default: target/ptx/NAME-ARCH.ptx, with -split or -verdict for -ARCH where that is it]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Put it where the repository keeps it, for `--engine ptx` of run, exhibit and explore
    #[arg(long, conflicts_with_all = ["file", "output"])]
    keep: bool,
    /// Turn rustc's JumpThreading pass on, to see it split barriers; the audit then only reports
    #[arg(long)]
    jump_threading: bool,
}

/// What PTX may be for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum For {
    /// A card to run: optimised, and its barriers audited
    Card,
    /// Judging the source: by rustc, little optimised, with every access, loop and barrier of the source, and with
    /// DWARF, which no card takes
    Verdict,
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
    let file = args.file.as_deref().map(absolute).transpose()?;
    let kernels = file.as_deref().map_or(Kernels::Own, Kernels::File);
    if args.keep && args.purpose == For::Card {
        bail!("--keep: the repository keeps PTX for verdicts only; add --for verdict");
    }
    if args.purpose == For::Verdict {
        if args.jump_threading || args.compiler == Compiler::CudaBuilder {
            bail!(
                "--for verdict is by rustc, without JumpThreading; leave --jump-threading and --compiler away"
            );
        }
        let toolchain = toolchain::find()?;
        let ptx = compile::compile(&toolchain, kernels, Purpose::Verdict)?;
        let output = if args.keep {
            kept::write(&ptx, &toolchain.version)?
        } else {
            let output = args.output.clone().unwrap_or_else(|| default_output(kernels, "verdict"));
            command::file::write(&output, &ptx)?;
            output
        };
        writeln!(command::stdout(), "{} by {}", output.display(), toolchain.version)?;
        return Ok(ExitCode::SUCCESS);
    }
    let built = match kernels {
        Kernels::Own => args.compiler.try_each(|compiler| make(args, kernels, compiler))?,
        Kernels::File(_) if args.compiler == Compiler::CudaBuilder => {
            bail!("--compiler cuda-builder compiles the project's own kernels only; leave FILE or that away")
        }
        Kernels::File(_) => make(args, kernels, Compiler::Rustc)?,
    };
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
    let args = Args {
        file: None,
        purpose: For::Card,
        arch: arch.to_owned(),
        compiler,
        output: None,
        keep: false,
        jump_threading: false,
    };
    compiler.try_each(|compiler| make(&args, Kernels::Own, compiler))?.accepted()
}

/// Does the same with the kernels in a file, and puts the PTX into `output`.
pub(crate) fn build_file(file: &Path, arch: &str, output: PathBuf) -> Result<PathBuf> {
    let file = absolute(file)?;
    let (ptx, compiler) = by_rustc(Kernels::File(&file), arch, false)?;
    finish(&ptx, Kernels::File(&file), compiler, output, true)?.accepted()
}

fn absolute(file: &Path) -> Result<PathBuf> {
    path::absolute(file).with_context(|| format!("cannot find {}", file.display()))
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

fn make(args: &Args, kernels: Kernels<'_>, compiler: Compiler) -> Result<Built> {
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
            let made = by_rustc(kernels, &arch, args.jump_threading)?;
            (arch, made)
        }
    };
    let suffix = if args.jump_threading { format!("{arch}-split") } else { arch };
    let output = args.output.clone().unwrap_or_else(|| default_output(kernels, &suffix));
    finish(&ptx, kernels, compiler, output, !args.jump_threading)
}

/// The PTX, and the compiler's version.
fn by_rustc(kernels: Kernels<'_>, arch: &str, jump_threading: bool) -> Result<(String, String)> {
    let toolchain = toolchain::find()?;
    toolchain.check_arch(arch)?;
    let ptx = compile::compile(&toolchain, kernels, Purpose::Card { arch, jump_threading, quiet: false })?;
    Ok((ptx, toolchain.version))
}

/// Audits PTX, and puts it in place unless the audit refuses it. If not `strict`, faults are only reported.
fn finish(ptx: &str, kernels: Kernels<'_>, compiler: String, output: PathBuf, strict: bool) -> Result<Built> {
    let source = kernels.source();
    let rows = audit(&lines::placed(ptx, &source), &source, strict)?;
    let ptx = debug::without(&lines::own(ptx, &source));
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
    let module = ::ptx::parse(ptx).context("the compiler wrote PTX that cannot be read")?;
    Ok(audit::audit(&module, &source::read(lib)?, strict))
}

/// The 75 of `sm_75`, as rustc has it, and of `compute_75`, as cuda_builder has it.
fn number(arch: &str) -> Result<&str> {
    let number = arch.strip_prefix("sm_").or_else(|| arch.strip_prefix("compute_"));
    number
        .filter(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_alphanumeric()))
        .with_context(|| format!("--arch {arch}: give a name such as sm_75 or compute_75"))
}

fn default_output(kernels: Kernels<'_>, suffix: &str) -> PathBuf {
    let name = match kernels {
        Kernels::Own => "kernels".into(),
        Kernels::File(file) => file.file_stem().unwrap_or_default().to_string_lossy(),
    };
    target_dir().join("ptx").join(format!("{name}-{suffix}.ptx"))
}
