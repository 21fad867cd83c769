//! Launches of the lesson's kernels, all checks on. An item is a thread.

use divan::Bencher;
use divan::counter::ItemsCount;
use host::args::Engine;
use host::device::{Device, Emulator, Kernel};
use host::reference::{POISON, input};

fn main() {
    divan::main();
}

/// 2^16 elements and a last block that is not full.
const N: usize = (1 << 16) + 3;

const BLOCKS: [u32; 4] = [32, 64, 128, 256];

fn launch(bencher: Bencher<'_, '_>, kernel: Kernel, block: u32) {
    let input = input(N);
    let mut out = vec![POISON; N];
    let threads = ItemsCount::new(N.next_multiple_of(block as usize));
    let mut emulator = Emulator::new(Engine::Source, 0).expect("it needs nothing");
    bencher
        .counter(threads)
        .bench_local(|| emulator.launch(kernel, block, &input, &mut out).expect("a legal launch"));
}

#[divan::bench(args = BLOCKS)]
fn racy(bencher: Bencher<'_, '_>, block: u32) {
    launch(bencher, Kernel::ReverseTileRacy, block);
}

#[divan::bench(args = BLOCKS)]
fn synced(bencher: Bencher<'_, '_>, block: u32) {
    launch(bencher, Kernel::ReverseTileSynced, block);
}

#[divan::bench(args = BLOCKS)]
fn prefix(bencher: Bencher<'_, '_>, block: u32) {
    launch(bencher, Kernel::ReverseTilePrefix { keep: block * 3 / 8 }, block);
}
