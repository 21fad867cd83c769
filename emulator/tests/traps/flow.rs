//! Control flow around barriers.

use cuda_std::emulator::{FaultKind, Launch, Level};
use cuda_std::{kernel, thread, warp};

use crate::common::{Kernel, Verdict, judge, launch, shapes};

fn wait() {
    thread::sync_threads();
}

fn wait_and_say() -> bool {
    thread::sync_threads();
    true
}

fn wait_if(condition: bool) -> bool {
    if condition {
        thread::sync_threads();
    }
    condition
}

struct Tile;

impl Tile {
    fn sync() {
        thread::sync_threads();
    }
}

shapes! {
    /// A labelled block left above the barrier, and a `return` at the end: the barrier was skipped.
    skipped_by_label(_S, t, _b, out) {
        'skip: {
            if t < 32 {
                break 'skip;
            }
            thread::sync_threads();
        }
        out.add(t).write(1);
        return;
    }

    /// A barrier behind `&&`, and a `return` at the end.
    skipped_by_lazy_and(_S, t, _b, out) {
        let _ = t < 32 && {
            thread::sync_threads();
            true
        };
        out.add(t).write(1);
        return;
    }

    /// One helper in two conditions: two barriers.
    helper_in_two_conditions(_S, t, _b, out) {
        if wait_if(t < 32) {
            out.add(t).write(1);
        }
        if wait_if(t >= 32) {
            out.add(t).write(2);
        }
    }

    /// A function of a type is a helper as well.
    function_of_a_type_in_both_arms(_S, t, _b, out) {
        if t < 32 {
            Tile::sync();
        } else {
            Tile::sync();
        }
        out.add(t).write(1);
    }

    /// `*p += x` reads and writes.
    accumulates(_S, _t, _b, out) {
        let mut out = out;
        *out |= 1;
    }

    /// The right side of `*p += x` comes first, and `p` is computed once.
    accumulates_behind_a_barrier(_S, t, b, out) {
        let mut times = 0;
        *out.add(t) = 5;
        *{
            times += 1;
            out.add(b - times - t)
        } += {
            thread::sync_threads();
            1 + times as u32
        };
    }

    /// One helper called from two places: two barriers, though their line is one.
    helper_in_both_arms(_S, t, _b, out) {
        if t < 32 {
            wait();
        } else {
            wait();
        }
        out.add(t).write(1);
    }

    /// A helper called by all, twice.
    helper_twice(S, t, b, out) {
        S[t].write(t as u32);
        wait();
        let y = S[b - 1 - t].assume_init();
        wait();
        S[t].write(y);
        out.add(t).write(S[t].assume_init());
    }

    /// `continue` past the barrier.
    continue_past(_S, t, _b, out) {
        for trip in 0..2 {
            if trip == 1 && t >= 32 {
                continue;
            }
            thread::sync_threads();
        }
        out.add(t).write(1);
    }

    /// `continue` past a barrier that the next trip has again: the trips part.
    continue_in_the_first_trip(_S, t, _b, out) {
        for trip in 0..2 {
            if trip == 0 && t == 3 {
                continue;
            }
            thread::sync_threads();
        }
        out.add(t).write(1);
    }

    /// Some leave both loops early.
    labelled_break(_S, t, _b, out) {
        'outer: for i in 0..3 {
            for _ in 0..2 {
                if t >= 40 && i == 1 {
                    break 'outer;
                }
                thread::sync_threads();
            }
        }
        out.add(t).write(1);
    }

    /// All leave both loops early.
    labelled_break_by_all(S, t, b, out) {
        let mut acc = 0;
        'outer: for i in 0..3 {
            for j in 0..2 {
                if i == 1 && j == 1 {
                    break 'outer;
                }
                S[t].write(t as u32);
                thread::sync_threads();
                acc += S[b - 1 - t].assume_init();
                thread::sync_threads();
            }
        }
        out.add(t).write(acc);
    }

    /// Out of a labelled block, over its barrier.
    break_out_of_a_block(_S, t, _b, out) {
        'block: {
            if t >= 32 {
                break 'block;
            }
            thread::sync_threads();
        }
        out.add(t).write(1);
    }

    /// Out of a labelled block that has no barrier; all meet at one behind it.
    break_above_the_barrier(S, t, b, out) {
        let x = 'block: {
            if t < 32 {
                wait_for_nobody();
                break 'block 1;
            }
            2
        };
        S[t].write(x);
        thread::sync_threads();
        out.add(t).write(S[b - 1 - t].assume_init());
    }

    /// Loops within loops, the inner trips the same for all.
    nested_loops(S, t, b, out) {
        let mut acc = 0;
        for i in 0..3 {
            for j in 0..=i {
                S[t].write(i * 10 + j);
                thread::sync_threads();
                acc += S[b - 1 - t].assume_init();
                thread::sync_threads();
            }
        }
        out.add(t).write(acc);
    }

    /// The barrier stands in one arm; who takes the other returns there, behind more branches.
    return_in_the_other_arm(S, t, _b, out) {
        if t < 32 {
            S[t].write(t as u32);
            thread::sync_threads();
            out.add(t).write(S[31 - t].assume_init());
        } else {
            for _ in 0..2 {
                wait_for_nobody();
            }
            if t == 40 {
                wait_for_nobody();
            }
            return;
        }
        out.add(64 + t).write(1);
    }

    /// The same, with `match`.
    return_in_another_arm_of_a_match(_S, t, _b, out) {
        match t / 16 {
            0 | 1 => {
                thread::sync_threads();
                out.add(t).write(1);
            }
            2 => {
                if t == 40 {
                    wait_for_nobody();
                }
                return;
            }
            _ => return,
        }
        out.add(64 + t).write(1);
    }

    /// The arms of a `match` each have a barrier.
    barrier_in_each_arm(_S, t, _b, out) {
        match t % 3 {
            0 => thread::sync_threads(),
            1 => thread::sync_threads(),
            _ => thread::sync_threads(),
        }
        out.add(t).write(1);
    }

    /// The right side of `&&` is a branch.
    lazy_barrier(_S, t, _b, out) {
        let waited = t < 32 && wait_and_say();
        out.add(t).write(u32::from(waited));
    }

    /// `while` with a bound that depends on the thread.
    ragged_while(_S, t, _b, out) {
        let mut left = t / 32 + 1;
        while left > 0 {
            thread::sync_threads();
            left -= 1;
        }
        out.add(t).write(1);
    }

    /// Half a warp waits for the other half, which is at the block barrier.
    half_a_warp(_S, t, _b, out) {
        if t % 32 < 16 {
            warp::sync_warp(u32::MAX);
        }
        thread::sync_threads();
        out.add(t).write(1);
    }

    /// Half a warp waits for the other half, which exits.
    half_a_warp_exits(S, t, _b, out) {
        if t % 32 >= 16 {
            return;
        }
        S[t].write(t as u32);
        warp::sync_warp(u32::MAX);
        out.add(t).write(S[t ^ 1].assume_init());
    }

    /// Two halves of a warp, each with its own mask.
    masks_that_do_not_meet(S, t, _b, out) {
        S[t].write(t as u32);
        warp::sync_warp(if t % 32 < 16 { 0xffff } else { 0xffff_0000 });
        out.add(t).write(S[t ^ 16].assume_init());
    }

    /// Two lanes name each other with different masks.
    masks_that_disagree(_S, t, _b, out) {
        if t < 2 {
            warp::sync_warp(if t == 0 { 0b11 } else { 0b111 });
        }
        out.add(t).write(1);
    }
}

