//! `cargo xtask exhibit`: builds the program with the exhibits and lets it show one.

use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::cargo::host_program;
use crate::child::pass_on;

/// Everything is passed on to the program, which knows its own flags.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// An exhibit and flags; `cargo xtask exhibit --help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    flags: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    start("exhibit", &args.flags)
}

/// Builds the program and starts one of its commands.
pub(crate) fn start(command: &str, flags: &[String]) -> Result<ExitCode> {
    pass_on(Command::new(host_program("exhibit")?).arg(command).args(flags))
}
