//! `cargo xtask run`: builds the host program and runs it.

use std::process::{Command, ExitCode};

use anyhow::{Result, bail};

use crate::cargo::{cargo, pass_on, release_dir};

/// Everything is passed on to the host program, which knows its own flags.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// Flags of the lesson; `cargo xtask run --help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    flags: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if !cargo().args(["build", "--quiet", "--release", "--package", "host"]).status()?.success() {
        bail!("the lesson does not build; the compiler's message is above");
    }
    pass_on(Command::new(release_dir().join("lesson")).args(&args.flags))
}
