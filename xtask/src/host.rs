//! The commands that are programs of the package `host`.

use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::cargo::host_program;
use crate::child::pass_on;
use crate::place::Subject;

/// Everything is passed on to a program that knows its own flags, `--help` too.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Flags {
    /// Its flags; `cargo xtask COMMAND --help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) flags: Vec<String>,
}

/// `cargo xtask run`: the lesson, on a card or on the emulator.
pub(crate) fn lesson(Flags { flags }: &Flags) -> Result<ExitCode> {
    Subject { what: "the lesson", bin: "lesson", command: &[] }.start(flags)
}

/// `cargo xtask exhibit`: shows an exhibit, on a card or on the emulator.
pub(crate) fn exhibit(Flags { flags }: &Flags) -> Result<ExitCode> {
    exhibits(&["exhibit"]).start(flags)
}

/// `cargo xtask exhibits`: lists them.
pub(crate) fn list(Flags { flags }: &Flags) -> Result<ExitCode> {
    exhibits(&["exhibits"]).on_emulator(flags)
}

/// `cargo xtask docs`: renews what docs/ quotes.
pub(crate) fn docs(Flags { flags }: &Flags) -> Result<ExitCode> {
    exhibits(&["docs"]).on_emulator(flags)
}

/// One of the commands that the program with the exhibits has.
fn exhibits(command: &'static [&'static str]) -> Subject {
    Subject { what: "the exhibit", bin: "exhibit", command }
}

/// `cargo xtask explain`: draws the pictures.
pub(crate) fn explain(Flags { flags }: &Flags) -> Result<ExitCode> {
    pass_on(Command::new(host_program("explain")?).args(flags))
}

/// `cargo xtask explore`: one kernel under many schedules.
pub(crate) fn explore(Flags { flags }: &Flags) -> Result<ExitCode> {
    pass_on(Command::new(host_program("explore")?).args(flags))
}
