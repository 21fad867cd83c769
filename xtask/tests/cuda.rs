//! What `cargo xtask` says on a machine without a card.

use std::process::Command;

#[test]
fn asking_for_a_card_that_is_not_there_is_one_line() {
    if driver::probe().is_ok() {
        eprintln!("skipped: this machine has a card");
        return;
    }
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["run", "--device", "cuda"])
        .output()
        .expect("it starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), stderr.lines().count()), (Some(2), 1), "{stderr}");
    assert!(stderr.starts_with("error: --device cuda: "), "{stderr}");
    assert!(output.stdout.is_empty());
}

#[test]
fn wrong_flags_are_told_before_the_machine_is_looked_at() {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask")).args(["run", "--", "--n", "0"]).output();
    let output = output.expect("it starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert_eq!(stderr, "error: --n 0 leaves nothing to do; give at least 1 element\n");
}
