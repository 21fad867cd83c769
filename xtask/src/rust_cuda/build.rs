//! Running `kernels-gpu/builder`, which calls cuda_builder.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::{env, fs};

use anyhow::{Context, Result, bail};

use super::parts::{LIBRARY_PATH, Parts};
use super::{fetch, manifest, toolchain};
use crate::cargo::{root, target_dir};
use crate::child;
use crate::machine::{Machine, folders};
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
    let run = |lines| -> Result<Output> {
        child::run(&mut command(parts, jump_threading, lines, arch, &ptx)?).context("cannot start cargo")
    };
    // What it was that could not make line tables.
    let (remembered, compiler) = (build.join("without-lines"), parts.describe(&Machine::here()));
    let lines = !fs::read_to_string(&remembered).is_ok_and(|without| without == compiler);
    let mut built = run(lines)?;
    if lines && !built.status.success() && lacks_lines(&built.stderr) {
        command::note(
            "note: this LLVM cannot make line tables of cuda_std, as 7.1 can; barriers without a line are taken for \
             copies of each other",
        );
        command::file::write(&remembered, &compiler)?;
        built = run(false)?;
    }
    if !built.status.success() {
        forget(&build);
        command::note(String::from_utf8_lossy(&built.stderr).trim_end());
        bail!(
            "cuda_builder did not compile the kernels; its message is above. `--compiler rustc` needs nothing of \
             Rust-CUDA"
        );
    }
    fs::read_to_string(&ptx).with_context(|| format!("cuda_builder left no {}", ptx.display()))
}

/// Removes what cargo remembers of its rustc, an error of a broken backend too: it would say that again of one that was
/// put in its place. cuda_builder's own cargo has a folder in ours.
fn forget(build: &Path) {
    let folders = folders(build, "").into_iter().chain([build.to_owned()]);
    for folder in folders {
        // It need not be there.
        let _ = fs::remove_file(folder.join(".rustc_info.json"));
    }
}

/// Whether a build failed because its LLVM is older than 7.1: that declares an intrinsic otherwise than cuda_std uses it
/// (`match.any`), which only shows where functions are compiled for their lines too.
fn lacks_lines(said: &[u8]) -> bool {
    let said = String::from_utf8_lossy(said);
    said.contains("match.any") || said.contains("Intrinsic has incorrect")
}

fn command(parts: &Parts, jump_threading: bool, lines: bool, arch: &str, ptx: &Path) -> Result<Command> {
    let mut command = cargo(parts)?;
    command.args(["run", "--release", "--locked", "--package", "builder", "--manifest-path"]).arg(manifest());
    if parts.backend.is_err() {
        command.args(["--features", "backend"]);
    }
    command.arg("--");
    if jump_threading {
        command.arg("--jump-threading");
    }
    if !lines {
        command.arg("--no-lines");
    }
    command.arg(arch).arg(ptx);
    // What cuda_builder writes to its output is for cargo, which would read it if this were a build script.
    command.stdout(Stdio::null()).stderr(Stdio::piped());
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
