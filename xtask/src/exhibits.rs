//! `cargo xtask exhibits`: lists the exhibits.

use std::process::ExitCode;

use anyhow::Result;

use crate::exhibit::start;

/// Everything is passed on to the program with the exhibits.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// Flags; `cargo xtask exhibits --help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    flags: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    start(&["exhibits"], &args.flags)
}
