//! Calling cargo and the programs it built.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::{CANNOT_RUN, link};

/// The root of the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace")
}

/// The cargo that runs us.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// The rustc of that cargo.
pub(crate) fn rustc() -> Command {
    let mut command = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    command.current_dir(root());
    command
}

/// Where cargo puts what it builds.
pub(crate) fn target_dir() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// Where cargo puts what it builds in release.
pub(crate) fn release_dir() -> PathBuf {
    target_dir().join("release")
}

/// Runs a command with our own input and output, and passes its exit code on.
pub(crate) fn pass_on(command: &mut Command) -> Result<ExitCode> {
    let what = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("cannot start {what}"))?;
    Ok(status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .map_or(ExitCode::from(CANNOT_RUN), ExitCode::from))
}

/// What to test.
#[derive(clap::Args)]
pub(crate) struct TestArgs {
    /// Test the program for a card too, against a made-up driver
    #[arg(long)]
    cuda: bool,
}

/// Every test of the workspace.
pub(crate) fn test(args: &TestArgs) -> Result<ExitCode> {
    let all = pass_on(cargo().args(["test", "--workspace", "--release"]))?;
    if !args.cuda || all != ExitCode::SUCCESS {
        return Ok(all);
    }
    // Apart from the others: with the feature, the emulator's program would not start without a driver.
    let (variable, path) = link::search_path()?;
    let made_up = ["test", "--release", "--package", "host", "--features", "cuda", "--test", "cuda"];
    pass_on(cargo().env(variable, path).args(made_up))
}
