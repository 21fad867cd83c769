//! This machine's CPU as a device.

use anyhow::{Context, Result, ensure};
use cuda_std::emulator::{GlobalMemory, Launch, Policy, Report, Schedule, Trace};
use kernels::lesson::{reverse_tile_prefix, reverse_tile_racy, reverse_tile_synced};

use super::{Device, Kernel};
use crate::args::Engine;
use crate::kept::{self, Argument};
use crate::verdict;

/// An engine, with the seed of its interleaving.
#[derive(Clone, Copy, Debug)]
pub struct Emulator {
    engine: Engine,
    seed: u64,
}

impl Emulator {
    /// This engine, which interleaves by this seed.
    ///
    /// # Errors
    ///
    /// If the kept PTX, where the engine executes it, is not of the kernels as they are.
    pub fn new(engine: Engine, seed: u64) -> Result<Self> {
        if engine == Engine::Ptx {
            kept::check()?;
        }
        Ok(Self { engine, seed })
    }

    /// Launches `kernel` over `input`, which must not be empty, under any schedule.
    ///
    /// # Errors
    ///
    /// If the launch cannot be made.
    pub fn launch_as(
        engine: Engine,
        schedule: &Schedule,
        kernel: Kernel,
        block: u32,
        input: &[f32],
        out: &mut [f32],
    ) -> Result<(Report, Trace)> {
        ensure!(!input.is_empty() && input.len() == out.len(), "as many elements out as in, and some");
        let blocks = u32::try_from(input.len().div_ceil(block.max(1) as usize)).context("too many blocks")?;
        if engine == Engine::Ptx {
            let mut arguments = vec![Argument::Slice("input", input), Argument::Buffer("out", out)];
            arguments.extend(kernel.keep().map(Argument::Number));
            return kept::launch(kernel.name(), blocks, block, schedule, &mut arguments);
        }
        let mut memory = GlobalMemory::new();
        let out = memory.lend("out", out);
        // SAFETY: `input` is not empty and `out` is as long, as seen above; what the kernels do beyond their
        // contract, the emulator catches and reports.
        let ran = Launch::new(blocks, block).run_as(schedule, &mut memory, || unsafe {
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
        let what = match self.engine {
            Engine::Source => "emulator on this machine's CPU",
            Engine::Ptx => "the kernels' PTX, executed on this machine's CPU",
        };
        format!("{what} (no GPU is involved)")
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
        Self::launch_as(self.engine, &schedule, kernel, block, input, out).map(|(report, _)| Some(report))
    }

    fn next_run(&mut self) {
        self.seed = self.seed.wrapping_add(1);
    }
}
