//! Compiles the kernels to PTX with Rust-CUDA: `builder <ARCH> <PTX> [--jump-threading]`, where ARCH is
//! `compute_75`, say. `cargo xtask ptx --compiler cuda-builder` finds what it needs and runs it.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use cuda_builder::{CudaBuilder, CudaBuilderError, DebugInfo, NvvmArch};

fn main() -> ExitCode {
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(line) => {
            eprintln!("error: {line}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &[OsString]) -> Result<(), String> {
    let (arch, ptx, jump_threading) = match args {
        [arch, ptx] => (arch, ptx, '-'),
        [arch, ptx, flag] if flag == "--jump-threading" => (arch, ptx, '+'),
        _ => return Err("usage: builder <ARCH> <PTX> [--jump-threading]".to_owned()),
    };
    let arch = arch.to_string_lossy();
    let Ok(arch) = arch.parse() else {
        return Err(format!("Rust-CUDA does not know the architecture {arch}"));
    };
    let build = |debug| build(arch, Path::new(ptx), jump_threading, debug);
    let built = build(DebugInfo::LineTables).or_else(|error| match error {
        CudaBuilderError::BuildFailed => {
            eprintln!("note: trying once more without line tables, which an LLVM older than 7.1 cannot make of cuda_std");
            build(DebugInfo::None)
        }
        error => Err(error),
    });
    built.map_err(|error| error.to_string())
}

fn build(arch: NvvmArch, ptx: &Path, jump_threading: char, debug: DebugInfo) -> Result<(), CudaBuilderError> {
    // This pass copies a barrier into both arms of a condition (rust-lang/rust#137086). cuda_builder sets the
    // flags for rustc itself, over any in the environment; a profile's are added to them.
    let flags = format!("profile.release.rustflags=['-Zmir-enable-passes={jump_threading}JumpThreading']");
    CudaBuilder::new(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .arch(arch)
        .debug(debug)
        .build_args(&["--locked", "-Zprofile-rustflags", "--config", &flags])
        .copy_to(ptx)
        .build()?;
    Ok(())
}
