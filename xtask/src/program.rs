//! A program around a kernel that is not of this workspace: compiled against the workspace's libraries,
//! and run within a time limit.
//!
//! rustc is called without cargo: the libraries are those that `cargo xtask run` uses, built once, and a
//! kernel takes about as long as its own few lines do.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::cargo::{cargo, root, rustc, target_dir};

/// A folder of this process alone, under `target`, which goes when this goes.
pub(crate) struct Workshop(PathBuf);

impl Workshop {
    pub(crate) fn new() -> Result<Self> {
        let folder = target_dir().join("check").join(std::process::id().to_string());
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(Self(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        // What cannot be removed only takes space.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Compiles `main` into the workshop. `None` if it does not compile; rustc has said why.
///
/// Paths in messages and reports are relative to `shown_from`.
pub(crate) fn compile(workshop: &Workshop, main: &Path, shown_from: &Path) -> Result<Option<PathBuf>> {
    let libraries = libraries()?;
    let program = workshop.path().join("program").with_extension(std::env::consts::EXE_EXTENSION);
    let mut remap = shown_from.as_os_str().to_owned();
    remap.push("=");
    let status = rustc()
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
        .arg(&program)
        .status()
        .context("cannot start rustc")?;
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
    let built = cargo()
        .args(["build", "--quiet", "--release", "--package", "host", "--lib"])
        .arg("--message-format=json-render-diagnostics")
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
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

/// Runs a program; its messages go where ours go. Returns how it ended and what it printed.
pub(crate) fn run(program: &Path, args: &[String], limit: Duration) -> Result<(ExitStatus, String)> {
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", program.display()))?;
    let stdout = child.stdout.take();
    let reader = thread::spawn(move || {
        let mut text = String::new();
        stdout.map(|mut stdout| stdout.read_to_string(&mut text)).transpose().map(|_| text)
    });
    let status = wait(&mut child, limit)?;
    let text = reader.join().ok().and_then(Result::ok).context("cannot read what the program printed")?;
    Ok((status, text))
}

fn wait(child: &mut Child, limit: Duration) -> Result<ExitStatus> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().context("cannot wait for the program")? {
            return Ok(status);
        }
        if start.elapsed() > limit {
            // It may have ended in this very moment.
            let _ = child.kill();
            let _ = child.wait();
            bail!(
                "the kernel has not come to an end within {} s: does it loop for ever? (--timeout gives it longer)",
                limit.as_secs()
            );
        }
        thread::sleep(Duration::from_millis(10));
    }
}
