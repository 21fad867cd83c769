//! The exhibits on a made-up card.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wait_timeout::ChildExt;

use super::{Answer, assert_one_line, folder, start};

/// `lesson-cuda exhibit` with some PTX.
fn exhibit(settings: &str, flags: &[&str]) -> Answer {
    let version = settings.split(',').find_map(|pair| pair.strip_prefix("ptx=")).unwrap_or("6.3");
    let ptx = folder().join(version).display().to_string();
    start(settings, &[&["exhibit"], flags, &["--ptx", &ptx]].concat())
}

/// The outcomes of a run that ends with this code.
#[track_caller]
fn outcomes(code: i32, settings: &str, flags: &[&str]) -> Vec<Value> {
    let Answer { code: ended, stdout, stderr } = exhibit(settings, &[flags, &["--format", "json"]].concat());
    assert_eq!((ended, &*stderr), (Some(code), ""), "{stdout}");
    let found: Value = serde_json::from_str(&stdout).expect("one JSON document");
    assert!(found["device"].as_str().is_some_and(|device| device.starts_with("Made-up Card")), "{stdout}");
    found["outcomes"].as_array().expect("outcomes").clone()
}

#[track_caller]
fn assert_right(flags: &[&str], sizes: usize) {
    let outcomes = outcomes(0, "", flags);
    assert_eq!(outcomes.len(), sizes);
    for outcome in outcomes {
        assert_eq!((&outcome["wrong"], &outcome["answer"]), (&json!(0), &json!("right")), "{outcome}");
        let answer = json!({ "elements": outcome["elements"], "mismatches": 0, "first_bad": null });
        assert_eq!(outcome["card"], json!({ "answer": answer }));
    }
}

#[test]
fn answer_and_verdict_are_two_tables() {
    let Answer { code, stdout, stderr } = exhibit("", &["needs-a-barrier", "--block", "64"]);
    assert_eq!((code, &*stderr), (Some(0), ""), "{stdout}");
    let (_, run) = stdout.split_once("GPU: ").expect("a card");
    let (_, run) = run.split_once('\n').expect("a line");
    insta::assert_snapshot!(run);
}

#[test]
fn every_kind_of_call_is_made_as_its_kernel_wants_it() {
    assert_right(&["barrier-in-the-right-place"], 4);
    assert_right(&["early-return"], 4);
    assert_right(&["two-launches"], 4);
    assert_right(&["tiled-multiply"], 3);
}

#[test]
fn a_wrong_answer_fails_only_where_the_kernel_is_right() {
    let lost = "fail=cuLaunchKernel:0";
    let right = outcomes(1, lost, &["barrier-in-the-right-place", "--block", "64"]);
    assert_eq!(
        (&right[0]["as_expected"], &right[0]["card"]["answer"]["first_bad"]),
        (&json!(false), &json!(0))
    );
    let racy = outcomes(0, lost, &["block-32-hides-it"]);
    assert_eq!((&racy[0]["as_expected"], &racy[0]["wrong"]), (&json!(true), &racy[0]["elements"]));
    let Answer { stdout, .. } = exhibit(lost, &["barrier-in-the-right-place", "--block", "64"]);
    assert!(
        stdout.ends_with("NOT AS EXPECTED: at 64 threads a block a right answer on the card\n"),
        "{stdout}"
    );
}

#[test]
fn what_need_not_end_runs_on_a_card_only_if_told_to() {
    for name in ["barrier-in-both-arms", "compiler-split-barrier"] {
        let refused = exhibit("", &[name, "--device", "cuda"]);
        assert!(refused.stdout.is_empty());
        assert_one_line(refused, &["--device cuda", "need not end on a card", "--undefined"]);

        let Answer { code, stdout, stderr } = exhibit("", &[name, "--block", "32"]);
        assert_eq!(code, Some(0));
        assert_eq!(stderr.lines().filter(|line| !line.is_empty()).count(), 1, "{stderr}");
        assert!(stderr.contains("so it runs on the emulator; --undefined runs it on the card"), "{stderr}");
        assert!(stdout.contains("device: emulator") && !stdout.contains("GPU: "), "{stdout}");

        assert_right(&[name, "--undefined"], 4);
        assert_right(&[name, "--undefined", "--device", "cuda", "--block", "64"], 1);
    }
}

#[test]
fn a_wrong_answer_of_what_is_undefined_gates_nothing() {
    for name in ["barrier-in-both-arms", "compiler-split-barrier"] {
        let found = outcomes(0, "fail=cuLaunchKernel:0", &[name, "--undefined", "--block", "64"]);
        assert_eq!(found[0]["wrong"], found[0]["elements"]);
    }
}

#[test]
fn a_wedged_launch_is_ended_and_the_next_size_runs() {
    let flags = ["barrier-in-both-arms", "--undefined", "--timeout", "2"];
    let begun = Instant::now();
    let found = outcomes(0, "wedge=64", &flags);
    assert!(begun.elapsed().as_secs() < 60, "it is the launch at 64 that is ended, and at once");
    let cards: Vec<_> = found.iter().map(|outcome| &outcome["card"]).collect();
    assert_eq!(*cards[1], json!({ "no_end_within_s": 2 }));
    for card in [cards[0], cards[2], cards[3]] {
        assert_eq!(card["answer"]["mismatches"], 0, "{card}");
    }
    assert_eq!((&found[1]["wrong"], &found[1]["answer"]), (&Value::Null, &json!("no end within 2 s")));
    let Answer { stdout, .. } = exhibit("wedge=64", &flags);
    assert!(stdout.contains("│    64 │ 192 │ no end within 2 s │"), "{stdout}");
    assert!(stdout.contains("│   128 │ 384 │ right             │"), "{stdout}");
}

