//! Compiles the kernels to PTX with Rust-CUDA: `builder [--jump-threading] [--no-lines] <ARCH> <PTX>`, where ARCH is
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
    let (flags, [arch, ptx]) = args.split_last_chunk().ok_or(USAGE)?;
    let (mut jump_threading, mut debug) = ('-', DebugInfo::LineTables);
    for flag in flags {
        match flag.to_str() {
            Some("--jump-threading") => jump_threading = '+',
            Some("--no-lines") => debug = DebugInfo::None,
            _ => return Err(USAGE.to_owned()),
        }
    }
    let arch = arch.to_string_lossy();
    let Ok(arch) = arch.parse() else {
        return Err(format!("Rust-CUDA does not know the architecture {arch}"));
    };
    build(arch, Path::new(ptx), jump_threading, debug).map_err(|error| error.to_string())
}

const USAGE: &str = "usage: builder [--jump-threading] [--no-lines] <ARCH> <PTX>";

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
