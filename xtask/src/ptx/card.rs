//! The PTX that a card runs: all optimisation, and line directives that a driver accepts.

use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::kernels::{Kernels, module};
use super::toolchain::{TARGET, Toolchain};
use crate::cargo::{root, target_dir};
use crate::child;
use crate::workshop::Workshop;

/// The PTX of the kernels, as rustc writes it.
pub(super) fn compile(
    toolchain: &Toolchain,
    kernels: Kernels<'_>,
    arch: &str,
    jump_threading: bool,
    quiet: bool,
) -> Result<String> {
    // A directory of its own: its cargo may be another one, and neither should undo the other's work.
    let build = target_dir().join("ptx").join("build");
    if !build.is_dir() {
        command::note("compiling `core` for the GPU, which takes a while the first time");
        fs::create_dir_all(&build).with_context(|| format!("cannot create {}", build.display()))?;
    }
    let workshop = Workshop::new()?;
    let assembly = workshop.path().join("kernels.s");
    let mut command = command(toolchain, kernels, arch, jump_threading);
    command.arg(format!("--emit=asm={}", assembly.display()));
    if let Kernels::File(file) = kernels {
        // emulator/file takes it from there.
        let path = workshop.path().join("module.rs");
        fs::write(&path, module(file)).with_context(|| format!("cannot write {}", path.display()))?;
        command.env("FILE_MODULE", path);
    }
    if quiet {
        command.stderr(Stdio::null());
    }
    let status =
        child::status(&mut command).with_context(|| format!("cannot start {}", toolchain.cargo.display()))?;
    if !status.success() {
        if quiet {
            bail!("it does not compile for {arch}; `cargo xtask ptx FILE --arch {arch}` shows why");
        }
        bail!(
            "{} does not compile for {TARGET}; the compiler's message is above",
            kernels.source().display()
        );
    }
    fs::read_to_string(&assembly).with_context(|| format!("rustc left no {}", assembly.display()))
}

/// What depends on the architecture is passed to the kernels' own compilation only, the last one (its fat
/// LTO generates all code), so `core` is built once for all.
fn command(toolchain: &Toolchain, kernels: Kernels<'_>, arch: &str, jump_threading: bool) -> Command {
    let package = match kernels {
        Kernels::Own => "kernels",
        Kernels::File(_) => "file-ptx",
    };
    let mut command = Command::new(&toolchain.cargo);
    command
        .current_dir(root())
        .env("RUSTC", &toolchain.rustc)
        // rustc goes as deep as the source is nested, and by itself not as deep as we do.
        .env("RUST_MIN_STACK", crate::STACK.to_string())
        // Building `core` and the features named below are unstable; a released rustc lets them pass.
        .env("RUSTC_BOOTSTRAP", "1")
        // Flags for the host are not meant for the GPU.
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .args(["rustc", "--quiet", "--package", package, "--lib", "--crate-type", "cdylib"])
        .args(["--profile", "ptx", "--target", TARGET, "-Zbuild-std=core", "--target-dir"])
        .arg(target_dir().join("ptx").join("build"))
        .arg("--")
        .arg(format!("-Ctarget-cpu={arch}"))
        // It copies a barrier into both arms of a condition (rust-lang/rust#137086).
        .arg(format!("-Zmir-enable-passes={}JumpThreading", if jump_threading { '+' } else { '-' }))
        // It makes shared accesses out of generic ones (emulator/src/nvptx/shared.rs); without the dominator tree
        // at hand it misses those below a branch.
        .arg("-Cpasses=function(require<domtree>,infer-address-spaces)")
        // `#[kernel]` and `#[address_space]` expand to these; the kernels' source knows nothing of them.
        .arg("-Zcrate-attr=feature(abi_ptx,asm_experimental_arch)")
        // The PTX is all that is wanted: linking would ask for llvm-bitcode-linker.
        .arg("-Zno-link");
    command
}
