//! A program around a kernel that is not of this workspace: compiled against the workspace's libraries,
//! and run within a time limit.
//!
//! rustc is called without cargo: the libraries are those that `cargo xtask run` uses, built once, and a
//! kernel takes about as long as its own few lines do.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{fs, io};

use anyhow::{Context, Error, Result, anyhow, bail};
use serde::Deserialize;

use crate::STACK;
use crate::cargo::{cargo, first_time, host_library, root, rustc};
use crate::child;
use crate::workshop::Workshop;

/// Compiles `main` into the workshop. `None` if it does not compile; rustc has said why.
///
/// Paths in messages and reports are relative to `shown_from`.
pub(crate) fn compile(workshop: &Workshop, main: &Path, shown_from: &Path) -> Result<Option<PathBuf>> {
    let libraries = libraries()?;
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
        .arg("-L")
        .arg(joined("dependency=", &libraries.dependencies))
        .arg("--extern")
        .arg(joined("host=", &libraries.host))
        .arg("--extern")
        .arg(joined("kernels=", &libraries.kernels))
        .arg("--extern")
        .arg(joined("cuda_std=", &libraries.cuda_std))
        .arg(main)
        .arg("-o")
        .arg(&program);
    let status = child::status(&mut compile).context("cannot start rustc")?;
    Ok(status.success().then_some(program))
}

fn joined(flag: &str, path: &Path) -> std::ffi::OsString {
    let mut flag = std::ffi::OsString::from(flag);
    flag.push(path);
    flag
}

struct Libraries {
    host: PathBuf,
    kernels: PathBuf,
    cuda_std: PathBuf,
    dependencies: PathBuf,
}

/// Builds what a program needs, if it is not there yet, and asks cargo where it is.
fn libraries() -> Result<Libraries> {
    #[derive(Deserialize)]
    struct Artifact {
        target: Target,
        filenames: Vec<PathBuf>,
    }
    #[derive(Deserialize)]
    struct Target {
        name: String,
    }
    first_time(&host_library(), "the kernels and what runs them");
    let mut build = cargo();
    build
        .args(["build", "--quiet", "--release", "--package", "host", "--lib"])
        .arg("--message-format=json-render-diagnostics")
        .stdout(Stdio::piped());
    let built = child::run(&mut build).context("cannot start cargo")?;
    if !built.status.success() {
        bail!("the project's own libraries do not build; the compiler's message is above");
    }
    // One message a line; those about other things do not read as an artifact.
    let artifacts: Vec<Artifact> = built
        .stdout
        .split(|&byte| byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    let library = |name: &str| {
        artifacts
            .iter()
            .filter(|artifact| artifact.target.name == name)
            .flat_map(|artifact| &artifact.filenames)
            .find(|file| file.extension().is_some_and(|extension| extension == "rlib"))
            .cloned()
            .with_context(|| format!("cargo does not say where it built {name}"))
    };
    let cuda_std = library("cuda_std")?;
    let dependencies = cuda_std.parent().unwrap_or(root()).to_owned();
    Ok(Libraries { host: library("host")?, kernels: library("kernels")?, cuda_std, dependencies })
}

/// What came of running a program.
pub(crate) struct Ran {
    /// The report; `None` if there is none, and the program has said why.
    pub(crate) report: Option<String>,
    /// Nothing was found.
    pub(crate) clean: bool,
}

/// Runs a program that writes a report. `longer` says how its time limit can be raised.
pub(crate) fn run(workshop: &Workshop, mut command: Command, limit: Duration, longer: &str) -> Result<Ran> {
    let file = workshop.path().join("report");
    command.arg("--report").arg(&file).stdout(Stdio::piped());
    let ran = child::run_within(limit, &mut command).map_err(|error| match error.kind() {
        io::ErrorKind::TimedOut => {
            let limit = limit.as_secs();
            anyhow!("the kernel has not come to an end within {limit} s: does it loop for ever?{longer}")
        }
        _ => Error::from(error).context("cannot run the program around the kernel"),
    })?;
    if !ran.stdout.is_empty() {
        command::note("note: the kernel prints, as none on a GPU does; what it printed is not shown");
    }
    match (fs::read_to_string(&file), ran.status.code()) {
        (Ok(report), _) => {
            Ok(Ran { report: Some(report).filter(|text| !text.is_empty()), clean: ran.status.success() })
        }
        (Err(_), Some(code)) => bail!(
            "the program around the kernel ended with exit code {code} before its report: does the kernel call \
             `std::process::exit`? On a GPU there is no process to end"
        ),
        (Err(_), None) => {
            bail!(
                "the program around the kernel crashed ({}): did it recurse too deeply, or keep more than 200 KiB of its own? A thread has 256 KiB of stack here",
                ran.status
            )
        }
    }
}
