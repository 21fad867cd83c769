//! The engine that executes PTX as a device.

use anyhow::{Context, Result, ensure};
use cuda_std::emulator::{Policy, Report, Schedule, Trace};

use super::{Device, Kernel};
use crate::kept::{self, Argument};
use crate::verdict;

/// The engine, with the seed of its interleaving. It executes the PTX that is kept in the repository.
#[derive(Clone, Copy, Debug)]
pub struct Ptx {
    seed: u64,
}

impl Ptx {
    /// The engine, which interleaves by this seed.
    ///
    /// # Errors
    ///
    /// If the PTX is not of the kernels as they are.
    pub fn new(seed: u64) -> Result<Self> {
        kept::check()?;
        Ok(Self { seed })
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
        let mut arguments = vec![Argument::Slice("input", input), Argument::Buffer("out", out)];
        if let Kernel::ReverseTilePrefix { keep } = kernel {
            arguments.push(Argument::Number(keep));
        }
        kept::launch(kernel.name(), blocks, block, schedule, &mut arguments)
    }
}

impl Device for Ptx {
    fn describe(&self) -> String {
        "the kernels' PTX, executed on this machine's CPU (no GPU is involved)".into()
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
