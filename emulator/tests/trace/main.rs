//! The trace: what a block did, and that it says the same as the report.

use std::collections::HashMap;
use std::mem::MaybeUninit;

use cuda_std::emulator::{BlockTrace, Event, GlobalMemory, Launch, Place, Policy, Report, Space, What};
use cuda_std::{address_space, kernel, thread, warp};

const CELLS: usize = 256;

/// Every thread reads what its mirror image wrote, with or without a barrier in between.
#[kernel]
unsafe fn mirror(out: *mut u32, synced: bool) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<u32>; CELLS] = [const { MaybeUninit::uninit() }; CELLS];
    let t = thread::thread_idx_x() as usize;
    let b = thread::block_dim_x() as usize;
    // SAFETY: no block of these tests has more threads than the tile has cells.
    unsafe { TILE[t].write(10 + t as u32) };
    if synced {
        thread::sync_threads();
    }
    // SAFETY: `out` has an element for each thread. Without the barrier this is a race, which the emulator
    // reports.
    unsafe { *out.add(t) = TILE[b - 1 - t].assume_init() };
}

/// The upper half returns above the barrier; the rest meets once in its warp and once in the block.
#[kernel]
unsafe fn early_return(out: *mut u32) {
    let t = thread::thread_idx_x() as usize;
    if t >= thread::block_dim_x() as usize / 2 {
        return;
    }
    // SAFETY: whole warps return above.
    unsafe { warp::sync_warp(u32::MAX) };
    thread::sync_threads();
    // SAFETY: `out` has an element for each thread.
    unsafe { out.add(t).write(t as u32) };
}

fn run(launch: Launch, kernel: impl Fn(*mut u32) + Sync) -> (Report, BlockTrace, Vec<u32>) {
    let mut out = vec![0; 256];
    let mut memory = GlobalMemory::new();
    let pointer = memory.lend("out", &mut out);
    let mut report = launch.run(&mut memory, || kernel(pointer.as_mut_ptr())).expect("a small launch");
    let trace = report.trace.take().expect("a trace was asked for");
    (report, trace, out)
}

fn mirrored(launch: Launch, synced: bool) -> (Report, BlockTrace, Vec<u32>) {
    // SAFETY: `out` has an element for each thread of a block; the emulator checks it.
    run(launch, |out| unsafe { mirror(out, synced) })
}

fn schedules() -> impl Iterator<Item = (Policy, u64)> {
    [Policy::Lockstep, Policy::Independent, Policy::Random]
        .into_iter()
        .flat_map(|policy| (0..3).map(move |seed| (policy, seed)))
}

fn access(event: &Event) -> Option<(&Place, bool, Option<&str>)> {
    match &event.what {
        What::Access { place, writes, value, .. } => Some((place, *writes, value.as_deref())),
        _ => None,
    }
}

#[test]
fn nothing_is_recorded_unless_asked_for() {
    let mut out = [0; 32];
    let mut memory = GlobalMemory::new();
    let pointer = memory.lend("out", &mut out);
    // SAFETY: as in `mirrored`.
    let report = Launch::new(1, 32).run(&mut memory, || unsafe { mirror(pointer.as_mut_ptr(), true) });
    assert_eq!(report.expect("a small launch").trace, None);
}

#[test]
fn replaying_the_events_gives_every_value_that_was_read() {
    for (policy, seed) in schedules() {
        for synced in [false, true] {
            let launch = Launch::new(1, 96).policy(policy).seed(seed).trace(0);
            let (_, trace, out) = mirrored(launch, synced);
            let mut cells: HashMap<Place, String> = HashMap::new();
            for event in &trace.events {
                let Some((place, writes, value)) = access(event) else { continue };
                if writes {
                    cells.insert(place.clone(), value.expect("a write has a value").to_owned());
                } else {
                    assert_eq!(value, cells.get(place).map(String::as_str), "{policy:?} {seed} {event:?}");
                }
            }
            for (index, got) in (0..96).zip(&out) {
                let place = Place { space: Space::Global, name: "out", index, size: 4 };
                assert_eq!(cells[&place], got.to_string());
            }
        }
    }
}

#[test]
fn pairs_are_the_hazards_of_the_report() {
    for (policy, seed) in schedules() {
        for block in [32, 64, 96] {
            let launch = Launch::new(1, block).policy(policy).seed(seed).trace(0);
            let (report, trace, _) = mirrored(launch, false);
            assert_eq!(trace.pairs.len(), block as usize, "every cell is raced for once");
            assert!(!report.hazards.is_empty());
            for hazard in &report.hazards {
                let same = |pair: &&cuda_std::emulator::Pair| {
                    let sites = [pair.first, pair.second].map(|step| trace.events[step].site);
                    (pair.kind, pair.level) == (hazard.kind, hazard.level)
                        && sites == [Some(hazard.first.site), Some(hazard.second.site)]
                };
                let pair = trace.pairs.iter().find(same).expect("a pair for each hazard");
                for (step, party) in [(pair.first, &hazard.first), (pair.second, &hazard.second)] {
                    let event = &trace.events[step];
                    let (place, writes, _) = access(event).expect("an access");
                    assert_eq!((event.thread, writes), (party.thread, party.writes));
                    assert_eq!(*place, hazard.place);
                }
            }
            assert_eq!(mirrored(launch, true).1.pairs, []);
        }
    }
}

#[test]
fn barriers_name_those_who_took_part() {
    for (policy, seed) in schedules() {
        let launch = Launch::new(1, 128).policy(policy).seed(seed).trace(0);
        // SAFETY: as in `mirrored`.
        let (_, trace, _) = run(launch, |out| unsafe { early_return(out) });
        let count = |what: fn(&What) -> bool| trace.events.iter().filter(|e| what(&e.what)).count();
        assert_eq!(count(|what| *what == What::Exit), 128);
        assert_eq!(count(|what| *what == What::Arrive), 64);
        assert_eq!(count(|what| *what == What::ArriveWarp), 64);
        assert_eq!(count(|what| matches!(what, What::ReleaseWarp { .. })), 2);
        let releases: Vec<_> =
            trace.events.iter().filter(|e| matches!(e.what, What::Release { .. })).collect();
        let [release] = releases[..] else { panic!("one barrier, {releases:?}") };
        assert_eq!(release.what, What::Release { participants: (0..64).collect(), orders: true });
    }
}

#[test]
fn the_block_asked_for_is_the_one_recorded() {
    let launch = Launch::new(3, 32).trace(2);
    let (_, trace, _) = mirrored(launch, true);
    assert_eq!((trace.block, trace.threads), (2, 32));
    // Store, arrive, load, write out and exit, and one release.
    assert_eq!(trace.events.len(), 32 * 5 + 1);
    assert!(trace.events.is_sorted_by_key(|event| event.turn));
}
