//! What can be explored.

use anyhow::{Context, Result};
use cuda_std::emulator::{Report, Schedule, Trace};

use crate::device::{Emulator, Kernel};
use crate::reference::{POISON, input, reversed_prefixes, reversed_tiles};

/// How large a launch is.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Threads a block.
    pub block: u32,
    /// How many elements.
    pub n: usize,
}

/// One run under one schedule.
#[derive(Clone, Debug)]
pub struct Ran {
    /// What the checks found.
    pub report: Report,
    /// What the interleaving was.
    pub trace: Trace,
    /// The bits of everything the kernel left.
    pub output: Vec<u32>,
    /// How many elements differ from what they should be.
    pub mismatches: usize,
}

/// A kernel that can be explored, under the name that the command line calls it by.
pub trait Subject {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Whether its result is defined, so that no schedule may find anything.
    fn defined(&self) -> bool;

    /// Runs it once.
    ///
    /// # Errors
    ///
    /// If the launch cannot be made.
    fn run(&self, size: Size, schedule: &Schedule) -> Result<Ran>;
}

/// A kernel of the lesson. `keep` follows the block, as 96 of 256.
struct Lesson(fn(u32) -> Kernel);

impl Subject for Lesson {
    fn name(&self) -> &'static str {
        (self.0)(1).name()
    }

    fn defined(&self) -> bool {
        (self.0)(1).defined()
    }

    fn run(&self, Size { block, n }: Size, schedule: &Schedule) -> Result<Ran> {
        let kernel = (self.0)(block);
        let (input, tile) = (input(n), block as usize);
        let mut out = vec![POISON; n];
        let (report, trace) = Emulator::launch_as(schedule, kernel, block, &input, &mut out)?;
        let wanted = match kernel {
            Kernel::ReverseTilePrefix { keep } => reversed_prefixes(&input, tile, keep as usize),
            _ => reversed_tiles(&input, tile),
        };
        let output: Vec<u32> = out.into_iter().map(f32::to_bits).collect();
        let mismatches = output.iter().zip(wanted).filter(|(got, wanted)| **got != wanted.to_bits()).count();
        Ok(Ran { report, trace, output, mismatches })
    }
}

/// Everything that can be explored.
#[must_use]
pub fn subjects() -> Vec<Box<dyn Subject>> {
    vec![
        Box::new(Lesson(|_| Kernel::ReverseTileRacy)),
        Box::new(Lesson(|_| Kernel::ReverseTileSynced)),
        Box::new(Lesson(|block| Kernel::ReverseTilePrefix { keep: (block * 3).div_ceil(8) })),
    ]
}

/// The subject of this name.
///
/// # Errors
///
/// If there is none: the message lists the names.
pub fn subject(name: &str) -> Result<Box<dyn Subject>> {
    let all = subjects();
    let names = all.iter().map(|subject| subject.name()).collect::<Vec<_>>().join(", ");
    let found = all.into_iter().find(|subject| subject.name() == name);
    found.with_context(|| format!("no kernel is called {name}; there are {names}"))
}
