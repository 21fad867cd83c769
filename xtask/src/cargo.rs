//! Calling cargo and the programs it built.

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::OnceLock;
use std::{env, fs};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::built::Built;
use crate::child::{self, exit_code, pass_on};
use crate::link;

/// The root of the workspace that this command was called in.
pub(crate) fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    // Where there is none, the command has ended with the reason.
    ROOT.get_or_init(|| command::project::root().unwrap_or_else(|_| PathBuf::from(".")))
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

/// Where cargo puts what it builds, by whatever it was told so.
pub(crate) fn target_dir() -> PathBuf {
    static TARGET: OnceLock<PathBuf> = OnceLock::new();
    // Where cargo does not answer it builds nothing either, and says why.
    TARGET.get_or_init(|| ask_for_target_dir().unwrap_or_else(|| root().join("target"))).clone()
}

fn ask_for_target_dir() -> Option<PathBuf> {
    #[derive(Deserialize)]
    struct Metadata {
        target_directory: PathBuf,
    }
    let mut ask = cargo();
    ask.args(["metadata", "--no-deps", "--format-version=1"]).stdout(Stdio::piped()).stderr(Stdio::null());
    let said = child::run(&mut ask).ok().filter(|said| said.status.success())?;
    serde_json::from_slice(&said.stdout).ok().map(|Metadata { target_directory }| target_directory)
}

/// Builds packages in release, and says what came of it; `None` if they do not build, and the compiler has said why.
pub(crate) fn build(cargo: &mut Command, args: &[&str]) -> Result<Option<Built>> {
    cargo
        .args(["build", "--quiet", "--release", "--message-format=json-render-diagnostics"])
        .args(args)
        .stdout(Stdio::piped());
    let built = child::run(cargo).context("cannot start cargo")?;
    if !built.status.success() {
        check_space()?;
        return Ok(None);
    }
    Ok(Some(Built::read(&built.stdout)))
}

/// What does not compile may only not fit: says so where the target folder is full.
pub(crate) fn check_space() -> Result<()> {
    let target = target_dir();
    let fill = || {
        // More than an error message takes, and less than a program.
        let mut file = tempfile::tempfile_in(&target)?;
        file.write_all(&vec![1; 1 << 20])
    };
    match fill() {
        Err(error) if matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => bail!(
            "{} is full; free some space, or name another folder with CARGO_TARGET_DIR",
            target.display()
        ),
        // Whatever else is wrong has been told.
        _ => Ok(()),
    }
}

/// Builds a program of the package `host`, and says where it is.
pub(crate) fn host_program(name: &str) -> Result<PathBuf> {
    first_time(HOST_LIBRARY, "the kernels and what runs them");
    // With its library, by which we tell the first time.
    match build(&mut cargo(), &["--package", "host", "--lib", "--bin", name])? {
        Some(built) => built.program(name),
        None => bail!("the program `{name}` does not build; the compiler's message is above"),
    }
}

/// What takes time to build, of every program of the package `host`.
pub(crate) const HOST_LIBRARY: &str = "libhost.rlib";

/// Says what is going on where nothing else would for a while: a file of this name has not been built yet.
pub(crate) fn first_time(file: &str, what: &str) {
    let target = target_dir();
    // Where a target is named, it has a folder of its own.
    let folders = fs::read_dir(&target).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut places = std::iter::once(target.clone()).chain(folders);
    if !places.any(|place| place.join("release").join(file).exists()) {
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
    for tests in tests(cfg!(windows), &target_dir()) {
        let done = child::status(cargo().arg("test").args(tests)).context("cannot start cargo")?;
        if !done.success() {
            return Ok(exit_code(done));
        }
    }
    if !args.cuda {
        return Ok(ExitCode::SUCCESS);
    }
    // Apart from the others: with the feature, the emulator's program would not start without a driver.
    let (variable, path) = link::search_path()?;
    let made_up = ["test", "--release", "--package", "host", "--features", "cuda", "--test", "cuda"];
    pass_on(cargo().env(variable, path).args(made_up))
}

/// What to test, one `cargo test` after the other. Windows does not let a program be replaced that runs, as this one
/// does, so its own tests have a folder of their own there.
fn tests(windows: bool, target: &Path) -> Vec<Vec<OsString>> {
    let list = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
    if !windows {
        return vec![list(&["--workspace", "--release"])];
    }
    let mut own = list(&["--package", "xtask", "--release", "--target-dir"]);
    own.push(target.join("xtask-tests").into());
    vec![list(&["--workspace", "--exclude", "xtask", "--release"]), own]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_windows_no_test_replaces_the_command_that_runs() {
        let all = super::tests(true, Path::new("target"));
        assert_eq!(all.len(), 2);
        assert!(all[0].windows(2).any(|pair| pair == ["--exclude", "xtask"]));
        assert_eq!(all[1].last(), Some(&Path::new("target").join("xtask-tests").into_os_string()));
        assert_eq!(super::tests(false, Path::new("target")).len(), 1);
    }
}