fn wait_for_nobody() {}

#[test]
fn verdicts() {
    let divergent = Verdict::divergent;
    let clean = Verdict::clean;
    let stuck = || Verdict { stuck: true, ..Verdict::clean() };
    let table: [(&str, Kernel, Verdict); 22] = [
        ("helper in both arms", helper_in_both_arms, divergent()),
        ("helper twice", helper_twice, clean()),
        ("continue past", continue_past, divergent()),
        ("continue in the first trip", continue_in_the_first_trip, divergent()),
        ("labelled break", labelled_break, divergent()),
        ("labelled break by all", labelled_break_by_all, clean()),
        ("break out of a block", break_out_of_a_block, divergent()),
        ("break above the barrier", break_above_the_barrier, clean()),
        ("nested loops", nested_loops, clean()),
        ("return in the other arm", return_in_the_other_arm, clean()),
        ("return in another arm of a match", return_in_another_arm_of_a_match, clean()),
        ("barrier in each arm", barrier_in_each_arm, divergent()),
        ("lazy barrier", lazy_barrier, divergent()),
        ("ragged while", ragged_while, divergent()),
        ("half a warp", half_a_warp, stuck()),
        ("half a warp exits", half_a_warp_exits, clean()),
        ("masks that do not meet", masks_that_do_not_meet, {
            Verdict::race(&[cuda_std::emulator::Kind::Raw], Level::Warning)
        }),
        ("masks that disagree", masks_that_disagree, stuck()),
        ("skipped by label", skipped_by_label, divergent()),
        ("skipped by lazy and", skipped_by_lazy_and, divergent()),
        ("helper in two conditions", helper_in_two_conditions, divergent()),
        ("function of a type in both arms", function_of_a_type_in_both_arms, divergent()),
    ];
    for (name, kernel, expected) in table {
        assert_eq!(judge(1, 64, kernel), expected, "{name}");
    }
}

