//! One launch of a kernel of the lesson, with and without checks.

use anyhow::{Context, Result};
use cuda_std::emulator::{GlobalMemory, Launch, Report};
use host::device::Kernel;
use host::reference::{POISON, input};
use kernels::lesson::{reverse_tile_prefix, reverse_tile_racy, reverse_tile_synced};

/// The lesson's number of elements.
pub(crate) const N: usize = 262_755;

/// The lesson's block sizes.
pub(crate) const BLOCKS: [u32; 4] = [32, 64, 128, 256];

/// The two kernels that the lesson compares.
pub(crate) const TILES: [Kernel; 2] = [Kernel::ReverseTileRacy, Kernel::ReverseTileSynced];

/// What the kernels read and write.
pub(crate) struct Buffers {
    input: Vec<f32>,
    out: Vec<f32>,
}

impl Buffers {
    pub(crate) fn new(n: usize) -> Self {
        Self { input: input(n), out: vec![POISON; n] }
    }

    /// Launches `kernel` over all elements.
    pub(crate) fn launch(&mut self, kernel: Kernel, block: u32, checks: bool) -> Result<Report> {
        let Self { input, out } = self;
        let blocks = u32::try_from(input.len().div_ceil(block as usize)).context("too many blocks")?;
        let mut memory = GlobalMemory::new();
        let out = memory.lend("out", out);
        // SAFETY: `new` makes both of the same length, which is not 0 for any launch here.
        let report = Launch::new(blocks, block).checks(checks).run(&mut memory, || unsafe {
            match kernel {
                Kernel::ReverseTileRacy => reverse_tile_racy(input, out.as_mut_ptr()),
                Kernel::ReverseTileSynced => reverse_tile_synced(input, out.as_mut_ptr()),
                Kernel::ReverseTilePrefix { keep } => reverse_tile_prefix(input, out.as_mut_ptr(), keep),
            }
        })?;
        Ok(report)
    }
}

/// How many threads such a launch has.
pub(crate) fn threads(n: usize, block: u32) -> f64 {
    n.next_multiple_of(block as usize) as f64
}

/// The kernel's name, without what the names of all have in common.
pub(crate) fn short(kernel: Kernel) -> &'static str {
    kernel.name().trim_start_matches("reverse_tile_")
}
