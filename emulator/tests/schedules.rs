//! Schedules: every order of a small block, and running one again.

#[path = "common/shapes.rs"]
mod shapes;

use std::collections::{BTreeMap, HashSet};

use cuda_std::emulator::{
    Explorer, GlobalMemory, Launch, LaunchError, Policy, Report, Schedule, ScheduleError, Trace,
};
use shapes::shapes;

shapes! {
    /// A write and a read: two steps a thread.
    swap(S, t, b, out) {
        S[t].write(t as u32 + 1);
        out.add(t).write(S[b - 1 - t].assume_init());
    }

    /// The same in order: everybody writes before anybody reads.
    swap_in_order(S, t, b, out) {
        S[t].write(t as u32 + 1);
        cuda_std::thread::sync_threads();
        out.add(t).write(S[b - 1 - t].assume_init());
    }

    /// All add to one cell.
    add_to_one(S, t, _b, out) {
        if t == 0 {
            S[0].write(0);
        }
        cuda_std::thread::sync_threads();
        let sum = S[0].assume_init();
        S[0].write(sum + 1);
        cuda_std::thread::sync_threads();
        if t == 0 {
            out.write(S[0].assume_init());
        }
    }
}

fn run(
    kernel: unsafe fn(*mut u32),
    grid: u32,
    block: u32,
    schedule: &Schedule,
) -> Result<(Report, Trace, Vec<u32>), LaunchError> {
    let mut out = vec![0; 64];
    let mut memory = GlobalMemory::new();
    let pointer = memory.lend("out", &mut out);
    // SAFETY: there is room for all that the kernels write; the emulator checks it.
    let ran =
        Launch::new(grid, block).run_as(schedule, &mut memory, || unsafe { kernel(pointer.as_mut_ptr()) })?;
    Ok((ran.0, ran.1, out))
}

/// How many orders there are, and which outputs they have.
fn every_order(kernel: unsafe fn(*mut u32), block: u32) -> (usize, BTreeMap<Vec<u32>, Schedule>) {
    let mut explorer = Explorer::new(Policy::Exhaustive, 0);
    let (mut orders, mut outputs) = (HashSet::new(), BTreeMap::new());
    while let Some(schedule) = explorer.schedule().cloned() {
        let (_, trace, out) = run(kernel, 1, block, &schedule).expect("a small block");
        assert!(orders.insert(trace.interleaving), "{schedule} is an order that was tried before");
        outputs.entry(out).or_insert(schedule);
        explorer.ran(&trace);
    }
    (orders.len(), outputs)
}

/// Two threads of two steps each: there are 4 over 2 orders of them.
#[test]
fn every_order_of_two_threads() {
    let (orders, outputs) = every_order(swap, 2);
    assert_eq!(orders, 6);
    assert_eq!(outputs.len(), 3);
    let (_, outputs) = every_order(swap_in_order, 3);
    assert_eq!(
        outputs.keys().collect::<Vec<_>>(),
        [&{
            let mut right = vec![3, 2, 1];
            right.resize(64, 0);
            right
        }]
    );
}

/// One, two or three additions survive, and a schedule is found for each.
#[test]
fn every_outcome_is_found_and_replayed() {
    let (_, outputs) = every_order(add_to_one, 3);
    assert_eq!(outputs.keys().map(|out| out[0]).collect::<Vec<_>>(), [1, 2, 3]);
    for (out, schedule) in outputs {
        let again: Schedule = schedule.to_string().parse().expect("a schedule reads what it prints");
        assert_eq!(again, schedule);
        assert_eq!(run(add_to_one, 1, 3, &again).expect("a small block").2, out, "{schedule}");
    }
}

/// The same string gives the same run: report, order and output, also of several blocks.
#[test]
fn a_schedule_runs_again() {
    for schedule in ["lockstep:3", "independent:18446744073709551615", "random:7", "exhaustive:0120z"] {
        let schedule: Schedule = schedule.parse().expect("a schedule");
        let once = run(swap, 3, 20, &schedule).expect("a small block");
        assert_eq!(run(swap, 3, 20, &schedule).expect("a small block"), once);
    }
}

#[test]
fn seeds_make_different_orders() {
    for policy in [Policy::Independent, Policy::Random] {
        let order = |seed| run(swap, 1, 33, &Schedule::seeded(policy, seed)).expect("legal").1.interleaving;
        assert_eq!((0..100).map(order).collect::<HashSet<_>>().len(), 100);
    }
    // One warp in lockstep has one order.
    let order =
        |seed| run(swap, 1, 32, &Schedule::seeded(Policy::Lockstep, seed)).expect("legal").1.interleaving;
    assert_eq!((0..100).map(order).collect::<HashSet<_>>().len(), 1);
}

#[test]
fn what_is_no_schedule() {
    for text in ["", "random", "random:", "random:x", "sideways:1", "exhaustive:0A!", "7"] {
        assert_eq!(text.parse::<Schedule>(), Err(ScheduleError), "{text}");
    }
    let schedule = Schedule::seeded(Policy::Exhaustive, 0);
    assert_eq!(run(swap, 1, 37, &schedule).err(), Some(LaunchError::ExhaustiveThreads(37)));
}
