//! What holds for every size, block and seed.

use cuda_std::emulator::Level;
use host::args::Engine;
use host::device::{Device, Emulator, Kernel};
use host::reference::{POISON, input, reversed_prefixes, reversed_tiles};
use proptest::prelude::*;

fn launch(kernel: Kernel, n: usize, block: u32, seed: u64) -> (Vec<f32>, cuda_std::emulator::Report) {
    let mut out = vec![POISON; n];
    let mut emulator = Emulator::new(Engine::Source, seed).expect("it needs nothing");
    let report = emulator.launch(kernel, block, &input(n), &mut out).expect("within the limits");
    (out, report.expect("the emulator checks every launch"))
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Any block size, the usual ones more often.
fn blocks() -> impl Strategy<Value = u32> {
    prop_oneof![1..=1024u32, prop::sample::select(vec![1, 2, 31, 32, 33, 64, 96, 128, 256, 1024])]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn synced_is_right_and_never_flagged(n in 1..5000usize, block in blocks(), seed: u64) {
        let (out, report) = launch(Kernel::ReverseTileSynced, n, block, seed);
        prop_assert_eq!(bits(&out), bits(&reversed_tiles(&input(n), block as usize)));
        prop_assert!(report.is_clean(), "{:#?}", report);
    }

    #[test]
    fn prefix_is_right_and_never_flagged(n in 1..5000usize, block in blocks(), keep in 1..=1024u32, seed: u64) {
        let keep = keep.min(block);
        let (out, report) = launch(Kernel::ReverseTilePrefix { keep }, n, block, seed);
        prop_assert_eq!(bits(&out), bits(&reversed_prefixes(&input(n), block as usize, keep as usize)));
        prop_assert!(report.is_clean(), "{:#?}", report);
    }

    /// Whatever the answer was. Each of the `n` reads of 4 bytes races, but for the middle cell of an
    /// odd block, which its own thread wrote.
    #[test]
    fn racy_is_flagged_for_every_seed(n in 1..5000usize, block in 2..=1024u32, seed: u64) {
        let (_, report) = launch(Kernel::ReverseTileRacy, n, block, seed);
        let block = block as usize;
        let own = if block % 2 == 1 { (0..n).filter(|i| i % block == block / 2).count() } else { 0 };
        prop_assert_eq!(report.hazard_bytes(), 4 * (n - own) as u64);
        let across = (0..n).any(|i| (i % block) / 32 != (block - 1 - i % block) / 32);
        let level = if across { Some(Level::Error) } else if n > own { Some(Level::Warning) } else { None };
        prop_assert_eq!(report.race(), level);
    }

    #[test]
    fn a_launch_can_be_repeated(n in 1..3000usize, block in blocks(), seed: u64) {
        let (out, report) = launch(Kernel::ReverseTileRacy, n, block, seed);
        let (again, again_report) = launch(Kernel::ReverseTileRacy, n, block, seed);
        prop_assert_eq!(bits(&out), bits(&again));
        prop_assert_eq!(report, again_report);
    }
}
