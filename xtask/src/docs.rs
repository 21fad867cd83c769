//! `cargo xtask docs`: renews what docs/ quotes.

use std::process::ExitCode;

use anyhow::Result;

use crate::exhibit::start;

/// Everything is passed on to the program with the exhibits.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// Flags; `cargo xtask docs --help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    flags: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    start(&["docs"], &args.flags)
}
