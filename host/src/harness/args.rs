//! The command line of a program that launches one kernel several times.

use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};
use race::extent::Extent;
use race::limits::Dim3;
use race::schedule::Policy;

use crate::args::Format;

/// Which launches to make of a kernel, and how to report them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Block sizes to launch the kernel with
    #[arg(long, value_delimiter = ',', default_value = "32,64,128,256")]
    pub(crate) block: Vec<Extent>,
    /// How many blocks; otherwise as many along x as it takes for n threads
    #[arg(long)]
    pub(crate) grid: Option<Extent>,
    /// How many elements each slice and buffer has
    #[arg(long, default_value_t = 4096)]
    pub(crate) n: usize,
    /// Seeds of the interleaving, one run each
    #[arg(long, value_delimiter = ',', default_value = "0")]
    pub(crate) seed: Vec<u64>,
    /// How threads take turns
    #[arg(long, default_value = "lockstep")]
    pub(crate) policy: Policy,
    /// The value of a number
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) arg: Vec<String>,
    /// What a buffer holds
    #[arg(long, value_name = "NAME=DATA")]
    pub(crate) data: Vec<String>,
    /// How the report comes out
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,
    /// The file for the report: what a kernel prints does not get into it
    #[arg(long, value_name = "FILE")]
    pub(crate) report: PathBuf,
}

impl Args {
    /// Launches each block size with each seed: `launch` is given the grid, the block and the seed.
    ///
    /// # Errors
    ///
    /// If there is nothing to launch, if the grid would be too large, or if `launch` fails.
    pub(crate) fn each<T>(&self, mut launch: impl FnMut(Dim3, Extent, u64) -> Result<T>) -> Result<Vec<T>> {
        if self.n == 0 {
            bail!("--n 0 leaves nothing to do; give at least 1 element");
        }
        let mut all = Vec::new();
        for &block in &self.block {
            let grid = self.grid.map_or_else(|| blocks(self.n, block).map(Dim3::from), |grid| Ok(grid.0))?;
            for &seed in &self.seed {
                all.push(launch(grid, block, seed)?);
            }
        }
        Ok(all)
    }
}

/// As many blocks as it takes for n threads.
fn blocks(n: usize, block: Extent) -> Result<u32> {
    let threads = usize::try_from(block.0.count()).unwrap_or(usize::MAX);
    u32::try_from(n.div_ceil(threads.max(1)))
        .map_err(|_| anyhow!("--n {n} takes too many blocks of {block} threads"))
}
