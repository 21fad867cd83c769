//! `cargo xtask run`: the lesson, on a card or on the emulator.

use std::process::ExitCode;

use anyhow::Result;

use crate::place::Subject;

const LESSON: Subject = Subject { what: "the lesson", bin: "lesson", command: &[] };

/// Everything is passed on to the host program, which knows its own flags.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// Flags of the lesson; `cargo xtask run --help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    flags: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    LESSON.start(&args.flags)
}
