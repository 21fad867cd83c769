//! Kernels under many schedules.
//!
//! 100,000 interleavings of each defined kernel:
//! `cargo test --release -p host --test explore -- --ignored --nocapture`

use std::process::Command;

use cuda_std::emulator::{Level, Policy, Schedule};
use host::args::Engine;
use host::explore::{Size, Subject, explore, subject, subjects};

/// Two warps where the kernel is for that, and else the smallest that it is for.
fn size(subject: &dyn Subject) -> Size {
    let blocks = subject.blocks();
    let block = if blocks.is_empty() || blocks.contains(&64) { 64 } else { blocks[0] };
    // Of the lesson's kernels two blocks, the second half full.
    Size { block, n: 96 }
}

/// Every defined kernel there is.
fn no_false_alarm(interleavings: usize, policies: &[Policy]) {
    let subjects = subjects();
    let mut judged = 0;
    for subject in &subjects {
        let size = size(&**subject);
        if !subject.defined(size.block) {
            continue;
        }
        judged += 1;
        for &policy in policies {
            let explored =
                explore(&**subject, Engine::Source, size, policy, 0, interleavings).expect("a legal launch");
            println!(
                "{}, {}: {} different interleavings in {} runs, {} findings, {:?} wrong, {} outputs",
                subject.name(),
                policy.name(),
                explored.interleavings,
                explored.runs,
                explored.findings,
                explored.wrong,
                explored.outputs
            );
            assert_eq!(explored.interleavings, interleavings);
            let found = (explored.findings, explored.wrong, explored.outputs);
            assert_eq!(found, (0, Some(0), 1), "{explored:?}");
        }
    }
    assert!(judged >= 2);
}

#[test]
fn no_false_alarm_in_a_thousand_interleavings() {
    no_false_alarm(1_000, &[Policy::Random]);
}

#[test]
#[ignore = "minutes; the command is at the top of the file"]
fn no_false_alarm_in_a_hundred_thousand_interleavings() {
    no_false_alarm(100_000, &[Policy::Random]);
}

#[test]
fn every_order_of_a_defined_kernel_is_fine() {
    for name in ["reverse_tile_synced", "reverse_tile_prefix"] {
        let subject = subject(name).expect("a kernel of the lesson");
        let size = Size { block: 3, n: 3 };
        let explored =
            explore(&*subject, Engine::Source, size, Policy::Exhaustive, 0, 10_000).expect("a small block");
        assert!(explored.complete, "{explored:?}");
        let found = (explored.findings, explored.wrong, explored.outputs);
        assert_eq!(found, (0, Some(0), 1), "{explored:?}");
    }
}

/// The race is there under every schedule, whatever the answer was; and what a schedule shows it shows again.
#[test]
fn the_racy_kernel_is_found_under_every_schedule() {
    let racy = subject("reverse_tile_racy").expect("a kernel of the lesson");
    for (block, level) in [(32, Level::Warning), (64, Level::Error)] {
        let size = Size { block, n: block as usize };
        for policy in [Policy::Lockstep, Policy::Independent, Policy::Random] {
            let explored = explore(&*racy, Engine::Source, size, policy, 5, 50).expect("a legal launch");
            assert_eq!(explored.findings, explored.runs);
            let first = explored.first_finding.expect("found");
            assert_eq!(first.report.race(), Some(level));
            if let Some(wrong) = explored.first_wrong {
                let again: Schedule = wrong.schedule.to_string().parse().expect("a schedule");
                let ran = racy.run(Engine::Source, size, &again).expect("a legal launch");
                assert_eq!((ran.mismatches, ran.report), (wrong.mismatches, wrong.report));
            }
        }
    }
}

#[test]
fn an_unknown_name_is_told_with_the_nearest() {
    for (name, nearest) in [("reverse_tile_raci", "reverse_tile_racy"), ("raged-loop", "ragged-loop")] {
        let error = subject(name).err().expect("no such kernel").to_string();
        assert_eq!(error, format!("no exhibit is called {name:?}; did you mean `{nearest}`?"));
    }
}

#[test]
fn an_exhibit_is_explored_at_its_own_first_size() {
    for (kernel, block) in [("block-32-hides-it", 32), ("odd-warp", 96), ("reverse_tile_synced", 64)] {
        let output = Command::new(env!("CARGO_BIN_EXE_explore")).args([kernel, "--schedules", "2"]).output();
        let output = output.expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{output:?}");
        assert!(text.starts_with(&format!("{kernel}, in blocks of {block} threads\n")), "{text}");
    }
}

#[test]
fn where_nobody_knows_the_right_answer_none_is_called_right() {
    let explore = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_explore")).args(args).output().expect("it starts");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    for kernel in ["ragged-loop", "two-writers", "uninitialised-slot"] {
        for flags in [["--schedules", "2"], ["--replay", "random:0"]] {
            let text = explore(&[&[kernel], &flags[..]].concat());
            assert!(text.contains("ended: there is no right answer to compare with"), "{text}");
            assert!(!text.contains("the answer is right"), "{text}");
        }
    }
    assert!(explore(&["uniform-if", "--schedules", "2"]).contains("runs with a wrong answer 0\n"));
}
