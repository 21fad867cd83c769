//! The kernels that a picture can be drawn of, named as the exhibits are.

use anyhow::Result;
use cuda_std::emulator::{GlobalMemory, Launch, Report};
use kernels::lesson::{reverse_tile_prefix, reverse_tile_racy, reverse_tile_synced};

use crate::reference::{POISON, input, reversed_prefixes, reversed_tiles};

/// A kernel, and what it shows.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The exhibit's name.
    pub name: &'static str,
    /// A few words.
    pub title: &'static str,
    /// The sentence that it proves.
    pub sentence: &'static str,
    /// The kernel's source file.
    pub file: &'static str,
    /// What stands in it.
    pub source: &'static str,
    /// Blocks in the grid.
    pub grid: u32,
    /// The block that the picture shows.
    pub traced: u64,
    /// Runs the kernel as the launch says, whose blocks have this many threads.
    pub launch: fn(Launch, u32) -> Result<Outcome>,
}

/// What came of one launch.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What the checks say; with the trace, if the launch asked for one.
    pub report: Report,
    /// How many elements of the output are what a reader of the kernel would expect.
    pub right: usize,
    /// How many elements there are.
    pub of: usize,
}

/// All presets, in the order in which they teach.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "block-32-hides-it",
        title: "A block of 32 hides the race",
        sentence: "The answer is right at 32 threads and wrong above. The race is there at every size.",
        file: "kernels-gpu/src/lesson/reverse_tile_racy.rs",
        source: include_str!("../../../kernels-gpu/src/lesson/reverse_tile_racy.rs"),
        grid: 1,
        traced: 0,
        launch: racy,
    },
    Preset {
        name: "barrier-in-the-right-place",
        title: "The barrier between the write and the read",
        sentence: "The barrier waits for every thread, and puts every write above it before every read below it.",
        file: "kernels-gpu/src/lesson/reverse_tile_synced.rs",
        source: include_str!("../../../kernels-gpu/src/lesson/reverse_tile_synced.rs"),
        grid: 1,
        traced: 0,
        launch: synced,
    },
    Preset {
        name: "early-return",
        title: "Threads that return above the barrier",
        sentence: "The barrier waits for the threads that have not exited. Nothing hangs, and nobody reads what the others never wrote.",
        file: "kernels-gpu/src/lesson/reverse_tile_prefix.rs",
        source: include_str!("../../../kernels-gpu/src/lesson/reverse_tile_prefix.rs"),
        grid: 1,
        traced: 0,
        launch: prefix,
    },
];

/// The preset of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

fn racy(launch: Launch, block: u32) -> Result<Outcome> {
    let input = input(block as usize);
    let wanted = reversed_tiles(&input, block as usize);
    // SAFETY: `input` is not empty and `out` is as long; the emulator reports the race.
    run(launch, &wanted, |out| unsafe { reverse_tile_racy(&input, out) })
}

fn synced(launch: Launch, block: u32) -> Result<Outcome> {
    let input = input(block as usize);
    let wanted = reversed_tiles(&input, block as usize);
    // SAFETY: `input` is not empty and `out` is as long.
    run(launch, &wanted, |out| unsafe { reverse_tile_synced(&input, out) })
}

fn prefix(launch: Launch, block: u32) -> Result<Outcome> {
    // As in the lesson, 96 of 256; and not a whole warp where the block has only one.
    let keep = (block * 3 / 8).max(1);
    let input = input(block as usize);
    let wanted = reversed_prefixes(&input, block as usize, keep as usize);
    // SAFETY: `input` is not empty, `out` is as long, and `keep` is from 1 to the block's size.
    run(launch, &wanted, |out| unsafe { reverse_tile_prefix(&input, out, keep) })
}

/// Launches and compares, by the bits: poison must stay poison.
fn run(launch: Launch, wanted: &[f32], kernel: impl Fn(*mut f32) + Sync) -> Result<Outcome> {
    let mut out = vec![POISON; wanted.len()];
    let mut memory = GlobalMemory::new();
    let pointer = memory.lend("out", &mut out);
    let report = launch.run(&mut memory, || kernel(pointer.as_mut_ptr()))?;
    let right = out.iter().zip(wanted).filter(|(got, wanted)| got.to_bits() == wanted.to_bits()).count();
    Ok(Outcome { report, right, of: wanted.len() })
}
