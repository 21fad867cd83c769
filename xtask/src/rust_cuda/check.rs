//! `cargo xtask check-cuda-std`: do the kernels compile against the real cuda_std, and not only against the emulator?

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result};
use command::text::wrapped;

use super::{REPOSITORY, REVISION, fetch, manifest};
use crate::cargo::{cargo, target_dir};
use crate::child;

/// Types only, for the host: this needs neither the pinned nightly nor anything of CUDA.
pub(crate) fn run() -> Result<ExitCode> {
    fetch::fetch(cargo())?;
    let mut check = cargo();
    check
        .args(["check", "--quiet", "--locked", "--lib", "--manifest-path"])
        .arg(manifest())
        .arg("--target-dir")
        .arg(target_dir().join("cuda-std"));
    if !child::status(&mut check).context("cannot start cargo")?.success() {
        command::note(
            "error: kernels-gpu does not compile against the real cuda_std; the compiler's message is above",
        );
        return Ok(command::verdict(false));
    }
    let against = wrapped("  ", &format!("{REPOSITORY} at {REVISION}"));
    writeln!(command::stdout(), "kernels-gpu type-checks against the real cuda_std:\n{against}")?;
    Ok(ExitCode::SUCCESS)
}
