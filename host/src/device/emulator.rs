//! The emulator as a device.

use anyhow::{Context, Result};
use cuda_std::emulator::{GlobalMemory, Launch, Report};
use kernels::lesson::{reverse_tile_prefix, reverse_tile_racy, reverse_tile_synced};

use super::{Device, Kernel};

/// The emulator, with the seed of its interleaving.
#[derive(Clone, Copy, Debug)]
pub struct Emulator {
    seed: u64,
}

impl Emulator {
    /// An emulator that interleaves by this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }
}

impl Device for Emulator {
    fn describe(&self) -> String {
        "emulator on this machine's CPU (no GPU is involved)".into()
    }

    fn schedule(&self) -> Option<String> {
        Some(format!(
            "lockstep: the lanes of a warp step together, warps in random order, seed {}",
            self.seed
        ))
    }

    fn launch(
        &mut self,
        kernel: Kernel,
        block: u32,
        input: &[f32],
        out: &mut [f32],
    ) -> Result<Option<Report>> {
        let blocks = u32::try_from(input.len().div_ceil(block as usize)).context("too many blocks")?;
        let launch = Launch::new(blocks, block).seed(self.seed);
        let mut memory = GlobalMemory::new();
        let out = memory.lend("out", out);
        // SAFETY: `input` is not empty and `out` is as long (`lesson` sees to both); what the kernels do
        // beyond their contract, the emulator catches and reports.
        let report = launch.run(&mut memory, || unsafe {
            match kernel {
                Kernel::ReverseTileRacy => reverse_tile_racy(input, out.as_mut_ptr()),
                Kernel::ReverseTileSynced => reverse_tile_synced(input, out.as_mut_ptr()),
                Kernel::ReverseTilePrefix { keep } => reverse_tile_prefix(input, out.as_mut_ptr(), keep),
            }
        });
        Ok(Some(report?))
    }

    fn next_run(&mut self) {
        self.seed = self.seed.wrapping_add(1);
    }
}
