//! Running `kernels-gpu/builder`, which calls cuda_builder.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{env, fs};

use anyhow::{Context, Result, bail};

use super::parts::{LIBRARY_PATH, Parts};
use super::{fetch, manifest, toolchain};
use crate::cargo::{root, target_dir};
use crate::child;
use crate::workshop::Workshop;

/// The PTX of the kernels for `compute_75`, say, as cuda_builder writes it.
pub(crate) fn compile(parts: &Parts, arch: &str, jump_threading: bool) -> Result<String> {
    fetch::fetch(cargo(parts)?)?;
    let build = build_dir();
    if !build.is_dir() {
        command::note("building cuda_builder and its compiler, once: some minutes");
    }
    fs::create_dir_all(&build).with_context(|| format!("cannot create {}", build.display()))?;
    let workshop = Workshop::new()?;
    let ptx = workshop.path().join("kernels.ptx");
    let status =
        child::status(&mut command(parts, jump_threading, arch, &ptx)?).context("cannot start cargo")?;
    if !status.success() {
        bail!(
            "cuda_builder did not compile the kernels; its message is above. `--compiler rustc` needs nothing of \
             Rust-CUDA"
        );
    }
    fs::read_to_string(&ptx).with_context(|| format!("cuda_builder left no {}", ptx.display()))
}

fn command(parts: &Parts, jump_threading: bool, arch: &str, ptx: &PathBuf) -> Result<Command> {
    let mut command = cargo(parts)?;
    command.args(["run", "--release", "--locked", "--package", "builder", "--manifest-path"]).arg(manifest());
    if parts.backend.is_err() {
        command.args(["--features", "backend"]);
    }
    command.args(["--", arch]).arg(ptx);
    if jump_threading {
        command.arg("--jump-threading");
    }
    // What cuda_builder writes there is for cargo, which would read it if this were a build script.
    command.stdout(Stdio::null());
    Ok(command)
}

/// A cargo for which everything is set. cuda_builder starts `cargo` and `rustc` again, by these names.
fn cargo(parts: &Parts) -> Result<Command> {
    let mut command = Command::new("cargo");
    let programs = toolchain::programs(&parts.toolchain.sysroot);
    let libraries = prepended(LIBRARY_PATH, parts.toolkit.library.clone(), env::var_os(LIBRARY_PATH))?;
    // On Windows both are one variable.
    let path = if LIBRARY_PATH == "PATH" { Some(libraries.clone()) } else { env::var_os("PATH") };
    command
        .env(LIBRARY_PATH, libraries)
        .env("PATH", prepended("PATH", programs, path)?)
        .current_dir(root())
        // Where that cargo is rustup's stand-in all the same, it takes the toolchain from here.
        .env("RUSTUP_TOOLCHAIN", parts.toolchain.sysroot.file_name().unwrap_or_default())
        // A released rustc, which the learner may name, lets the backend use its own crates only with this.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_DIR", build_dir())
        .env("CUDA_PATH", &parts.toolkit.root)
        .env_remove("RUSTC")
        // Flags for the host are not meant for the GPU.
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    if let Err(llvm) = &parts.backend {
        command.env("LLVM_CONFIG", &llvm.config);
    }
    Ok(command)
}

fn build_dir() -> PathBuf {
    target_dir().join("ptx").join("cuda-builder")
}

/// The list of folders in a variable, with one more before them.
fn prepended(variable: &str, folder: PathBuf, list: Option<OsString>) -> Result<OsString> {
    let list = list.unwrap_or_default();
    let folders = env::split_paths(&list).filter(|folder| !folder.as_os_str().is_empty());
    env::join_paths(std::iter::once(folder).chain(folders))
        .with_context(|| format!("{variable} cannot hold a folder of this name"))
}
