//! What a launch needs of a device.

#[cfg(feature = "cuda")]
mod cuda;
mod emulator;

use anyhow::Result;
use cuda_std::emulator::Report;
use serde::Serialize;

#[cfg(feature = "cuda")]
pub(crate) use cuda::leave;
#[cfg(feature = "cuda")]
pub use cuda::{Argument, Cuda, Kernels};
pub use emulator::Emulator;

/// The kernels of the lesson.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kernel {
    /// Without the barrier.
    ReverseTileRacy,
    /// With it.
    ReverseTileSynced,
    /// Threads from `keep` on return above the barrier.
    ReverseTilePrefix {
        /// How many threads of a block go on to the barrier.
        keep: u32,
    },
}

impl Kernel {
    /// The kernel's name in the source, and so its symbol in PTX.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ReverseTileRacy => "reverse_tile_racy",
            Self::ReverseTileSynced => "reverse_tile_synced",
            Self::ReverseTilePrefix { .. } => "reverse_tile_prefix",
        }
    }

    /// How many threads of a block go on to the barrier, where the kernel is told.
    #[must_use]
    pub(crate) fn keep(self) -> Option<u32> {
        match self {
            Self::ReverseTilePrefix { keep } => Some(keep),
            Self::ReverseTileRacy | Self::ReverseTileSynced => None,
        }
    }

    /// Whether its result is defined. Only then may anything depend on its answer.
    #[must_use]
    pub fn defined(self) -> bool {
        !matches!(self, Self::ReverseTileRacy)
    }
}

/// Runs the kernels.
pub trait Device {
    /// What it is, in one line.
    fn describe(&self) -> String;

    /// The first line of the report.
    fn headline(&self) -> String {
        format!("device: {}", self.describe())
    }

    /// How it interleaves threads, if that is known, in one line.
    fn schedule(&self) -> Option<String> {
        None
    }

    /// Launches `kernel` over `input` in blocks of `block` threads and fills `out`. Returns what the
    /// device's own checks found, if it has any.
    ///
    /// # Errors
    ///
    /// If the launch cannot be made, or ends in a fault.
    fn launch(
        &mut self,
        kernel: Kernel,
        block: u32,
        input: &[f32],
        out: &mut [f32],
    ) -> Result<Option<Report>>;

    /// Called before each run after the first.
    fn next_run(&mut self) {}
}