#[test]
fn a_launch_that_never_comes_to_its_end_is_ended_too() {
    // The driver answers, and says for ever that the kernel is still running.
    let flags = ["barrier-in-both-arms", "--undefined", "--block", "64", "--timeout", "1"];
    let found = outcomes(0, "fail=cuEventQuery:600", &flags);
    assert_eq!(found[0]["card"], json!({ "no_end_within_s": 1 }));
}

#[test]
fn what_is_sure_to_end_has_to() {
    let found = outcomes(1, "wedge=64", &["needs-a-barrier", "--block", "64", "--timeout", "1"]);
    assert_eq!(found[0]["card"], json!({ "no_end_within_s": 1 }));
    assert_eq!(found[0]["as_expected"], false);
}

#[test]
fn a_fault_is_an_outcome() {
    let undefined = ["barrier-in-both-arms", "--undefined", "--block", "64"];
    let found = outcomes(0, "fail=cuEventQuery:719", &undefined);
    let fault = found[0]["card"]["fault"].as_str().expect("a fault");
    assert_eq!(found[0]["answer"], "a fault");
    assert!(fault.starts_with("running barrier_in_both_arms, 64 threads a block"), "{fault}");
    outcomes(1, "fail=cuEventQuery:719", &["needs-a-barrier", "--block", "64"]);
    let Answer { stdout, .. } = exhibit("fail=cuEventQuery:719", &undefined);
    // As one line, whatever the width.
    let said = stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("a fault") && said.contains(fault), "{stdout}");
}

#[test]
fn what_cannot_run_is_told_in_one_line_before_anything_else() {
    let refused = |settings, parts: &[&str]| {
        let answer = exhibit(settings, &["needs-a-barrier"]);
        assert!(answer.stdout.is_empty(), "{}", answer.stdout);
        assert_one_line(answer, parts);
    };
    refused("fail=cuInit:100", &["the driver sees no card"]);
    refused("ptx=missing", &["reading", "missing"]);
    refused("version=12020,ptx=8.8", &["CUDA 12.2", "install driver 575 (CUDA 12.9)"]);
    refused("capability=70", &["for sm_75"]);
    assert_one_line(start("", &["exhibit", "needs-a-barrier"]), &["no --ptx FILE given"]);
}

#[test]
fn what_cannot_be_launched_is_told_in_one_line() {
    let refused = |settings, flags: &[&str], parts: &[&str]| assert_one_line(exhibit(settings, flags), parts);
    let flags = ["needs-a-barrier", "--block", "64"];
    refused("fail=cuModuleLoadDataEx:218", &flags, &["rejects the PTX", "Parsing error"]);
    refused("fail=cuLaunchKernel:701", &flags, &["launching reverse_tile_racy, 64 threads a block"]);
    refused("", &["ragged-loop", "--undefined"], &["has no kernel ragged_loop"]);
    refused("", &["needs-a-barrier", "--timeout", "0"], &["--timeout"]);
}

#[test]
fn the_emulator_is_in_this_program_too() {
    let Answer { code, stdout, .. } =
        exhibit("fail=cuInit:100", &["needs-a-barrier", "--device", "emulator"]);
    assert_eq!(code, Some(0));
    assert!(stdout.contains("device: emulator"), "{stdout}");
}

#[test]
fn the_answer_is_the_cards_and_the_verdict_the_emulators() {
    // On the emulator this answer is wrong; the made-up card gives the right one.
    let found = outcomes(0, "", &["needs-a-barrier", "--block", "64"]);
    assert_eq!(found[0]["wrong"], 0);
    assert_eq!(found[0]["race"], "RAW hazard, error");
}

#[test]
fn a_launch_by_hand_is_at_a_size_of_the_exhibit() {
    let ptx = folder().join("6.3").display().to_string();
    let launch = |flags: &[&str]| start("", &[&["launch", "--ptx", &ptx], flags].concat());
    assert_one_line(launch(&["--exhibit", "tiled-multiply", "--block", "32"]), &["blocks of 64, 256, 1024"]);
    assert_one_line(launch(&["--exhibit", "tiled", "--block", "64"]), &["did you mean `tiled-multiply`?"]);
    let both = ["--exhibit", "tiled-multiply", "--kernel", "reverse_tile", "--block", "64"];
    assert_one_line(launch(&both), &["cannot be used with"]);
}

#[test]
fn a_launch_does_not_outlive_who_started_it() {
    let flags = ["--exhibit", "needs-a-barrier", "--block", "64", "--supervised"];
    let mut launch = Command::new(env!("CARGO_BIN_EXE_lesson-cuda"))
        .args(["launch", "--ptx"])
        .arg(folder().join("6.3"))
        .args(flags)
        .env("LD_LIBRARY_PATH", folder())
        .env("FAKE_DRIVER", "wedge=64")
        .stdin(Stdio::piped())
        .spawn()
        .expect("it starts");
    thread::sleep(Duration::from_secs(1));
    assert_eq!(launch.try_wait().expect("it can be waited for"), None, "its input is open");
    // This closes it.
    let ended = launch.wait_timeout(Duration::from_secs(20)).expect("it can be waited for");
    let _ = launch.kill();
    assert_eq!(ended.and_then(|status| status.code()), Some(2));
}
