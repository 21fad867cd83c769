//! The lesson from end to end: the program as a learner starts it.

use std::process::{Command, Output};

use serde_json::Value;

fn lesson(flags: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lesson")).args(flags).output().expect("the program starts")
}

#[track_caller]
fn text(flags: &[&str], exit: i32) -> String {
    let output = lesson(flags);
    assert_eq!(output.status.code(), Some(exit), "{flags:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[track_caller]
fn json(flags: &[&str]) -> Value {
    let flags = [&["--device", "emulator", "--format", "json"], flags].concat();
    serde_json::from_str(&text(&flags, 0)).expect("one JSON document")
}

fn launches(run: &Value) -> impl Iterator<Item = &Value> {
    run["launches"].as_array().expect("launches").iter()
}

#[test]
fn the_default_run_as_a_page() {
    insta::assert_snapshot!(text(&["--device", "emulator"], 0));
}

#[test]
fn a_small_run_as_json() {
    let found = json(&["--n", "70", "--blocks", "32,64", "--prefix-block", "64", "--keep", "40"]);
    insta::assert_snapshot!(format!("{found:#}"));
}

/// What compute-sanitizer said of the C++ original on an NVIDIA H200: 262,755 reads of 4 bytes at each
/// size, a warning at 32 threads a block and an error above.
#[test]
fn the_race_of_the_default_run_is_counted_as_racecheck_counts() {
    let found = json(&[]);
    let racy = launches(&found["runs"][0]).filter(|launch| launch["kernel"] == "reverse_tile_racy");
    let verdicts: Vec<_> = racy
        .map(|launch| {
            let checks = &launch["checks"];
            (launch["block"].as_u64(), checks["race"].as_str(), checks["byte_hazards"].as_u64())
        })
        .collect();
    let expected = [(32, "warning"), (64, "error"), (128, "error"), (256, "error")];
    assert_eq!(verdicts, expected.map(|(block, level)| (Some(block), Some(level), Some(1_051_020))));
}

#[test]
fn block_32_hides_it_and_larger_blocks_do_not() {
    let found = json(&["--runs", "3"]);
    for run in found["runs"].as_array().expect("runs") {
        for launch in launches(run) {
            let right = launch["mismatches"] == 0;
            let hidden = launch["block"] == 32 || launch["kernel"] != "reverse_tile_racy";
            assert_eq!(right, hidden, "{launch:#}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_output() {
    let run = |seed| text(&["--device", "emulator", "--n", "5000", "--seed", seed], 0);
    assert_eq!(run("7"), run("7"));
    assert_ne!(run("7").replace("seed 7", ""), run("8").replace("seed 8", ""));
}

#[test]
fn bad_input_is_one_line_and_exit_2() {
    let cases: &[(&[&str], &str)] = &[
        (&["--n", "0"], "nothing to do"),
        (&["--n", "many"], "invalid value 'many' for '--n"),
        (&["--n", "99999999999999999"], "more than"),
        (&["--n", "9999999999999999999999"], "'--n"),
        (&["--blocks", "0"], "a block has 1 to 1024 threads"),
        (&["--blocks", "32,1025"], "a block has 1 to 1024 threads"),
        (&["--blocks", "32,x"], "invalid value 'x' for '--blocks"),
        (&["--blocks", ""], "'--blocks"),
        (&["--prefix-block", "2048"], "a block has 1 to 1024 threads"),
        (&["--keep", "0"], "--keep 0"),
        (&["--keep", "257"], "--keep 257"),
        (&["--runs", "0"], "nothing to do"),
        (&["--seed=-1"], "'-1' for '--seed"),
        (&["--device", "tpu"], "invalid value 'tpu' for '--device"),
        (&["--format", "xml"], "invalid value 'xml' for '--format"),
        (&["--frobnicate"], "unexpected argument '--frobnicate'"),
        (&["extra"], "unexpected argument 'extra'"),
    ];
    for (flags, says) in cases {
        let output = lesson(flags);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {error}");
        assert!(output.stdout.is_empty(), "{flags:?} printed before it failed");
        assert_eq!(error.lines().count(), 1, "{flags:?}: {error}");
        assert!(error.starts_with("error: ") && error.contains(says), "{flags:?}: {error}");
    }
}

/// A size that no machine has memory for, within what a grid can cover.
#[test]
fn too_many_elements_for_memory_is_one_line_and_exit_2() {
    let output = lesson(&["--n", "2000000000000", "--blocks", "1024", "--prefix-block", "1024"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(output.stdout.is_empty());
    assert!(error.starts_with("error: no memory for 2000000000000 elements"), "{error}");
}

/// The run in the README is this run.
#[test]
fn the_readme_shows_what_the_program_prints() {
    let readme = include_str!("../../README.md").replace("\r\n", "\n");
    let (_, shown) = readme.split_once("<!-- run -->\n```text\n").expect("the README shows a run");
    let (shown, _) = shown.split_once("```").expect("the block ends");
    assert_eq!(shown.trim_end(), text(&["--device", "emulator"], 0).trim_end());
}
