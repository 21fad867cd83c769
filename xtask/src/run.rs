//! `cargo xtask run`: decides where the lesson runs, builds its program and runs it.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use clap::ValueEnum;

use crate::cargo::host_program;
use crate::child::{self, exit_code, pass_on};
use crate::cuda::Program;
use crate::ptx::Compiler;

/// Everything is passed on to the host program, which knows its own flags.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// Flags of the lesson; `cargo xtask run --help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    flags: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let (device, others) = take_device(&args.flags);
    let Some(compiler) = compiler(&args.flags) else { return lesson(&args.flags) };
    if device != Device::TheirBusiness {
        // Wrong flags are told before this machine is looked at.
        let checked = child::status(lesson_program()?.arg("--check-flags").args(&args.flags))?;
        if !checked.success() {
            return Ok(exit_code(checked));
        }
    }
    match device {
        Device::Cuda => on_card(others, compiler).context("--device cuda"),
        Device::Auto => match driver::probe() {
            Err(absent) => {
                eprintln!("{absent}; the lesson runs on the emulator\n");
                lesson(&args.flags)
            }
            Ok(card) => match Program::for_card(&card, compiler) {
                Ok(program) => pass_on(program.command().args(others)),
                Err(error) => {
                    eprintln!("{}", fallback(&card.name, &format!("{error:#}")));
                    lesson(&args.flags)
                }
            },
        },
        Device::TheirBusiness => lesson(&args.flags),
    }
}

/// Lets the emulator's program do what the flags say.
fn lesson(flags: &[String]) -> Result<ExitCode> {
    pass_on(lesson_program()?.args(flags))
}

fn lesson_program() -> Result<Command> {
    Ok(Command::new(host_program("lesson")?))
}

fn on_card(flags: Vec<&String>, compiler: Compiler) -> Result<ExitCode> {
    let card = driver::probe()?;
    pass_on(Program::for_card(&card, compiler)?.command().args(flags))
}

/// What to say when there is a card that cannot be used.
fn fallback(card: &str, why: &str) -> String {
    let rule = "-".repeat(72);
    format!(
        "{rule}\nThe {card} is NOT used; the lesson runs on the emulator instead. Why, and the fix:\n{why}\n{rule}\n"
    )
}

/// Where the flags say to run, as far as this command has to know.
#[derive(Debug, PartialEq, Eq)]
enum Device {
    Auto,
    Cuda,
    /// The emulator, help, or something wrong: the host program sees to all three.
    TheirBusiness,
}

/// Finds `--device`, and returns the other flags.
fn take_device(flags: &[String]) -> (Device, Vec<&String>) {
    let mut device = Device::Auto;
    let mut others = Vec::new();
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        let value = match flag.strip_prefix("--device") {
            Some("") => flags.next().map(String::as_str),
            Some(value) if value.starts_with('=') => Some(&value[1..]),
            _ => {
                if matches!(flag.as_str(), "--help" | "-h") {
                    return (Device::TheirBusiness, Vec::new());
                }
                others.push(flag);
                continue;
            }
        };
        device = match value {
            Some("auto") => Device::Auto,
            Some("cuda") => Device::Cuda,
            _ => return (Device::TheirBusiness, Vec::new()),
        };
    }
    (device, others)
}

/// Reads `--compiler`; the host program knows the flag too, and says what is wrong with its value.
fn compiler(flags: &[String]) -> Option<Compiler> {
    let mut compiler = Compiler::Auto;
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        let value = match flag.strip_prefix("--compiler") {
            Some("") => flags.next()?,
            Some(value) if value.starts_with('=') => &value[1..],
            _ => continue,
        };
        compiler = Compiler::from_str(value, false).ok()?;
    }
    Some(compiler)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiler_is_read_and_left_in_place() {
        let read = |flags: &[&str]| compiler(&flags.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(read(&["--n", "5"]), Some(Compiler::Auto));
        assert_eq!(read(&["--compiler", "cuda-builder"]), Some(Compiler::CudaBuilder));
        assert_eq!(read(&["--device", "cuda", "--compiler=rustc"]), Some(Compiler::Rustc));
        assert_eq!(read(&["--compiler", "gcc"]), None);
        assert_eq!(read(&["--compiler"]), None);
    }

    #[track_caller]
    fn assert_taken(flags: &[&str], device: Device, others: &[&str]) {
        let flags: Vec<_> = flags.iter().map(ToString::to_string).collect();
        let (taken, rest) = take_device(&flags);
        assert_eq!(
            (taken, rest.iter().map(|flag| flag.as_str()).collect::<Vec<_>>()),
            (device, others.to_vec())
        );
    }

    #[test]
    fn the_device_is_found_wherever_it_stands() {
        assert_taken(&[], Device::Auto, &[]);
        assert_taken(&["--n", "5"], Device::Auto, &["--n", "5"]);
        assert_taken(&["--device", "cuda", "--n", "5"], Device::Cuda, &["--n", "5"]);
        assert_taken(&["--runs=2", "--device=cuda"], Device::Cuda, &["--runs=2"]);
        assert_taken(&["--device=auto"], Device::Auto, &[]);
    }

    #[test]
    fn what_the_host_program_answers_is_left_to_it() {
        for flags in
            [&["--device", "emulator"][..], &["--device"], &["--device", "gpu"], &["--n", "1", "--help"]]
        {
            assert_taken(flags, Device::TheirBusiness, &[]);
        }
        assert_taken(&["--devices"], Device::Auto, &["--devices"]);
    }

    #[test]
    fn an_unused_card_is_not_overlooked() {
        let text = fallback("NVIDIA T4", "no rustc; run `rustup component add rust-src`");
        assert!(text.contains("NVIDIA T4 is NOT used") && text.contains("rustup component add rust-src"));
    }
}
