//! The PTX of the project's kernels that the repository keeps, so that a machine without a compiler for the GPU has it.

use std::path::PathBuf;

use anyhow::Result;

use crate::cargo::root;

/// Writes it where `host/src/kept.rs` reads it, with the fingerprint of what it was made of in its first line.
pub(super) fn write(ptx: &str, compiler: &str) -> Result<PathBuf> {
    let output = root().join("kernels-gpu").join("ptx").join("verdict.ptx");
    let made_of = command::fingerprint::folder(&root().join("kernels-gpu").join("src"))?;
    // `rustc 1.96.0 (ac68faa20 2026-05-25)`, without where it came from.
    let compiler = compiler.split_inclusive(')').next().unwrap_or(compiler);
    let ptx: String = ptx.lines().flat_map(|line| [line.trim_end(), "\n"]).collect();
    let head =
        format!("// made of sources {made_of}\n// by {compiler}, cargo xtask ptx --for verdict --keep\n");
    command::file::write(&output, &(head + &ptx))?;
    Ok(output)
}