/// Plain writes of the same value are an info; these read as well.
#[test]
fn an_update_in_place_is_a_read_and_a_write() {
    let (report, _) = launch(Launch::new(1, 64), 128, accumulates);
    assert_eq!(report.race(), Some(Level::Error), "{report:#?}");
    assert!(report.hazards.iter().any(|hazard| !hazard.first.writes || !hazard.second.writes));
}

#[test]
fn an_update_in_place_goes_in_rusts_order() {
    let (report, out) = launch(Launch::new(1, 64), 128, accumulates_behind_a_barrier);
    assert!(report.is_clean(), "{report:#?}");
    assert_eq!(out[..64], [6; 64]);
}

/// The trip that all leave in is the one that the answer shows.
#[test]
fn answers_of_the_clean_ones() {
    let out = |kernel: Kernel| {
        let (_, mut out) = launch(Launch::new(1, 64), 128, kernel);
        out.truncate(64);
        out
    };
    let reversed: Vec<u32> = (0..64).rev().collect();
    assert_eq!(out(helper_twice), reversed);
    assert_eq!(out(labelled_break_by_all), reversed.iter().map(|t| 3 * t).collect::<Vec<_>>());
    assert_eq!(out(nested_loops), [10 + 11 + 20 + 21 + 22; 64]);
}

/// Adding waits.
#[derive(Clone, Copy)]
struct Waits;

impl std::ops::Add for Waits {
    type Output = ();

    fn add(self, _: Self) {
        thread::sync_threads();
    }
}

const WAITS: Waits = Waits;

#[kernel]
unsafe fn barrier_in_an_operator(out: *mut u32) {
    WAITS + WAITS;
    // SAFETY: there is an element for each thread.
    unsafe { *out.add(thread::thread_idx_x() as usize) = 1 };
}

#[test]
fn a_barrier_in_an_operator_is_named() {
    let (report, _) = launch(Launch::new(1, 64), 64, barrier_in_an_operator);
    let fault = report.fault.expect("the thread cannot wait there");
    assert_eq!((fault.what, fault.thread % 32), (FaultKind::HiddenBarrier, 0));
    assert!(fault.site.is_some_and(|site| site.file_name() == "flow.rs"));
}
