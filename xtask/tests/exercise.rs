//! The exercise from its first step to its submission, as a learner would do it, on copies of its folder.

mod common;

use std::fs;
use std::io::{BufRead, BufReader};

use common::exercise::{BARRIER, Exercise, START, below, without};
use common::start;

#[test]
fn the_three_steps_with_right_and_wrong_answers() {
    let exercise = Exercise::new("three-steps");
    exercise.run(&[], "").exits(0).says("between the write and the read").says("Step 1:");

    exercise.save(&without());
    let step_1 = exercise.run(&[], "32\n64\n32,64,128,256\n");
    step_1.exits(1).says("the barrier: missing").says("wrong block sizes: none before, 64, 128, 256 now");
    step_1.says("lacks a size that failed").says("Not all").says("Too many").says("Leave it for now");
    step_1.says("Step 2:").does_not_say("hazard");
    exercise.run(&[], "what\n256 128 64\n").exits(0).says("as numbers").says("That is what the runs showed.");

    exercise.save(&below());
    let step_2 = exercise.run(&[], "yes\nperhaps\nno\n");
    step_2.exits(0).says("the barrier: below the read").says("wrong block sizes: 64, 128, 256 as before");
    step_2.says("Look at the two lists").says("Write yes or no.").says("So it is").says("Step 3:");
    step_2.does_not_say("Question 1").does_not_say("hazard");

    // The version of step 2 is judged as it lies there, not as it was once measured.
    let kept = exercise.read("step-2/src/tile.rs");
    assert_eq!(kept, below());
    let progress = exercise.read("progress.json").replace("RAW hazard", "nonsense");
    fs::write(exercise.folder.join("progress.json"), progress).expect("it can be written");
    exercise.save(START);
    let silent = exercise.run(&[], "");
    silent.says("exercise/step-2/").does_not_say("nonsense");
    silent.exits(0).says("RAW hazard, warning").says("clean").says("Question 3").says("No answer.");
    assert!(!exercise.folder.join("submission.md").exists());
    let why = "A right answer shows one run; the checker asks whether an order exists.";
    exercise.run(&[], &format!("so\n{why}\n")).exits(0).says("A sentence, please.").says("is written.");
    let submission = exercise.read("submission.md");
    for part in ["\n64, 128, 256\n", "\nno\n", why, "RAW hazard, error"] {
        assert!(submission.contains(part), "{part:?} is not in {submission}");
    }
    exercise.run(&[], "").exits(0).does_not_say("Question").says("All three steps are done");

    // Who edits an answer keeps it.
    let edited = submission.replace(why, "Nothing puts the write before the read.");
    fs::write(exercise.folder.join("submission.md"), &edited).expect("it can be written");
    for _ in 0..2 {
        exercise.run(&[], "").exits(0).says("submission.md is kept as you edited it");
        assert_eq!(exercise.read("submission.md"), edited);
    }
    fs::remove_file(exercise.folder.join("submission.md")).expect("it is there");
    exercise.run(&[], "").exits(0).says("submission.md is written.");
    assert_eq!(exercise.read("submission.md"), submission);
}

#[test]
fn hints_the_solution_and_a_reset_that_keeps_the_text() {
    let exercise = Exercise::new("reset");
    exercise.run(&["--hint", "1"], "").exits(0).says("on which side of the barrier");
    exercise.run(&["--hint", "2"], "").exits(0).says("how many warps");
    exercise.run(&["--solution"], "").exits(0).says("whether an order exists");

    exercise.run(&["--reset"], "").exits(0).does_not_say("is kept as");
    for (mine, backup) in [("// mine", "src/tile.rs.bak"), ("// mine too", "src/tile.rs.2.bak")] {
        exercise.save(mine);
        exercise.run(&["--reset"], "").exits(0).says("tile.rs is kept as");
        assert_eq!(exercise.read(backup), mine);
        assert_eq!(exercise.read("src/tile.rs"), START);
    }
    fs::remove_file(exercise.folder.join("src/tile.rs")).expect("it is there");
    exercise.run(&[], "").is_one_error("--reset` brings it back");
    fs::write(exercise.folder.join("progress.json"), "{").expect("it can be written");
    exercise.run(&["--reset"], "").exits(0).says("progress.json is kept as");
    assert_eq!(exercise.read("src/tile.rs"), START);
}

#[test]
fn a_wrong_command_line_is_one_line() {
    let exercise = Exercise::new("flags");
    exercise.run(&["--hint", "3"], "").is_one_error("3 is not in 1..=2");
    exercise.run(&["--hint", "1", "--reset"], "").is_one_error("cannot be used with");
    exercise.run(&["--frobnicate"], "").is_one_error("unexpected argument '--frobnicate'");
    fs::write(exercise.folder.join("progress.json"), "{").expect("it can be written");
    exercise.run(&[], "").is_one_error("progress.json is not what this command wrote");
}

#[test]
fn a_compile_error_is_shown_as_rustc_shows_it() {
    let exercise = Exercise::new("syntax");
    exercise.save(&START.replace("let n = input.len();", "let n = input.len("));
    let done = exercise.run(&[], "");
    done.exits(2).ends_with_error("tile.rs does not compile");
    assert!(
        done.stderr.contains("exercise/src/tile.rs:29:") && done.stderr.contains("let n = input.len("),
        "{done:?}"
    );
}

/// Run it with `cargo test --release -p xtask --test exercise -- --ignored`.
#[test]
#[ignore = "compiles a program for each version"]
fn versions_that_are_none_of_the_three() {
    let exercise = Exercise::new("others");
    exercise.save(&below());
    exercise.run(&[], "").exits(0).says("Step 1 is still to do").does_not_say("Question");
    let inside = without().replace("    if i < n {\n", &format!("    if i < n {{\n{BARRIER}"));
    for (text, words) in [
        (without().replace("    let x =", &format!("{BARRIER}    let x =")), "above the write"),
        (inside, "inside an `if` or a loop"),
        (START.replace("dim - 1 - tid", "tid"), "computes something else"),
        (START.replace("dim - 1 - tid", "dim - tid"), "the checker finds something else"),
        (START.replace(BARRIER, &BARRIER.repeat(2)), "more than one barrier"),
    ] {
        exercise.save(&text);
        exercise.run(&[], "").exits(0).says_in_words(words);
    }
    exercise.save(&START.replace(BARRIER, "    thread::sync_threads();\n    loop {}\n"));
    exercise.run(&[], "").exits(2).ends_with_error("did not come to an end");
}

/// Run it with `cargo test --release -p xtask --test exercise -- --ignored`.
#[test]
#[ignore = "waits for the file system"]
fn watch_runs_again_on_save() {
    let exercise = Exercise::new("watch");
    let mut child = start(&exercise.folder, &["exercise", "--folder", ".", "--watch"]);
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut wait_for = |text: &str| {
        lines.any(|line| line.expect("UTF-8").contains(text)).then_some(()).expect(text);
    };
    wait_for("between the write and the read");
    wait_for("watching");
    exercise.save(&without());
    wait_for("the barrier: missing");
    wait_for("watching");
    exercise.save("fn (");
    wait_for("watching");
    exercise.save(&below());
    wait_for("the barrier: below the read");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
}
