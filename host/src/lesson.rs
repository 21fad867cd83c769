//! One run of the lesson: every launch, compared element by element with the reference.

use anyhow::{Context, Result};
use cuda_std::emulator::{Report, WARP};

use crate::args::{Args, Only};
use crate::device::{Device, Kernel};
use crate::memory;
use crate::reference::{POISON, input, reversed_prefixes, reversed_tiles};

/// The first element of a launch that came out wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstBad {
    /// Its index.
    pub index: usize,
    /// What the kernel left there.
    pub got: f32,
    /// What the reference says.
    pub wanted: f32,
    /// The warp of the thread that read the tile for this element.
    pub read_warp: usize,
    /// The warp of the thread that writes the cell it read.
    pub wrote_it: usize,
}

/// One launch and how it compares.
#[derive(Clone, Debug)]
pub struct Launched {
    /// The kernel.
    pub kernel: Kernel,
    /// Threads a block.
    pub block: u32,
    /// How many elements differ from the reference.
    pub mismatches: usize,
    /// The first of them.
    pub first_bad: Option<FirstBad>,
    /// What the device's own checks say.
    pub report: Option<Report>,
}

impl Launched {
    /// A gate holds if the kernel is not gated, or if its answer is right everywhere. What the checks
    /// say is another matter, except that a fault leaves no answer.
    #[must_use]
    pub fn gate_holds(&self) -> bool {
        let faulted = self.report.as_ref().is_some_and(|report| report.fault.is_some());
        !self.kernel.defined() || (self.mismatches == 0 && !faulted)
    }
}

/// All launches of one run.
#[derive(Clone, Debug)]
pub struct Run {
    /// How the device interleaved threads.
    pub schedule: Option<String>,
    /// The racy and the synced kernel at each block size.
    pub tiles: Vec<Launched>,
    /// The prefix kernel.
    pub prefix: Option<Launched>,
}

impl Run {
    /// Every launch, in order.
    pub fn launches(&self) -> impl Iterator<Item = &Launched> {
        self.tiles.iter().chain(&self.prefix)
    }
}

/// Runs everything once on `device`.
///
/// # Errors
///
/// If memory is short or a launch cannot be made.
pub fn run(args: &Args, device: &mut dyn Device) -> Result<Run> {
    let n = args.n;
    let too_much = || format!("no memory for {n} elements; give a smaller --n");
    // Input, output, reference and the emulator's copy of the output: ask for all of it at once, before
    // anything is printed. What is not touched takes no memory.
    let mut out: Vec<f32> = Vec::new();
    let all = n.checked_mul(4).with_context(too_much)?;
    memory::ask(n, 4 * size_of::<f32>())?;
    out.try_reserve_exact(all).with_context(too_much)?;
    out.resize(n, POISON);
    let input = input(n);

    let mut launch = |kernel, block, wanted: &[f32]| -> Result<Launched> {
        out.fill(POISON);
        let report = device.launch(kernel, block, &input, &mut out)?;
        let (mismatches, first_bad) = compare(kernel, block as usize, &out, wanted);
        Ok(Launched { kernel, block, mismatches, first_bad, report })
    };
    let mut tiles = Vec::new();
    for &block in &args.blocks {
        let wanted = reversed_tiles(&input, block as usize);
        for (only, kernel) in
            [(Only::Racy, Kernel::ReverseTileRacy), (Only::Synced, Kernel::ReverseTileSynced)]
        {
            if args.wants(only) {
                tiles.push(launch(kernel, block, &wanted)?);
            }
        }
    }
    let (block, keep) = (args.prefix_block, args.keep);
    let mut prefix = None;
    if args.wants(Only::Prefix) {
        let wanted = reversed_prefixes(&input, block as usize, keep as usize);
        prefix = Some(launch(Kernel::ReverseTilePrefix { keep }, block, &wanted)?);
    }
    Ok(Run { schedule: device.schedule(), tiles, prefix })
}

/// Compares every element, by its bits: poison must stay poison.
fn compare(kernel: Kernel, block: usize, out: &[f32], wanted: &[f32]) -> (usize, Option<FirstBad>) {
    let mut bad =
        out.iter().zip(wanted).enumerate().filter(|(_, (got, wanted))| got.to_bits() != wanted.to_bits());
    let first = bad.next().map(|(index, (&got, &wanted))| {
        let thread = index % block;
        let tile = match kernel {
            Kernel::ReverseTilePrefix { keep } => keep as usize,
            _ => block,
        };
        let source = (tile.wrapping_sub(1)).wrapping_sub(thread);
        FirstBad { index, got, wanted, read_warp: thread / WARP, wrote_it: source / WARP }
    });
    (bad.count() + usize::from(first.is_some()), first)
}
