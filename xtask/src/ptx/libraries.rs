//! `core` and `cuda_std` for the GPU, built once, for a rustc that is called without cargo.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::toolchain::{TARGET, Toolchain};
use crate::cargo::{root, target_dir};
use crate::child;

/// Where each is.
pub(super) struct Libraries {
    core: PathBuf,
    compiler_builtins: PathBuf,
    cuda_std: PathBuf,
    /// Where the macros are, which run on the host.
    host: PathBuf,
}

impl Libraries {
    /// Names them to rustc.
    pub(super) fn pass_to(&self, rustc: &mut Command) {
        let flag = |start: &str, path: &Path| {
            let mut flag = OsString::from(start);
            flag.push(path);
            flag
        };
        // Where those of cuda_std are, too.
        let dependencies = self.core.parent().unwrap_or(root());
        rustc
            .arg("-L")
            .arg(flag("dependency=", dependencies))
            .arg("-L")
            .arg(flag("dependency=", &self.host))
            .arg("--extern")
            .arg(flag("noprelude:core=", &self.core))
            .arg("--extern")
            .arg(flag("noprelude:compiler_builtins=", &self.compiler_builtins))
            .arg("--extern")
            .arg(flag("cuda_std=", &self.cuda_std));
    }
}

/// What cargo says of one crate that it built, or found built.
#[derive(Deserialize)]
struct Artifact {
    target: Target,
    filenames: Vec<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

/// Builds them where anything has changed, and asks cargo where they are.
pub(super) fn build(toolchain: &Toolchain) -> Result<Libraries> {
    // A directory of its own: its cargo may be another one, and neither should undo the other's work.
    let folder = target_dir().join("ptx").join("verdict");
    if !folder.is_dir() {
        command::note("compiling `core` for the GPU, which takes a while the first time");
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let mut cargo = Command::new(&toolchain.cargo);
    cargo
        .current_dir(root())
        .env("RUSTC", &toolchain.rustc)
        // Building `core` is unstable, and so is the flag below; a released rustc lets them pass.
        .env("RUSTC_BOOTSTRAP", "1")
        // Flags for the host are not meant for the GPU. A function of these crates is compiled where it is used.
        .env(
            "CARGO_ENCODED_RUSTFLAGS",
            format!("-Zhint-mostly-unused\u{1f}{}", toolchain.remap().join("\u{1f}")),
        )
        .args([
            "build",
            "--quiet",
            "--package",
            "cuda-std-emulator",
            "--features",
            "verdict",
            "--profile",
            "verdict",
        ])
        .args(["--target", TARGET, "-Zbuild-std=core", "--message-format=json-render-diagnostics"])
        .arg("--target-dir")
        .arg(&folder)
        .stdout(Stdio::piped());
    let built =
        child::run(&mut cargo).with_context(|| format!("cannot start {}", toolchain.cargo.display()))?;
    if !built.status.success() {
        bail!("`core` and cuda_std do not build for {TARGET}; the compiler's message is above");
    }
    // One message a line; those about other things do not read as an artifact.
    let lines = built.stdout.split(|&byte| byte == b'\n');
    let artifacts: Vec<Artifact> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let library = |name: &str| {
        let of_name = artifacts.iter().filter(|artifact| artifact.target.name == name);
        of_name
            .flat_map(|artifact| &artifact.filenames)
            .find(|file| file.extension().is_some_and(|extension| extension == "rlib"))
            .cloned()
            .with_context(|| format!("cargo does not say where it built {name}"))
    };
    Ok(Libraries {
        core: library("core")?,
        compiler_builtins: library("compiler_builtins")?,
        cuda_std: library("cuda_std")?,
        host: folder.join("verdict").join("deps"),
    })
}
