//! What every command says of itself.

mod common;

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{run, start};

#[test]
fn every_command_is_called_as_it_is_typed() {
    let commands = run(Path::new("."), &[], "");
    let commands = commands.exits(0).stdout.split_once("Commands:\n").expect("a list").1;
    let commands: Vec<_> = commands
        .lines()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(commands.contains(&"run") && commands.contains(&"check-cuda-std"), "{commands:?}");
    for command in commands {
        let help = run(Path::new("."), &[command, "--help"], "");
        let usage = help.exits(0).stdout.lines().find(|line| line.starts_with("Usage: "));
        let usage = usage.unwrap_or_else(|| panic!("{command} has no usage: {help:?}"));
        assert!(usage.starts_with(&format!("Usage: cargo xtask {command}")), "{usage}");
        assert!(help.stdout.lines().all(|line| line.chars().count() <= 80), "{}", help.stdout);
    }
}

/// Told before this machine is looked at: it may have no card.
#[test]
fn a_checker_is_not_let_loose_on_what_need_not_end() {
    for name in ["ragged-loop", "tiled"] {
        let refused = run(Path::new("."), &["racecheck", name], "");
        let error = &refused.exits(2).stderr;
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(
            error.contains(name) && error.contains("`cargo xtask exhibits --card` lists those"),
            "{error}"
        );
    }
}

#[test]
fn the_first_time_is_over_when_something_is_built() {
    let lists = || start(Path::new("."), &["exhibits"]).wait_with_output().expect("it runs");
    assert!(lists().status.success());
    assert_eq!(String::from_utf8_lossy(&lists().stderr), "");
}

/// As under `| head`, and `2>&1 | head`.
#[test]
fn a_verdict_stands_though_nobody_reads_it() {
    let wrong = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels-gpu/src/exhibits/ragged_loop.rs");
    let unread = || {
        let (_, writer) = io::pipe().expect("a pipe");
        Stdio::from(writer)
    };
    for (file, verdict) in [(&*wrong, 1), (Path::new("none.rs"), 2)] {
        let mut lint = Command::new(env!("CARGO_BIN_EXE_xtask"));
        lint.arg("lint").arg(file).stdin(Stdio::null()).stdout(unread()).stderr(unread());
        assert_eq!(lint.status().expect("it runs").code(), Some(verdict), "{lint:?}");
    }
    let status = Command::new(env!("CARGO_BIN_EXE_xtask")).stdout(unread()).status();
    assert!(status.expect("it runs").success(), "help");
}
