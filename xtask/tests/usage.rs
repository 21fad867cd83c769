//! What every command says of itself.

mod common;

use std::path::Path;

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
