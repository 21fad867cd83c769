//! The lesson's program for a card, with its kernels.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use driver::{Capability, Card, Ptx};

use crate::cargo::{build, cargo, first_time};
use crate::link;
use crate::ptx::{self, Compiler};

/// What `cargo xtask ptx` compiles for by default: it runs on this and every later card.
const DEFAULT: Capability = Capability { major: 7, minor: 5 };

/// What to build for.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The GPU architecture: the kernels run on cards of this compute capability and above
    #[arg(long, default_value_t = DEFAULT.arch())]
    arch: String,
    /// The compiler of the kernels; rustc's PTX runs with older drivers too
    #[arg(long, value_enum, default_value_t = Compiler::Rustc)]
    compiler: Compiler,
}

/// `cargo xtask build-cuda`: builds without asking for a card, and says how to run it where one is.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let program = Program::build(&args.arch, args.compiler)?;
    writeln!(
        command::stdout(),
        "program  {}\nkernels  {}",
        command::text::path(&program.path),
        command::text::path(&program.ptx)
    )?;
    let ptx = file_name(&program.ptx);
    writeln!(command::stdout(), "on a machine with a card: lesson-cuda --ptx {ptx}")?;
    writeln!(command::stdout(), "                          lesson-cuda exhibit NAME --ptx {ptx}")?;
    Ok(ExitCode::SUCCESS)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A program that is built, and the PTX for it.
pub(crate) struct Program {
    path: PathBuf,
    ptx: PathBuf,
}

impl Program {
    /// Compiles the kernels for this card, and the program that launches them.
    pub(crate) fn for_card(card: &Card, compiler: Compiler) -> Result<Self> {
        // A toolkit may be newer than the driver, and cuda_builder's PTX then too new for it.
        compiler.try_each(|compiler| {
            let program = Self::build(&arch(card), compiler)?;
            let reading = || format!("reading {}", program.ptx.display());
            let text = fs::read_to_string(&program.ptx).with_context(reading)?;
            Ptx::read(&text).with_context(reading)?.fits(card.driver, card.capability)?;
            Ok(program)
        })
    }

    fn build(arch: &str, compiler: Compiler) -> Result<Self> {
        Ok(Self { ptx: ptx::build(arch, compiler)?, path: build_host()? })
    }

    /// One of the program's commands, the lesson if none is named, with the flags that every run needs.
    pub(crate) fn command(&self, command: &[&str]) -> Command {
        let mut program = Command::new(&self.path);
        program.args(command).arg("--ptx").arg(&self.ptx);
        program
    }
}

/// What to compile for: what runs on every card from here on, or else on this one.
pub(crate) fn arch(card: &Card) -> String {
    DEFAULT.min(card.capability).arch()
}

/// Builds the program that launches kernels on a card.
pub(crate) fn build_host() -> Result<PathBuf> {
    let (variable, path) = link::search_path()?;
    let name = "lesson-cuda";
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    first_time(&file, "the lesson's program for a card");
    let args = ["--package", "host", "--features", "cuda", "--bin", name];
    match build(cargo().env(variable, path), &args)? {
        Some(built) => built.program(name),
        None => bail!("the lesson's program for a card does not build; the compiler's message is above"),
    }
}
