//! The emulator as a device.

use anyhow::{Context, Result, ensure};
use cuda_std::emulator::{GlobalMemory, Launch, Policy, Report, Schedule, Trace};
use kernels::lesson::{reverse_tile_prefix, reverse_tile_racy, reverse_tile_synced};

use super::{Device, Kernel};
use crate::verdict;

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

    /// Launches `kernel` over `input`, which must not be empty, under any schedule.
    ///
    /// # Errors
    ///
    /// If the launch cannot be made.
    pub fn launch_as(
        schedule: &Schedule,
        kernel: Kernel,
        block: u32,
        input: &[f32],
        out: &mut [f32],
    ) -> Result<(Report, Trace)> {
        ensure!(!input.is_empty() && input.len() == out.len(), "as many elements out as in, and some");
        let blocks = u32::try_from(input.len().div_ceil(block.max(1) as usize)).context("too many blocks")?;
        let launch = Launch::new(blocks, block);
        let mut memory = GlobalMemory::new();
        let out = memory.lend("out", out);
        // SAFETY: `input` is not empty and `out` is as long, as seen above; what the kernels do beyond their
        // contract, the emulator catches and reports.
        let ran = launch.run_as(schedule, &mut memory, || unsafe {
            match kernel {
                Kernel::ReverseTileRacy => reverse_tile_racy(input, out.as_mut_ptr()),
                Kernel::ReverseTileSynced => reverse_tile_synced(input, out.as_mut_ptr()),
                Kernel::ReverseTilePrefix { keep } => reverse_tile_prefix(input, out.as_mut_ptr(), keep),
            }
        });
        Ok(ran?)
    }
}

impl Device for Emulator {
    fn describe(&self) -> String {
        "emulator on this machine's CPU (no GPU is involved)".into()
    }

    fn schedule(&self) -> Option<String> {
        Some(verdict::schedule(Policy::Lockstep, self.seed))
    }

    fn launch(
        &mut self,
        kernel: Kernel,
        block: u32,
        input: &[f32],
        out: &mut [f32],
    ) -> Result<Option<Report>> {
        let schedule = Schedule::seeded(Policy::Lockstep, self.seed);
        Self::launch_as(&schedule, kernel, block, input, out).map(|(report, _)| Some(report))
    }

    fn next_run(&mut self) {
        self.seed = self.seed.wrapping_add(1);
    }
}
