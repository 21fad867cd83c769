//! Runs that are looked at closely: the trace of a block, and many schedules of one kernel.

use cuda_std::emulator::{GlobalMemory, Launch, Policy};
use divan::Bencher;
use divan::counter::ItemsCount;
use host::args::Engine;
use host::explore::{Size, explore, subject};
use host::reference::{POISON, input};
use kernels::lesson::reverse_tile_synced;

fn main() {
    divan::main();
}

/// One block, with a trace and without. An item is a thread.
#[divan::bench(args = [true, false])]
fn traced(bencher: Bencher<'_, '_>, traced: bool) {
    const BLOCK: usize = 1024;
    let input = input(BLOCK);
    let mut out = vec![POISON; BLOCK];
    bencher.counter(ItemsCount::new(BLOCK)).bench_local(|| {
        let mut memory = GlobalMemory::new();
        let out = memory.lend("out", &mut out);
        let launch = Launch::new(1, BLOCK as u32);
        let launch = if traced { launch.trace(0) } else { launch };
        // SAFETY: `input` is not empty, and `out` is as long.
        let run = || unsafe { reverse_tile_synced(&input, out.as_mut_ptr()) };
        launch.run(&mut memory, run).expect("a legal launch")
    });
}

/// Seeds, one after the other. An item is a run of a block of 64.
#[divan::bench(args = [Policy::Independent, Policy::Random])]
fn explored(bencher: Bencher<'_, '_>, policy: Policy) {
    const RUNS: usize = 20;
    let racy = subject("reverse_tile_racy").expect("a kernel of the lesson");
    let size = Size { block: 64, n: 64 };
    bencher
        .counter(ItemsCount::new(RUNS))
        .bench_local(|| explore(&*racy, Engine::Source, size, policy, 0, RUNS).expect("it runs"));
}

/// Orders of three threads, one after the other. An item is a run.
#[divan::bench]
fn explored_exhaustively(bencher: Bencher<'_, '_>) {
    const RUNS: usize = 100;
    let racy = subject("reverse_tile_racy").expect("a kernel of the lesson");
    let size = Size { block: 3, n: 3 };
    bencher
        .counter(ItemsCount::new(RUNS))
        .bench_local(|| explore(&*racy, Engine::Source, size, Policy::Exhaustive, 0, RUNS).expect("it runs"));
}
