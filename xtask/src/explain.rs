//! `cargo xtask explain`: builds the program that draws the pictures, and runs it.

use std::process::{Command, ExitCode};

use anyhow::{Result, bail};

use crate::cargo::{cargo, pass_on, release_dir};

/// Everything is passed on to that program, which knows its own flags.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// An exhibit and flags; `cargo xtask explain --help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    flags: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let build = ["build", "--quiet", "--release", "--package", "host", "--bin", "explain"];
    if !cargo().args(build).status()?.success() {
        bail!("the picture does not build; the compiler's message is above");
    }
    pass_on(Command::new(release_dir().join("explain")).args(&args.flags))
}
