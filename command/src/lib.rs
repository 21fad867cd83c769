//! What the programs of this project have in common: how they read their command line, how they end, how they
//! write a file, where they find it, how they say something, and how wide their lines are.

pub mod file;
pub mod fingerprint;
mod out;
pub mod project;
pub mod text;

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use clap::builder::StyledStr;
use clap::{CommandFactory, Parser};

use text::COLUMNS;

pub use out::{Stdout, dialogue, note, stdout};

/// Exit code for "cannot run": something is missing or the command line is wrong.
pub const CANNOT_RUN: u8 = 2;

/// The exit code of a program that judges: 0 if all is as it must be, and 1 if not.
#[must_use]
pub fn verdict(holds: bool) -> ExitCode {
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Reads the command line and runs a program with it.
pub fn main<A: Parser>(run: impl FnOnce(&A) -> Result<ExitCode>) -> ExitCode {
    let parsed = command::<A>().try_get_matches().and_then(|matches| A::from_arg_matches(&matches));
    let done = match parsed {
        Ok(args) => run(&args),
        Err(error) if error.use_stderr() => {
            note(one_line(&error));
            return ExitCode::from(CANNOT_RUN);
        }
        Err(help) => print(&help.render()),
    };
    done.unwrap_or_else(|error| {
        note(format_args!("error: {error:#}"));
        ExitCode::from(CANNOT_RUN)
    })
}

/// Says what a program's `--help` says.
///
/// # Errors
///
/// If it cannot be written.
pub fn help<A: CommandFactory>() -> Result<ExitCode> {
    print(&command::<A>().render_help())
}

fn command<A: CommandFactory>() -> clap::Command {
    A::command().term_width(COLUMNS)
}

fn print(text: &StyledStr) -> Result<ExitCode> {
    write!(stdout(), "{text}")?;
    Ok(ExitCode::SUCCESS)
}

/// What is wrong with a command line: the message, what it lists, tips, and where help is.
fn one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut said = lines.next().unwrap_or_default().to_owned();
    let mut help = "--help".to_owned();
    for line in lines {
        if let Some(usage) = line.strip_prefix("Usage: ") {
            let command = usage.split(' ').take_while(|word| !word.starts_with(['[', '<', '-']));
            help = format!("`{} --help`", command.collect::<Vec<_>>().join(" "));
        } else if line.starts_with("For more information") || line.starts_with("tip: to pass") {
            continue;
        } else {
            said += if said.ends_with(':') || line.starts_with('[') { " " } else { "; " };
            said += line;
        }
    }
    said + "; see " + &help
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Parser)]
    #[command(name = "cargo xtask explore", bin_name = "cargo xtask explore")]
    #[allow(dead_code, reason = "only ever refused")]
    struct Args {
        kernel: String,
        #[arg(long, required = true)]
        block: u32,
        #[arg(long, value_parser = ["human", "json"])]
        format: Option<String>,
    }

    #[track_caller]
    fn assert_said(flags: &[&str], said: &str) {
        let flags = ["explore"].iter().chain(flags);
        assert_eq!(one_line(&Args::try_parse_from(flags).expect_err("a wrong command line")), said);
    }

    #[test]
    fn a_wrong_command_line_is_told_in_one_line() {
        assert_said(
            &[],
            "error: the following required arguments were not provided: --block <BLOCK>; <KERNEL>; \
             see `cargo xtask explore --help`",
        );
        assert_said(
            &["--blok", "3"],
            "error: unexpected argument '--blok' found; tip: a similar argument exists: '--block'; \
             see `cargo xtask explore --help`",
        );
        assert_said(
            &["k", "--block", "3", "--format", "xml"],
            "error: invalid value 'xml' for '--format <FORMAT>' [possible values: human, json]; see --help",
        );
        assert_said(
            &["k", "--block", "x"],
            "error: invalid value 'x' for '--block <BLOCK>': invalid digit found in string; see --help",
        );
    }
}
