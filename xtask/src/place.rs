//! Where a program runs: on the card of this machine, or on the emulator.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use clap::ValueEnum;

use crate::cargo::host_program;
use crate::child::{self, exit_code, pass_on};
use crate::cuda::Program;
use crate::ptx::Compiler;

/// A program of the host that runs in either place; it knows its own flags.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject {
    /// What to call it.
    pub(crate) what: &'static str,
    /// The program for the emulator.
    pub(crate) bin: &'static str,
    /// Its command, if it has several. The program for a card has the same.
    pub(crate) command: &'static [&'static str],
}

impl Subject {
    /// Finds out where the flags want it to run, builds the program for that place and runs it.
    pub(crate) fn start(self, flags: &[String]) -> Result<ExitCode> {
        let device = device(flags);
        let Some(compiler) = compiler(flags) else { return self.on_emulator(flags) };
        if device != Device::TheirBusiness {
            // Wrong flags are told before this machine is looked at.
            let checked = child::status(self.emulators_program()?.arg("--check-flags").args(flags))?;
            if !checked.success() {
                return Ok(exit_code(checked));
            }
        }
        match device {
            Device::Cuda => self.on_card(flags, compiler).context("--device cuda"),
            Device::Auto => match driver::probe() {
                Err(absent) => {
                    command::note(format_args!("{absent}; {} runs on the emulator\n", self.what));
                    self.on_emulator(flags)
                }
                Ok(card) => match Program::for_card(&card, compiler) {
                    Ok(program) => pass_on(program.command(self.command).args(flags)),
                    Err(error) => {
                        command::note(self.fallback(&card.name, &format!("{error:#}")));
                        self.on_emulator(flags)
                    }
                },
            },
            Device::TheirBusiness => self.on_emulator(flags),
        }
    }

    /// Lets the emulator's program do what the flags say.
    pub(crate) fn on_emulator(self, flags: &[String]) -> Result<ExitCode> {
        pass_on(self.emulators_program()?.args(flags))
    }

    fn emulators_program(self) -> Result<Command> {
        let mut program = Command::new(host_program(self.bin)?);
        program.args(self.command);
        Ok(program)
    }

    fn on_card(self, flags: &[String], compiler: Compiler) -> Result<ExitCode> {
        let card = driver::probe()?;
        pass_on(Program::for_card(&card, compiler)?.command(self.command).args(flags))
    }

    /// What to say when there is a card that cannot be used.
    fn fallback(self, card: &str, why: &str) -> String {
        let (rule, what) = ("-".repeat(72), self.what);
        format!(
            "{rule}\nThe {card} is NOT used; {what} runs on the emulator instead. Why, and the fix:\n{why}\n{rule}\n"
        )
    }
}

/// Where the flags say to run, as far as this command has to know.
#[derive(Debug, PartialEq, Eq)]
enum Device {
    Auto,
    Cuda,
    /// The emulator, help, or something wrong: the host program sees to all three.
    TheirBusiness,
}

/// Reads `--device`.
fn device(flags: &[String]) -> Device {
    if flags.iter().any(|flag| matches!(flag.as_str(), "--help" | "-h")) {
        return Device::TheirBusiness;
    }
    // That is for this machine's CPU.
    if value(flags, "--engine", "source") != Some("source") {
        return Device::TheirBusiness;
    }
    match value(flags, "--device", "auto") {
        Some("auto") => Device::Auto,
        Some("cuda") => Device::Cuda,
        _ => Device::TheirBusiness,
    }
}

/// Reads `--compiler`; the host program knows the flag too, and says what is wrong with its value.
fn compiler(flags: &[String]) -> Option<Compiler> {
    Compiler::from_str(value(flags, "--compiler", "auto")?, false).ok()
}

/// The value of a flag, or the default where it does not stand; `None` if it stands there without one.
fn value<'a>(flags: &'a [String], name: &str, default: &'a str) -> Option<&'a str> {
    for (at, flag) in flags.iter().enumerate() {
        match flag.strip_prefix(name) {
            Some("") => return flags.get(at + 1).map(String::as_str),
            Some(value) if value.starts_with('=') => return Some(&value[1..]),
            _ => {}
        }
    }
    Some(default)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(flags: &[&str]) -> Vec<String> {
        flags.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_compiler_is_read() {
        let read = |flags: &[&str]| compiler(&owned(flags));
        assert_eq!(read(&["--n", "5"]), Some(Compiler::Auto));
        assert_eq!(read(&["--compiler", "cuda-builder"]), Some(Compiler::CudaBuilder));
        assert_eq!(read(&["--device", "cuda", "--compiler=rustc"]), Some(Compiler::Rustc));
        assert_eq!(read(&["--compiler", "gcc"]), None);
        assert_eq!(read(&["--compiler"]), None);
    }

    #[track_caller]
    fn assert_read(flags: &[&str], wanted: Device) {
        assert_eq!(device(&owned(flags)), wanted);
    }

    #[test]
    fn the_device_is_found_wherever_it_stands() {
        assert_read(&[], Device::Auto);
        assert_read(&["--n", "5"], Device::Auto);
        assert_read(&["--device", "cuda", "--n", "5"], Device::Cuda);
        assert_read(&["--runs=2", "--device=cuda"], Device::Cuda);
        assert_read(&["--device=auto"], Device::Auto);
        assert_read(&["--devices"], Device::Auto);
    }

    #[test]
    fn what_the_host_program_answers_is_left_to_it() {
        for flags in
            [&["--device", "emulator"][..], &["--device"], &["--device", "gpu"], &["--n", "1", "--help"]]
        {
            assert_read(flags, Device::TheirBusiness);
        }
    }

    #[test]
    fn an_unused_card_is_not_overlooked() {
        let subject = Subject { what: "the lesson", bin: "lesson", command: &[] };
        let text = subject.fallback("NVIDIA T4", "no rustc; run `rustup component add rust-src`");
        assert!(text.contains("NVIDIA T4 is NOT used; the lesson runs"), "{text}");
        assert!(text.contains("rustup component add rust-src"), "{text}");
    }
}
