//! What can be explored.

use anyhow::{Context, Result, ensure};
use cuda_std::emulator::{Policy, Report, Schedule, Trace};

use crate::args::Engine;
use crate::device::{Emulator, Kernel};
use crate::exhibits::{EXHIBITS, Exhibit, launch_on_engine, unknown};
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
    /// How many elements differ from what they should be, if anything says what that is.
    pub mismatches: Option<usize>,
}

/// A kernel that can be explored, under the name that the command line calls it by.
pub trait Subject {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Whether its result is defined at this block size, so that no schedule may find anything.
    fn defined(&self, block: u32) -> bool;

    /// The block sizes that it is for; all, if it does not say.
    fn blocks(&self) -> &'static [u32] {
        &[]
    }

    /// Whether it can be given a number of elements.
    fn takes_n(&self) -> bool {
        true
    }

    /// Runs it once.
    ///
    /// # Errors
    ///
    /// If the launch cannot be made.
    fn run(&self, engine: Engine, size: Size, schedule: &Schedule) -> Result<Ran>;
}

/// A kernel of the lesson. `keep` follows the block, as 96 of 256.
struct Lesson(fn(u32) -> Kernel);

impl Subject for Lesson {
    fn name(&self) -> &'static str {
        (self.0)(1).name()
    }

    fn defined(&self, _: u32) -> bool {
        (self.0)(1).defined()
    }

    fn run(&self, engine: Engine, Size { block, n }: Size, schedule: &Schedule) -> Result<Ran> {
        let kernel = (self.0)(block);
        let (input, tile) = (input(n), block as usize);
        let mut out = vec![POISON; n];
        let (report, trace) = Emulator::launch_as(engine, schedule, kernel, block, &input, &mut out)?;
        let wanted = match kernel {
            Kernel::ReverseTilePrefix { keep } => reversed_prefixes(&input, tile, keep as usize),
            _ => reversed_tiles(&input, tile),
        };
        let output: Vec<u32> = out.into_iter().map(f32::to_bits).collect();
        let mismatches = output.iter().zip(wanted).filter(|(got, wanted)| **got != wanted.to_bits()).count();
        Ok(Ran { report, trace, output, mismatches: Some(mismatches) })
    }
}

/// An exhibit. It brings its own number of elements.
impl Subject for &'static Exhibit {
    fn name(&self) -> &'static str {
        self.name
    }

    fn defined(&self, block: u32) -> bool {
        self.expected(block).is_clean()
    }

    fn blocks(&self) -> &'static [u32] {
        self.blocks.shown()
    }

    fn takes_n(&self) -> bool {
        false
    }

    fn run(&self, engine: Engine, Size { block, .. }: Size, schedule: &Schedule) -> Result<Ran> {
        let allowed = self.blocks.allow(block) || schedule.policy() == Policy::Exhaustive;
        ensure!(allowed, "{} has no verdict for blocks of {block}", self.name);
        let (outcome, trace) = launch_on_engine(engine, self, block, schedule)?;
        let mismatches = outcome.mismatches();
        let output = outcome.out.into_iter().map(f32::to_bits).collect();
        Ok(Ran { report: outcome.report, trace, output, mismatches })
    }
}

/// Everything that can be explored.
#[must_use]
pub fn subjects() -> Vec<Box<dyn Subject>> {
    let mut all: Vec<Box<dyn Subject>> = vec![
        Box::new(Lesson(|_| Kernel::ReverseTileRacy)),
        Box::new(Lesson(|_| Kernel::ReverseTileSynced)),
        Box::new(Lesson(|block| Kernel::ReverseTilePrefix { keep: (block * 3).div_ceil(8) })),
    ];
    for exhibit in EXHIBITS {
        all.push(Box::new(exhibit));
    }
    all
}

/// The subject of this name.
///
/// # Errors
///
/// If there is none: one line, with the nearest name.
pub fn subject(name: &str) -> Result<Box<dyn Subject>> {
    let found = subjects().into_iter().find(|subject| subject.name() == name);
    found.with_context(|| unknown(name, subjects().iter().map(|subject| subject.name())))
}
