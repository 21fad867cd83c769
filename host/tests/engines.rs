//! Every kernel of the project on both engines: the emulator, which runs the source, and the one that executes PTX.

use std::collections::BTreeSet;

use cuda_std::emulator::{Level, Policy, Report, Schedule};
use host::args::Engine;
use host::exhibits::{EXHIBITS, launch_on_engine};
use host::explore::{Size, subject};

/// What has to be the same: kinds and levels of hazards, divergence, uninitialised reads, misuse, a fault.
fn verdict(report: &Report) -> (BTreeSet<(&'static str, &'static str)>, [bool; 4]) {
    let hazards = report.hazards.iter().map(|hazard| (hazard.kind.name(), hazard.level.name())).collect();
    let found = [
        report.divergence.is_some(),
        !report.uninitialised.is_empty(),
        !report.warp_misuse.is_empty(),
        report.fault.is_some(),
    ];
    (hazards, found)
}

/// The exhibit whose writes go to a copy: nothing of them is in PTX, only that the tile is uninitialised.
const LOST_IN_SOURCE: &str = "write-to-a-copy";

/// The exhibit whose threads skip a barrier in order to write one element and to exit. In PTX that is no other thing than
/// an exit above the barrier, which is legal and orders nothing: a race instead.
const SKIPPED_IN_SOURCE: &str = "thread-dependent-if";

#[test]
fn every_exhibit_has_one_verdict_and_one_defined_answer() {
    for exhibit in EXHIBITS {
        for &block in exhibit.blocks.shown() {
            for seed in 0..3 {
                let schedule = Schedule::seeded(exhibit.policy, seed);
                let launch =
                    |engine| launch_on_engine(engine, exhibit, block, &schedule).expect("a legal launch").0;
                let (source, ptx) = (launch(Engine::Source), launch(Engine::Ptx));
                let what = format!("{} in blocks of {block}, seed {seed}", exhibit.name);
                if exhibit.name == SKIPPED_IN_SOURCE {
                    assert!(source.report.divergence.is_some() && ptx.report.race().is_some(), "{what}");
                } else {
                    assert_eq!(verdict(&source.report), verdict(&ptx.report), "{what}");
                }
                assert!(source.as_expected && ptx.as_expected, "{what}");
                assert_eq!(ptx.report.lost_writes.len(), 0, "{what}");
                assert_eq!(!source.report.lost_writes.is_empty(), exhibit.name == LOST_IN_SOURCE, "{what}");
                if exhibit.expected(block).is_clean() {
                    let bits = |out: &[f32]| out.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                    assert_eq!(bits(&source.out), bits(&ptx.out), "{what}");
                }
            }
        }
    }
}

#[test]
fn the_lesson_has_one_verdict_and_one_defined_answer() {
    for name in ["reverse_tile_racy", "reverse_tile_synced", "reverse_tile_prefix"] {
        let subject = subject(name).expect("a kernel of the lesson");
        for policy in [Policy::Lockstep, Policy::Independent, Policy::Random] {
            for block in [1, 32, 33, 64, 256] {
                let size = Size { block, n: 3 * block as usize - (block / 2) as usize };
                let schedule = Schedule::seeded(policy, 7);
                let run = |engine| subject.run(engine, size, &schedule).expect("a legal launch");
                let (source, ptx) = (run(Engine::Source), run(Engine::Ptx));
                let what = format!("{name} in blocks of {block}, {policy:?}");
                assert_eq!(verdict(&source.report), verdict(&ptx.report), "{what}");
                if subject.defined(block) {
                    assert_eq!(source.output, ptx.output, "{what}");
                }
            }
        }
    }
}

#[test]
fn a_race_across_warps_is_an_error_on_both() {
    let racy = subject("reverse_tile_racy").expect("a kernel of the lesson");
    for engine in [Engine::Source, Engine::Ptx] {
        let schedule = Schedule::seeded(Policy::Lockstep, 0);
        let ran = racy.run(engine, Size { block: 64, n: 128 }, &schedule).expect("a legal launch");
        assert_eq!(ran.report.race(), Some(Level::Error));
    }
}
