//! What `cargo xtask` says on a machine without a card.

mod common;

use std::path::Path;

use common::run;

#[track_caller]
fn assert_refused(args: &[&str], said: &str) {
    let done = run(Path::new("."), args, "");
    done.is_one_error("");
    assert!(done.stderr.starts_with(said), "{done:?}");
    assert!(done.stdout.is_empty(), "{done:?}");
}

#[test]
fn asking_for_a_card_that_is_not_there_is_one_line() {
    if driver::probe().is_ok() {
        eprintln!("skipped: this machine has a card");
        return;
    }
    assert_refused(&["run", "--device", "cuda"], "error: --device cuda: ");
    for (args, instead) in [
        (&["synccheck"][..], "; without: `cargo xtask run --device emulator`\n"),
        (&["memcheck", "uniform-if"], "; without: `cargo xtask exhibit uniform-if`\n"),
    ] {
        assert_refused(args, &format!("error: {} needs ", args[0]));
        let done = run(Path::new("."), args, "");
        assert!(done.stderr.contains("a card (") && done.stderr.ends_with(instead), "{done:?}");
    }
    assert_refused(&["exhibit", "needs-a-barrier", "--device", "cuda"], "error: --device cuda: ");
    assert_refused(&["exhibit", "ragged-loop", "--undefined", "--device=cuda"], "error: --device cuda: ");
}

#[test]
fn what_need_not_end_is_refused_before_the_machine_is_looked_at() {
    let said = "error: --device cuda: ragged-loop need not end on a card; ";
    assert_refused(&["exhibit", "ragged-loop", "--device", "cuda"], said);
}

#[test]
fn wrong_flags_are_told_before_the_machine_is_looked_at() {
    assert_refused(
        &["run", "--", "--n", "0"],
        "error: --n 0 leaves nothing to do; give at least 1 element\n",
    );
    assert_refused(&["exhibit", "--", "nope"], "error: no exhibit is called \"nope\"");
}
