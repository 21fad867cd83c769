//! `cargo xtask explore`: builds the explorer and runs it.

use std::process::{Command, ExitCode};

use anyhow::{Result, bail};

use crate::cargo::{cargo, pass_on, release_dir};

/// Everything is passed on to the explorer, which knows its own flags.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// The kernel and flags; `cargo xtask explore --help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    flags: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if !cargo()
        .args(["build", "--quiet", "--release", "--package", "host", "--bin", "explore"])
        .status()?
        .success()
    {
        bail!("the explorer does not build; the compiler's message is above");
    }
    pass_on(Command::new(release_dir().join("explore")).args(&args.flags))
}
