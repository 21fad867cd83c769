//! `cargo xtask explore`: builds the explorer and runs it.

use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::cargo::host_program;
use crate::child::pass_on;

/// Everything is passed on to the explorer, which knows its own flags.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// The kernel and flags; `cargo xtask explore --help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    flags: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    pass_on(Command::new(host_program("explore")?).args(&args.flags))
}
