//! What `cargo xtask` says on a machine without a card.

mod common;

use std::path::Path;

use common::run;

#[test]
fn asking_for_a_card_that_is_not_there_is_one_line() {
    if driver::probe().is_ok() {
        eprintln!("skipped: this machine has a card");
        return;
    }
    let done = run(Path::new("."), &["run", "--device", "cuda"], "");
    done.is_one_error("--device cuda: ");
    assert!(done.stdout.is_empty());
}

#[test]
fn wrong_flags_are_told_before_the_machine_is_looked_at() {
    let done = run(Path::new("."), &["run", "--", "--n", "0"], "");
    done.exits(2);
    assert_eq!(done.stderr, "error: --n 0 leaves nothing to do; give at least 1 element\n");
}
