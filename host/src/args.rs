//! The command line of the lesson, checked.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use cuda_std::emulator::{MAX_BLOCK_THREADS, MAX_GRID};

/// Where kernels run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DeviceChoice {
    /// A CUDA device if there is one, else the emulator.
    Auto,
    /// The emulator, on this machine's CPU.
    Emulator,
    /// The NVIDIA card of this machine.
    Cuda,
}

/// What executes the kernels where no card does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// The emulator, which runs the kernels' source.
    #[default]
    Source,
    /// The engine that executes the kernels' PTX, as it is kept in the repository.
    Ptx,
}

/// What compiles the kernels for a card. `cargo xtask run` sees to that; the program is given the PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompilerChoice {
    /// Rust-CUDA's cuda_builder where all that it needs is there, else rustc.
    Auto,
    /// rustc's own target.
    Rustc,
    /// Rust-CUDA's cuda_builder.
    CudaBuilder,
}

/// What is wrong with both.
pub(crate) const ENGINE_AND_CARD: &str =
    "--engine ptx is for this machine's CPU, and --device cuda for its card; leave out one of them";

/// How the report comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Table,
    /// For programs.
    Json,
}

/// Runs the lesson: three kernels, four block sizes, one table.
#[derive(Clone, Debug, Parser)]
#[command(name = "cargo xtask run", bin_name = "cargo xtask run", disable_version_flag = true)]
pub struct Args {
    /// Where the kernels run
    #[arg(long, value_enum, default_value = "auto")]
    pub device: DeviceChoice,
    /// What executes them on this machine's CPU
    #[arg(long, value_enum, default_value = "source")]
    pub engine: Engine,
    /// What compiles the kernels for a card
    #[arg(long, value_enum, default_value = "auto")]
    pub compiler: CompilerChoice,
    /// How many elements
    #[arg(long, default_value_t = 262_755)]
    pub n: usize,
    /// Block sizes to run the racy and the synced kernel with, comma-separated
    #[arg(long, value_delimiter = ',', default_value = "32,64,128,256")]
    pub blocks: Vec<u32>,
    /// Block size of the prefix kernel
    #[arg(long, default_value_t = 256)]
    pub prefix_block: u32,
    /// How many threads of a block go on to the barrier in the prefix kernel
    #[arg(long, default_value_t = 96)]
    pub keep: u32,
    /// Seed of the emulator's interleaving
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// How often to run it all; the emulator counts the seed up
    #[arg(long, default_value_t = 1)]
    pub runs: u32,
    /// How the report comes out
    #[arg(long, value_enum, default_value = "table")]
    pub format: Format,
    /// The kernels as PTX; xtask names the file
    #[arg(long, hide = true, value_name = "FILE")]
    pub ptx: Option<PathBuf>,
    /// How many seconds a launch on a card may take before it counts as hung
    #[arg(long, hide = true, default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..))]
    pub patience: u32,
    /// Only say what is wrong with the flags, if anything
    #[arg(long, hide = true)]
    pub check_flags: bool,
    /// Run one kernel only, as a checker wants it
    #[arg(long, hide = true, value_enum)]
    pub only: Option<Only>,
}

/// One kernel of the lesson.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Only {
    /// Without the barrier.
    #[value(name = "reverse_tile_racy")]
    Racy,
    /// With it.
    #[value(name = "reverse_tile_synced")]
    Synced,
    /// With threads that return above it.
    #[value(name = "reverse_tile_prefix")]
    Prefix,
}

impl Args {
    /// Whether `kernel` is to run.
    #[must_use]
    pub fn wants(&self, kernel: Only) -> bool {
        self.only.is_none_or(|only| only == kernel)
    }

    /// What is wrong with the numbers, if anything: one line that says what to do.
    ///
    /// # Errors
    ///
    /// The line.
    pub fn check(&self) -> Result<(), String> {
        if self.engine == Engine::Ptx && self.device == DeviceChoice::Cuda {
            return Err(ENGINE_AND_CARD.into());
        }
        if self.n == 0 {
            return Err("--n 0 leaves nothing to do; give at least 1 element".into());
        }
        if self.blocks.is_empty() {
            return Err("--blocks names no block size; give some, such as --blocks 32,256".into());
        }
        if self.runs == 0 {
            return Err("--runs 0 leaves nothing to do; give at least 1".into());
        }
        for (flag, block) in
            self.blocks.iter().map(|&b| ("--blocks", b)).chain([("--prefix-block", self.prefix_block)])
        {
            if !(1..=MAX_BLOCK_THREADS).contains(&block) {
                return Err(format!("{flag} {block}: a block has 1 to {MAX_BLOCK_THREADS} threads"));
            }
            if self.n.div_ceil(block as usize) > MAX_GRID.x as usize {
                return Err(format!(
                    "--n {} needs more than {} blocks of {block} threads; give larger blocks or fewer elements",
                    self.n, MAX_GRID.x
                ));
            }
        }
        if !(1..=self.prefix_block).contains(&self.keep) {
            return Err(format!(
                "--keep {}: from 1 to all {} threads of the block can go on to the barrier",
                self.keep, self.prefix_block
            ));
        }
        Ok(())
    }
}
