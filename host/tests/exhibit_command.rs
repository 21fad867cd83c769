//! The exhibits from end to end: the program as a learner starts it.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use host::exhibits::EXHIBITS;
use serde_json::Value;

fn exhibit(args: &[&str], input: &str) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_exhibit"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // It may be over before it has read anything.
    let _ = program.stdin.take().expect("piped").write_all(input.as_bytes());
    program.wait_with_output().expect("the program ends")
}

#[track_caller]
fn text(args: &[&str], input: &str) -> String {
    let output = exhibit(args, input);
    assert!(output.status.success(), "{args:?}: {output:?}");
    assert!(output.stderr.is_empty(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[track_caller]
fn refused(args: &[&str], input: &str) -> String {
    let output = exhibit(args, input);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
    let error = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(error.lines().count(), 1, "{error}");
    error
}

#[track_caller]
fn json(args: &[&str]) -> Value {
    serde_json::from_str(&text(args, "")).expect("one JSON document")
}

#[test]
fn the_list() {
    insta::assert_snapshot!(text(&["exhibits"], ""));
}

#[test]
fn a_clean_exhibit() {
    insta::assert_snapshot!(text(&["exhibit", "barrier-in-the-right-place"], ""));
}

#[test]
fn a_divergent_exhibit() {
    insta::assert_snapshot!(text(&["exhibit", "barrier-in-both-arms", "--block", "64"], ""));
}

#[test]
fn an_exhibit_with_lost_writes() {
    insta::assert_snapshot!(text(&["exhibit", "write-to-a-copy", "--block", "128"], ""));
}

#[test]
fn what_may_run_on_a_card_has_no_undefined_barrier() {
    let all = json(&["exhibits", "--format", "json"]);
    let card = text(&["exhibits", "--card"], "");
    let mut left_out = Vec::new();
    for exhibit in all.as_array().expect("a list") {
        let name = exhibit["name"].as_str().expect("a name");
        let listed = card.lines().any(|line| line.starts_with(&format!("{name} ")));
        assert_eq!(exhibit["terminates"].as_bool(), Some(listed), "{name}");
        if !listed {
            left_out.push(name);
        }
    }
    let undefined = ["thread-dependent-if", "barrier-in-both-arms", "ragged-loop", "compiler-split-barrier"];
    assert_eq!(left_out, undefined);
}

#[test]
fn one_exhibit_as_json() {
    let found = json(&["exhibit", "exited-writer", "--seed", "3", "--format", "json"]);
    let outcomes = found["outcomes"].as_array().expect("outcomes");
    let races: Vec<_> = outcomes.iter().map(|outcome| outcome["race"].as_str().expect("a race")).collect();
    let error = "RAW hazard, error";
    assert_eq!(races, ["RAW hazard, warning", error, error, error]);
    for outcome in outcomes {
        assert_eq!(outcome["race"], outcome["expected"]["race"]);
        assert_eq!(outcome["expected"]["answer_defined"], false);
    }
}

#[test]
fn where_nobody_knows_the_right_answer_the_launch_ended() {
    let table = text(&["exhibit", "two-writers", "--block", "64"], "");
    assert!(table.contains("│    64 │ 192 │ ended  │"), "{table}");
    assert!(table.contains("\n  ended: there is no right answer to compare with\n"), "{table}");
    assert!(!text(&["exhibit", "uniform-if", "--block", "64"], "").contains("ended"));
    let found = json(&["exhibit", "two-writers", "--block", "64", "--format", "json"]);
    assert_eq!(found["outcomes"][0]["answer"], "ended");
}

/// What an exhibit says to a guess in the end, without the line breaks that the width of a terminal makes.
#[track_caller]
fn predicted(args: &[&str], guesses: &str) -> String {
    let text = text(&[&["exhibit", "--predict"], args].concat(), guesses);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn guesses_are_compared_with_what_comes() {
    let input = "wrong race\nclean\n";
    let text = text(&["exhibit", "block-32-hides-it", "--predict"], input);
    let (before, after) = text.split_once("device: ").expect("a run");
    assert!(before.ends_with("your guess at 32 threads a block: \n"), "{before}");
    let said = "
32 threads a block: the answer came out right, and nothing promises that; the
                    verdict is race, as you said
";
    assert!(after.ends_with(said), "{after}");
}

#[test]
fn a_guess_per_block_size_and_another_try_for_what_is_no_guess() {
    let input = "perhaps\n\nrace\nrace\nCLEAN right\ndivergent\n";
    let text = predicted(&["barrier-in-the-right-place"], input);
    assert_eq!(text.matches(" please say answer").count(), 2, "{text}");
    let said = "32 threads a block: the verdict is clean, and you said race \
                64 threads a block: the verdict is clean, and you said race \
                128 threads a block: the answer is right, as you said; the verdict is clean, as you said \
                256 threads a block: the verdict is clean, and you said divergent";
    assert!(text.ends_with(said), "{text}");
}

#[test]
fn two_verdicts_are_told_whichever_was_guessed() {
    for (guess, said) in [
        ("lost", "of which you said lost"),
        ("uninitialised", "of which you said uninitialised"),
        ("uninitialised and lost", "as you said"),
        ("write lost, uninitialised", "as you said"),
        ("race", "and you said race"),
        ("race, lost", "and you said race and lost"),
    ] {
        let text = predicted(&["write-to-a-copy", "--block", "32"], guess);
        assert!(text.ends_with(&format!(": the verdict is uninitialised and lost, {said}")), "{text}");
    }
}

#[test]
fn an_answer_that_nothing_promises_is_not_graded() {
    let predict = |name| predicted(&[name, "--block", "64"], "wrong divergent");
    let luck = "64 threads a block: the answer came out right, and nothing promises that; the verdict is \
                divergent, as you said";
    let text = predict("thread-dependent-if");
    assert!(text.ends_with(luck), "{text}");
    let none = "64 threads a block: there is no right answer to compare with; the verdict is divergent, as you \
                said";
    let text = predict("ragged-loop");
    assert!(text.ends_with(none) && text.contains(" Say the verdict: clean, "), "{text}");
}

/// All but the source, which is as wide as it is.
#[test]
fn what_is_said_fits_a_terminal() {
    for exhibit in EXHIBITS {
        let guesses = "right race\n".repeat(exhibit.blocks.shown().len());
        let text = text(&["exhibit", exhibit.name, "--predict"], &guesses);
        let (_, said) = text.split_once(&exhibit.question[..20]).expect("the question");
        // Nobody ends the line of a prompt here.
        let lines = said.lines().filter(|line| !line.starts_with("your guess"));
        for line in lines {
            assert!(line.chars().count() <= 80, "{}: {line}", exhibit.name);
        }
    }
}

#[test]
fn no_guess_is_refused() {
    let error = refused(&["exhibit", "uniform-if", "--predict"], "clean\n");
    assert_eq!(error, "error: the input ended before a guess for 64 threads a block\n");
}

#[test]
fn unknown_names_are_refused_with_the_nearest() {
    for (name, nearest) in [
        ("exited-writter", "exited-writer"),
        ("loop_two_barriers", "loop-two-barriers"),
        ("partial", "partial-block"),
        ("TYPED-TILE", "typed-tile"),
    ] {
        let error = refused(&["exhibit", name], "");
        let wanted = format!("error: no exhibit is called {name:?}; did you mean `{nearest}`?\n");
        assert_eq!(error, wanted);
    }
    for name in ["", "two\nlines", "\u{1f980}"] {
        assert!(refused(&["exhibit", name], "").contains("did you mean"));
    }
    assert!(refused(&["exhibit"], "").contains("`cargo xtask exhibits` lists them"));
}

#[test]
fn what_cannot_run_is_refused_in_one_line() {
    let whole_warps = refused(&["exhibit", "uniform-if", "--block", "48"], "");
    assert_eq!(whole_warps, "error: --block 48: give whole warps, a multiple of 32 from 32 to 1024\n");
    let only = refused(&["exhibit", "tiled-multiply", "--block", "128"], "");
    assert_eq!(only, "error: --block 128: tiled-multiply is about blocks of 64, 256, 1024\n");
    refused(&["exhibit", "uniform-if", "--block", "-1"], "");
    refused(&["exhibit", "uniform-if", "--device", "cuda"], "");
    refused(&["exhibit", "uniform-if", "--predict", "--format", "json"], "clean");
}
