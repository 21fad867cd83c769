//! Mutants of defined kernels: each barrier deleted, moved and doubled. Every mutant was labelled by hand,
//! harmless ones included, before the checker was asked.

#[path = "../common/mod.rs"]
mod common;
mod kernels;

use common::{Verdict, judge_with};
use cuda_std::emulator::{Kind, Level};

type Kernel = unsafe fn(*mut u32, u32);

/// What was done, where barriers are now, and what that makes of the kernel.
type Mutant = (&'static str, &'static [u32], Verdict);

fn race(kinds: &[Kind], level: Level) -> Verdict {
    Verdict::race(kinds, level)
}

fn raw() -> Verdict {
    race(&[Kind::Raw], Level::Error)
}

fn table() -> Vec<(&'static str, Kernel, u32, Vec<Mutant>)> {
    use Kind::{Raw, War};
    use Level::{Error, Warning};
    let clean = Verdict::clean;
    vec![
        (
            "reverse",
            kernels::reverse,
            2,
            vec![
                ("as written", &[1], clean()),
                ("deleted", &[], raw()),
                ("moved above the write", &[0], raw()),
                // Half of the last block lives on past it. In the first block it would be fine.
                ("moved into the guard", &[3], Verdict::divergent()),
                ("moved below the read", &[4], raw()),
                ("doubled", &[1, 2], clean()),
                ("one more above the write", &[0, 1], clean()),
                ("one more below the read", &[1, 4], clean()),
                ("one more in the guard", &[1, 3], Verdict::divergent()),
            ],
        ),
        (
            "prefix",
            kernels::prefix,
            1,
            vec![
                ("as written", &[2], clean()),
                ("deleted", &[], raw()),
                ("moved above the return", &[0], raw()),
                ("moved above the write", &[1], raw()),
                // Before it, nothing orders the writes before the reads of those who go past it.
                ("moved into a branch", &[4], Verdict { divergent: true, ..raw() }),
                ("moved below the read", &[5], raw()),
                ("doubled", &[2, 3], clean()),
                ("one more above the return", &[0, 2], clean()),
                ("one more in a branch", &[2, 4], Verdict::divergent()),
                ("one more below the read", &[2, 5], clean()),
            ],
        ),
        (
            "again",
            kernels::again,
            1,
            vec![
                ("as written", &[2, 4], clean()),
                ("first deleted", &[4], raw()),
                ("second deleted", &[2], race(&[War], Error)),
                ("both deleted", &[], race(&[Raw, War], Error)),
                ("first moved above the loop", &[0, 4], raw()),
                ("first moved above the write", &[1, 4], raw()),
                ("first moved below the read", &[4, 5], raw()),
                ("second moved to the loop's head", &[1, 2], clean()),
                ("second moved above the read", &[2, 3], race(&[War], Error)),
                ("second moved below the loop", &[2, 6], race(&[War], Error)),
                ("first doubled", &[2, 3, 4], clean()),
                ("second doubled", &[2, 4, 5], clean()),
                ("one more above the loop", &[0, 2, 4], clean()),
                ("one more below the loop", &[2, 4, 6], clean()),
            ],
        ),
        (
            "butterfly",
            kernels::butterfly,
            1,
            vec![
                ("as written", &[0, 2, 3], clean()),
                // In the first trip the partner is a neighbour in the warp.
                ("first deleted", &[2, 3], race(&[Raw], Warning)),
                ("second deleted", &[0, 3], race(&[War], Error)),
                ("third deleted", &[0, 2], raw()),
                ("first moved to the loop's head", &[1, 2, 3], clean()),
                ("second moved above the read", &[0, 1, 3], race(&[War], Error)),
                ("second moved below the write", &[0, 3, 4], race(&[War], Error)),
                ("third moved to the loop's head", &[0, 1, 2], clean()),
                ("third moved below the loop", &[0, 2, 5], raw()),
                ("first two become one at the loop's head", &[1, 2], clean()),
                ("third doubled", &[0, 2, 3, 4], clean()),
                ("one more below the loop", &[0, 2, 3, 5], clean()),
            ],
        ),
        (
            "tree",
            kernels::tree,
            1,
            vec![
                ("as written", &[1], clean()),
                ("deleted", &[], raw()),
                // With 64 threads, all but the first trip is within one warp.
                ("moved above the loop", &[0], race(&[Raw], Warning)),
                // The first trip reads across the halves before any barrier.
                ("moved into the guard", &[3], Verdict { divergent: true, ..raw() }),
                ("moved to the loop's end", &[4], raw()),
                ("moved below the loop", &[5], raw()),
                ("split: above the loop and at its end", &[0, 4], clean()),
                ("doubled", &[1, 2], clean()),
                ("one more in the guard", &[1, 3], Verdict::divergent()),
                ("one more below the loop", &[1, 5], clean()),
            ],
        ),
        (
            "by_block",
            kernels::by_block,
            2,
            vec![
                ("as written", &[0], clean()),
                ("deleted", &[], raw()),
                ("moved below the read", &[2], raw()),
                ("moved below the branch", &[3], raw()),
                ("doubled", &[0, 1], clean()),
                ("one more below the branch", &[0, 3], clean()),
            ],
        ),
        (
            "neighbours",
            kernels::neighbours,
            1,
            vec![
                ("as written", &[1], clean()),
                ("deleted", &[], race(&[Raw], Warning)),
                ("moved above the write", &[0], race(&[Raw], Warning)),
                ("moved below the read", &[5], race(&[Raw], Warning)),
                ("doubled", &[1, 2], clean()),
                ("made a block barrier", &[3], clean()),
                ("made a block barrier below the read", &[4], race(&[Raw], Warning)),
                ("one more below the read", &[1, 5], clean()),
            ],
        ),
    ]
}

#[test]
fn every_mutant_is_what_its_label_says() {
    let (mut killed, mut harmful, mut spared, mut harmless) = (0, 0, 0, 0);
    let mut wrong = Vec::new();
    for (kernel, run, blocks, mutants) in table() {
        for (what, places, label) in mutants {
            let at = places.iter().fold(0, |at, place| at | 1 << place);
            // SAFETY: `judge_with` lends room for all that the kernels write; the emulator checks it.
            let verdict = judge_with(blocks, 64, |out| unsafe { run(out, at) });
            let agrees = usize::from(verdict == label);
            if label == Verdict::clean() {
                (spared, harmless) = (spared + agrees, harmless + 1);
            } else {
                (killed, harmful) = (killed + agrees, harmful + 1);
            }
            if agrees == 0 {
                wrong.push(format!("{kernel}, {what}: {verdict:?}, labelled {label:?}"));
            }
        }
    }
    println!("{killed}/{harmful} harmful mutants killed, {spared}/{harmless} harmless ones spared");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
