//! `cargo xtask exhibit`, `exhibits` and `docs`: the program with the exhibits.

use std::process::ExitCode;

use anyhow::Result;

use crate::place::Subject;

/// Everything is passed on to the program, which knows its own flags.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// An exhibit and flags; `cargo xtask exhibit --help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    flags: Vec<String>,
}

/// Shows an exhibit, on a card or on the emulator.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    subject(&["exhibit"]).start(&args.flags)
}

/// Starts a command that runs no kernel.
pub(crate) fn start(command: &'static [&'static str], flags: &[String]) -> Result<ExitCode> {
    subject(command).on_emulator(flags)
}

fn subject(command: &'static [&'static str]) -> Subject {
    Subject { what: "the exhibit", bin: "exhibit", command }
}
