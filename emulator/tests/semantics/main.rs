//! The table of shapes and verdicts: every row, every column, at every block size the row allows.
//!
//! The expected columns were written down from CUDA's rules (and, in the rightmost column of the
//! design's table, what an NVIDIA H200's tools said) before the checker was run.

mod shapes;

use cuda_std::emulator::{GlobalMemory, Kind, Launch, Level, Policy, Report};

/// What the race column says.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Race {
    None,
    NotJudged,
    /// At 32 threads, and above.
    Found(Kind, Level, Level),
}

#[derive(Clone, Copy)]
struct Row {
    number: u32,
    kernel: unsafe fn(*mut u32),
    race: Race,
    divergent: bool,
    uninitialised: bool,
    blocks: u32,
    /// The row asks for a power of two.
    power_of_two: bool,
}

const SIZES: [u32; 5] = [32, 64, 96, 128, 256];

fn table() -> Vec<Row> {
    use Kind::{Raw, War, Waw};
    use Level::{Error, Info, Warning};
    let row = |number, kernel: unsafe fn(*mut u32), race| Row {
        number,
        kernel,
        race,
        divergent: race == Race::NotJudged,
        uninitialised: false,
        blocks: 1,
        power_of_two: false,
    };
    let raw = Race::Found(Raw, Warning, Error);
    vec![
        row(1, shapes::no_barrier, raw),
        row(2, shapes::one_barrier, Race::None),
        row(3, shapes::barrier_below, raw),
        row(4, shapes::early_return, Race::None),
        row(5, shapes::exited_writer, raw),
        row(6, shapes::skipped, Race::NotJudged),
        row(7, shapes::both_arms_by_half, Race::NotJudged),
        row(8, shapes::both_arms_by_parity, Race::NotJudged),
        Row { blocks: 3, ..row(9, shapes::uniform_if, Race::None) },
        row(10, shapes::loop_one_barrier, Race::Found(War, Warning, Error)),
        row(11, shapes::loop_two_barriers, Race::None),
        row(12, shapes::neighbour, Race::Found(Raw, Warning, Warning)),
        row(13, shapes::neighbour_warp_synced, Race::None),
        row(14, shapes::two_writers, Race::Found(Waw, Error, Error)),
        row(15, shapes::same_value, Race::Found(Waw, Info, Info)),
        Row { uninitialised: true, ..row(16, shapes::half_written, Race::None) },
        row(17, shapes::ragged_loop, Race::NotJudged),
        Row { power_of_two: true, ..row(18, shapes::butterfly, Race::None) },
        Row { uninitialised: true, blocks: 2, ..row(19, shapes::guard_by_return, Race::None) },
        Row { blocks: 2, ..row(20, shapes::two_blocks, Race::Found(Waw, Error, Error)) },
    ]
}

fn launch(row: &Row, size: u32, policy: Policy, seed: u64) -> (Report, Vec<u32>) {
    let mut out = vec![0; 4 * size as usize];
    let mut memory = GlobalMemory::new();
    let pointer = memory.lend("out", &mut out);
    // Blocks of row 9 share `out`; each writes what the others write, and only row 20 asks about that.
    // SAFETY: `out` has room for all that a kernel writes; the emulator checks it.
    let kernel = || unsafe { (row.kernel)(pointer.as_mut_ptr()) };
    let launch = Launch::new(row.blocks, size).policy(policy).seed(seed);
    let report = launch.run(&mut memory, kernel).expect("the launch is within CUDA's limits");
    (report, out)
}

fn check(row: &Row, size: u32, policy: Policy, seed: u64) {
    let (mut report, _) = launch(row, size, policy, seed);
    if row.number == 9 {
        report.hazards.retain(|hazard| hazard.place.name != "out");
    }
    let at = format!("row {} at {size} threads, {policy:?}, seed {seed}: {report:#?}", row.number);
    assert_eq!(report.fault, None, "{at}");
    assert_eq!(report.divergence.is_some(), row.divergent, "{at}");
    assert_eq!(!report.uninitialised.is_empty(), row.uninitialised, "{at}");
    match row.race {
        Race::None | Race::NotJudged => assert_eq!(report.hazards, [], "{at}"),
        Race::Found(kind, at_32, above) => {
            let level = if size == 32 { at_32 } else { above };
            assert_eq!(report.race(), Some(level), "{at}");
            assert!(report.hazards.iter().all(|hazard| hazard.kind == kind), "{at}");
        }
    }
}

fn sizes(row: &Row) -> impl Iterator<Item = u32> {
    let power_of_two = row.power_of_two;
    SIZES.into_iter().filter(move |size| !power_of_two || size.is_power_of_two())
}

#[test]
fn every_row_at_every_size_under_every_policy() {
    for row in table() {
        for size in sizes(&row) {
            for policy in [Policy::Lockstep, Policy::Independent, Policy::Random] {
                for seed in 0..3 {
                    check(&row, size, policy, seed);
                }
            }
        }
    }
}

/// At 96 threads the middle warp reads what it wrote itself: alone it would be a warning.
#[test]
fn odd_warp_is_a_warning_by_itself() {
    let (report, _) = launch(&table()[0], 96, Policy::Lockstep, 0);
    let levels: Vec<_> = report.hazards.iter().map(|hazard| (hazard.level, hazard.bytes)).collect();
    assert_eq!(levels, [(Level::Error, 64 * 4), (Level::Warning, 32 * 4)]);
}

/// The number of hazards does not depend on the schedule.
#[test]
fn bytes_do_not_depend_on_the_schedule() {
    for row in table() {
        for size in sizes(&row) {
            let bytes = |policy, seed| launch(&row, size, policy, seed).0.hazard_bytes();
            let expected = bytes(Policy::Lockstep, 0);
            for policy in [Policy::Independent, Policy::Random] {
                for seed in 1..4 {
                    assert_eq!(bytes(policy, seed), expected, "row {} at {size}", row.number);
                }
            }
        }
    }
}

/// Only the defined rows promise an answer; those are right under every schedule.
#[test]
fn defined_rows_are_right() {
    let reversed = |size: u32| (0..size).rev().collect::<Vec<_>>();
    let rows = table();
    for size in SIZES {
        for seed in 0..4 {
            for policy in [Policy::Lockstep, Policy::Independent, Policy::Random] {
                let out = |number: usize| launch(&rows[number - 1], size, policy, seed).1;
                assert_eq!(out(2)[..size as usize], reversed(size));
                let keep = size / 2 + 5;
                assert_eq!(out(4)[..keep as usize], reversed(keep));
                let twice: Vec<_> = (0..size).map(|t| t ^ 1).collect();
                assert_eq!(out(13)[..size as usize], twice);
                if size.is_power_of_two() {
                    assert!(out(18)[..size as usize].iter().all(|&sum| sum == size * (size - 1) / 2));
                }
            }
        }
    }
}
