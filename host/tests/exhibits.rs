//! The table of exhibits against the emulator: every exhibit, block size, policy.

use std::collections::HashSet;
use std::fs;

use command::project::root;
use cuda_std::emulator::{Level, Policy};
use host::answer::Answer;
use host::exhibits::{
    Blocks, EXHIBITS, Ending, Exhibit, Guess, Listing, Outcome, Race, find, launch, results,
};

const POLICIES: [Policy; 3] = [Policy::Lockstep, Policy::Independent, Policy::Random];

fn named(name: &str) -> &'static Exhibit {
    find(name).expect("the exhibit exists")
}

#[track_caller]
fn check(exhibit: &Exhibit, block: u32, policy: Policy, seed: u64) -> Outcome {
    let outcome = launch(exhibit, block, policy, seed).expect("the launch is within CUDA's limits");
    assert!(
        outcome.as_expected,
        "{} in blocks of {block}, {policy:?}, seed {seed}: {} of {} wrong, {:#?}",
        exhibit.name,
        outcome.wrong_at.len(),
        outcome.len,
        outcome.report
    );
    outcome
}

#[test]
fn every_verdict_holds_at_every_size_under_every_policy() {
    for exhibit in EXHIBITS {
        for &block in exhibit.blocks.shown() {
            for policy in POLICIES {
                for seed in 0..3 {
                    check(exhibit, block, policy, seed);
                }
            }
        }
    }
}

#[test]
fn a_verdict_for_any_number_of_warps_holds_beyond_the_sizes_shown() {
    for exhibit in EXHIBITS.iter().filter(|exhibit| matches!(exhibit.blocks, Blocks::WholeWarps(_))) {
        for block in [32, 96, 512, 1024] {
            assert!(exhibit.blocks.allow(block));
            check(exhibit, block, exhibit.policy, 1);
        }
        assert!(![0, 31, 33, 1056].into_iter().any(|block| exhibit.blocks.allow(block)));
    }
}

#[test]
fn the_marked_lines_are_those_of_a_race() {
    for exhibit in EXHIBITS {
        let lines = Listing::new(exhibit).marked();
        assert_eq!(lines.len(), 2, "{}: {:?} mark {lines:?}", exhibit.name, exhibit.marks);
        for &block in exhibit.blocks.shown() {
            let outcome = check(exhibit, block, exhibit.policy, 0);
            let hazards = &outcome.report.hazards;
            let marked = |line: u32| lines.contains(&(line as usize));
            let both = hazards.iter().any(|h| marked(h.first.site.line()) && marked(h.second.site.line()));
            assert!(hazards.is_empty() || both, "{}: {hazards:#?}", exhibit.name);
        }
    }
}

#[test]
fn the_table_is_consistent() {
    let mut names = HashSet::new();
    for exhibit in EXHIBITS {
        let name = exhibit.name;
        assert!(names.insert(name), "{name} twice");
        assert!(exhibit.proves.ends_with('.') && exhibit.question.ends_with('?'), "{name}");
        for kernel in exhibit.call.names() {
            assert!(exhibit.page.text.contains(&format!("pub unsafe fn {kernel}(")), "{name}");
        }
        for expected in [exhibit.one_warp, exhibit.more_warps] {
            assert!(!expected.is_clean() || exhibit.reference.is_some(), "{name}: what is right?");
            assert!(!(expected.divergent && exhibit.terminates), "{name}: a divergent barrier may hang");
            assert_eq!(expected.divergent, expected.race == Race::NotJudged, "{name}");
        }
    }
}

#[test]
fn every_kernel_is_an_exhibit() {
    for entry in fs::read_dir(root().expect("the project").join("kernels-gpu/src/exhibits"))
        .expect("the folder is there")
    {
        let file = entry.expect("an entry").file_name().into_string().expect("UTF-8");
        let path = format!("kernels-gpu/src/exhibits/{file}");
        assert!(file == "mod.rs" || EXHIBITS.iter().any(|exhibit| exhibit.page.path == path), "{path}");
    }
}

#[test]
fn a_verdict_that_does_not_hold_is_told() {
    let exhibit = Exhibit { one_warp: named("two-writers").one_warp, ..*named("loop-two-barriers") };
    let outcome = launch(&exhibit, 32, Policy::Lockstep, 0).expect("a launch");
    assert!(!outcome.as_expected);
    let text = results(&exhibit, &[outcome]);
    assert!(text.contains("NOT AS EXPECTED: at 32 threads a block race WAW hazard, error"), "{text}");
}

#[test]
fn a_wrong_answer_of_a_right_kernel_is_not_as_expected() {
    let exhibit = Exhibit { reference: named("uniform-if").reference, ..*named("warp-scope-synced") };
    let outcome = launch(&exhibit, 64, Policy::Lockstep, 0).expect("a launch");
    assert!(!outcome.as_expected && outcome.wrong > Some(0));
    let text = results(&exhibit, &[outcome]);
    assert!(text.contains("NOT AS EXPECTED: at 64 threads a block a right answer, race none"), "{text}");
}

#[test]
fn a_guess_is_about_the_answer_of_the_card_where_there_is_one() {
    let exhibit = named("needs-a-barrier");
    let guess = Guess::read("right race").expect("a guess");
    let outcome = check(exhibit, 64, Policy::Lockstep, 0);
    let said = guess.compare(&outcome);
    assert!(said.contains("the answer came out wrong, and nothing promises that;"), "{said}");
    let right = Answer { elements: outcome.len, mismatches: Some(0), first_bad: None };
    let on_card = outcome.clone().beside(exhibit, Ending::Answer(right));
    let said = guess.compare(&on_card);
    assert!(said.contains("the answer came out right, and nothing promises that;"), "{said}");
    assert!(said.ends_with(" verdict is race, as you said"), "{said}");
    let hung = outcome.beside(exhibit, Ending::NoEndWithinS(20));
    assert_eq!(guess.compare(&hung), "64 threads a block: the verdict is race, as you said");
}

#[test]
fn the_middle_warp_of_three_is_right_by_luck() {
    let outcome = check(named("odd-warp"), 96, Policy::Lockstep, 0);
    assert!(!outcome.wrong_at.is_empty());
    assert!(outcome.wrong_at.iter().all(|index| index % 96 / 32 != 1), "{:?}", outcome.wrong_at);
    let levels: Vec<_> = outcome.report.hazards.iter().map(|hazard| hazard.level).collect();
    assert_eq!(levels, [Level::Error, Level::Warning]);
}

/// One warp hides the race while its lanes step together, and no longer when they run apart.
#[test]
fn independent_lanes_bring_out_the_race_of_one_warp() {
    let exhibit = named("partial-block");
    assert_eq!(check(exhibit, 32, Policy::Lockstep, 0).wrong, Some(0));
    assert!((0..4).all(|seed| check(exhibit, 32, Policy::Independent, seed).wrong > Some(0)));
}

/// Undefined, and right all the same: the answer is no evidence.
#[test]
fn answers_come_out_right_where_nothing_promises_it() {
    let lucky = ["block-32-hides-it", "thread-dependent-if", "barrier-in-both-arms", "warp-scope"];
    for name in lucky.map(named) {
        for &block in name.blocks.shown() {
            let outcome = check(name, block, Policy::Lockstep, 0);
            assert_eq!(outcome.wrong, Some(0), "{} in blocks of {block}", name.name);
        }
    }
}
