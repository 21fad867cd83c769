//! `cargo xtask bench`: builds what is measured and the program that measures it, and says what of a card
//! there is to measure on.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use anyhow::{Result, bail};

use crate::cargo::{build, cargo};
use crate::child::pass_on;
use crate::cuda::Program;
use crate::host::Flags;
use crate::ptx::Compiler;
use crate::sanitizer;

pub(crate) fn run(Flags { flags }: &Flags) -> Result<ExitCode> {
    // Apart, so that the lesson is the very program that `cargo xtask run` builds.
    let built = |package: &str, program: &str| match build(
        &mut cargo(),
        &["--package", package, "--bin", program],
    )? {
        Some(built) => built.program(program),
        None => bail!("what is to be measured does not build; the compiler's message is above"),
    };
    built("host", "lesson")?;
    let mut bench = Command::new(built("bench", "bench")?);
    bench.args(flags);
    if flags.iter().any(|flag| flag == "--peers") {
        match racecheck() {
            Ok(command) => drop(bench.arg("--racecheck").args(command)),
            Err(error) => command::note(format_args!("without racecheck: {error:#}")),
        }
    }
    pass_on(&mut bench)
}

/// The command that lets racecheck judge the lesson's program on a card.
fn racecheck() -> Result<Vec<OsString>> {
    let sanitizer = sanitizer::find()?;
    let program = Program::for_card(&driver::probe()?, Compiler::Auto)?.command(&[]);
    let mut command = vec![sanitizer.into_os_string()];
    command.extend(sanitizer::Tool::Racecheck.flags().iter().map(OsString::from));
    command.extend(["--show-backtrace", "no"].map(OsString::from));
    command.push(program.get_program().to_owned());
    command.extend(program.get_args().map(ToOwned::to_owned));
    Ok(command)
}
