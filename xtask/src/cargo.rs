//! Calling cargo and the programs it built.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::child::{self, exit_code, pass_on};
use crate::link;

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

/// Builds a program of the package `host`, and says where it is.
pub(crate) fn host_program(name: &str) -> Result<PathBuf> {
    let program = release_dir().join(name).with_extension(env::consts::EXE_EXTENSION);
    first_time(&host_library(), "the kernels and what runs them");
    let mut build = cargo();
    // With its library, by which we tell the first time.
    build.args(["build", "--quiet", "--release", "--package", "host", "--lib", "--bin", name]);
    if !child::status(&mut build).context("cannot start cargo")?.success() {
        bail!("the program `{name}` does not build; the compiler's message is above");
    }
    Ok(program)
}

/// What takes time to build, of every program of the package `host`.
pub(crate) fn host_library() -> PathBuf {
    release_dir().join("libhost.rlib")
}

/// Says what is going on where nothing else would for a while.
pub(crate) fn first_time(built: &Path, what: &str) {
    if !built.exists() {
        command::note(format_args!("compiling {what}, which takes a while the first time"));
    }
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
    let mut all = cargo();
    all.args(["test", "--workspace", "--release"]);
    if !args.cuda {
        return pass_on(&mut all);
    }
    let all = child::status(&mut all).context("cannot start cargo")?;
    if !all.success() {
        return Ok(exit_code(all));
    }
    // Apart from the others: with the feature, the emulator's program would not start without a driver.
    let (variable, path) = link::search_path()?;
    let made_up = ["test", "--release", "--package", "host", "--features", "cuda", "--test", "cuda"];
    pass_on(cargo().env(variable, path).args(made_up))
}
