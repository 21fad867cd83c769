//! A program around a kernel that is not of this workspace: compiled against the workspace's libraries,
//! and run within a time limit.
//!
//! rustc is called without cargo: the libraries are those that `cargo xtask run` uses, built once, and a
//! kernel takes about as long as its own few lines do.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{fs, io};

use anyhow::{Error, Result, anyhow, bail};

use crate::STACK;
use crate::built::Built;
use crate::cargo::{HOST_LIBRARY, build, cargo, check_space, first_time, rustc, target_dir};
use crate::child;
use crate::workshop::Workshop;

/// How long something may take.
#[derive(Clone, Copy)]
pub(crate) struct Limit {
    pub(crate) time: Duration,
    /// How it can be raised, as the end of a message.
    pub(crate) longer: &'static str,
}

/// Compiles `main` into the workshop. `None` if it does not compile; rustc has said why.
///
/// Paths in messages and reports are relative to `shown_from`.
pub(crate) fn compile(
    workshop: &Workshop,
    main: &Path,
    shown_from: &Path,
    limit: Limit,
) -> Result<Option<PathBuf>> {
    let libraries = Libraries::build()?;
    let program = workshop.path().join("program").with_extension(std::env::consts::EXE_EXTENSION);
    let mut remap = shown_from.as_os_str().to_owned();
    remap.push("=");
    let mut compile = rustc();
    compile
        // rustc goes as deep as the source is nested, and by itself not as deep as we do.
        .env("RUST_MIN_STACK", STACK.to_string())
        .args(["--crate-name", "program", "--edition", "2024"])
        // Measured: this compiles fastest without running slower.
        .args(["-C", "opt-level=1", "-C", "codegen-units=1"])
        // Warnings are for the learner's own cargo, which knows the lints of their crate.
        .args(["--cap-lints", "allow"])
        .arg("--remap-path-prefix")
        .arg(remap)
        .args(libraries.flags()?)
        .arg(main)
        .arg("-o")
        .arg(&program);
    let compiled = child::run_within(limit.time, &mut compile).map_err(|error| match error.kind() {
        io::ErrorKind::TimedOut => anyhow!(
            "the compiler has not come to an end within {} s: is there a loop in a constant, or a type or a macro that \
             grows?{}",
            limit.time.as_secs(),
            limit.longer
        ),
        _ => Error::from(error).context("cannot start rustc"),
    })?;
    match compiled.status.code() {
        Some(0) => Ok(Some(program)),
        // rustc's exit code for an error in the source, which it has shown.
        Some(1) => check_space().map(|()| None),
        _ => bail!(
            "the compiler itself failed ({}): does the file ask for more memory or depth than this machine has?",
            compiled.status
        ),
    }
}

/// What a program links: built by cargo, and named to a rustc that is called without it.
struct Libraries(Built);

impl Libraries {
    /// Builds them, if they are not there yet.
    fn build() -> Result<Self> {
        first_time(HOST_LIBRARY, "the kernels and what runs them");
        match build(&mut cargo(), &["--package", "host", "--lib"])? {
            Some(built) => Ok(Self(built)),
            None => bail!("the project's own libraries do not build; the compiler's message is above"),
        }
    }

    fn flags(&self) -> Result<Vec<OsString>> {
        let Self(built) = self;
        let joined = |flag: &str, path: &Path| {
            let mut flag = OsString::from(flag);
            flag.push(path);
            flag
        };
        let mut flags = Vec::new();
        for folder in built.folders() {
            flags.extend(["-L".into(), joined("dependency=", folder)]);
        }
        // On Windows the libraries of the system lie in crates, and only their build scripts know where.
        for searched in &built.searched {
            flags.extend(["-L".into(), searched.into()]);
        }
        for name in ["host", "kernels", "cuda_std"] {
            flags.extend(["--extern".into(), joined(&format!("{name}="), &built.library(name)?)]);
        }
        if let Some(target) = built.target(&target_dir())? {
            flags.extend(["--target".into(), target.into()]);
        }
        Ok(flags)
    }
}

/// What came of running a program.
pub(crate) struct Ran {
    /// The report; `None` if there is none, and the program has said why.
    pub(crate) report: Option<String>,
    /// Nothing was found.
    pub(crate) clean: bool,
}

/// Runs a program that writes a report.
pub(crate) fn run(workshop: &Workshop, mut command: Command, limit: Limit) -> Result<Ran> {
    let file = workshop.path().join("report");
    command.arg("--report").arg(&file).stdout(Stdio::piped());
    let ran = child::run_within(limit.time, &mut command).map_err(|error| match error.kind() {
        io::ErrorKind::TimedOut => anyhow!(
            "the kernel has not come to an end within {} s: does it loop for ever?{}",
            limit.time.as_secs(),
            limit.longer
        ),
        _ => Error::from(error).context("cannot run the program around the kernel"),
    })?;
    if !ran.stdout.is_empty() {
        command::note("note: the kernel prints, as none on a GPU does; what it printed is not shown");
    }
    match fs::read_to_string(&file) {
        Ok(report) => {
            Ok(Ran { report: Some(report).filter(|text| !text.is_empty()), clean: ran.status.success() })
        }
        Err(_) => match ran.status.code().filter(|&code| !is_crash(code)) {
            Some(code) => bail!(
                "the program around the kernel ended with exit code {code} before its report: does the kernel call \
                 `std::process::exit`? On a GPU there is no process to end"
            ),
            None => bail!(
                "the program around the kernel crashed ({}): did it recurse too deeply, or keep more than 200 KiB of \
                 its own? A thread has 256 KiB of stack here",
                ran.status
            ),
        },
    }
}

/// Whether an exit code is that of a crash. On Unix a crash has none; on Windows it is the exception's, an NTSTATUS
/// with the severity "error" in its upper bits.
fn is_crash(code: i32) -> bool {
    cfg!(windows) && code.cast_unsigned() >> 30 == 3
}

#[cfg(all(test, windows))]
mod tests {
    use super::*;

    #[test]
    fn a_crash_is_told_from_an_exit_code() {
        // STATUS_STACK_OVERFLOW and STATUS_ACCESS_VIOLATION.
        assert!([0xc000_00fd_u32, 0xc000_0005].into_iter().all(|code| is_crash(code.cast_signed())));
        assert!(![0, 2, 101].into_iter().any(is_crash));
    }
}
