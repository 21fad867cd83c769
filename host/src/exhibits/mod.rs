//! The exhibits: every sentence of the lesson with a kernel that shows it.
//!
//! [`EXHIBITS`] is the one table of them, in teaching order; the command, the tests and the docs read it.

#[cfg(feature = "cuda")]
mod card;
mod child;
mod expected;
mod guess;
mod kernel;
mod launch;
mod listing;
mod problem;
mod program;
mod reference;
mod report;
mod table;

use anyhow::{Context, Result, bail};
use cuda_std::emulator::{MAX_BLOCK_THREADS, Policy, WARP};

#[cfg(feature = "cuda")]
pub use card::launch_on;
pub use child::{Ending, launch_apart};
pub use expected::{Expected, Race};
pub use guess::{Guess, words};
pub use kernel::{Call, Kernel};
pub use launch::{Outcome, launch, launch_as, launch_on_engine, launch_with};
pub use listing::Listing;
pub use problem::{Problem, Shape};
pub use program::main;
pub use report::{json, list, list_json, page, results, schedule};
pub use table::EXHIBITS;

/// One sentence of the lesson, and the kernel that shows it.
#[derive(Clone, Copy, Debug)]
pub struct Exhibit {
    /// What the command line calls it.
    pub name: &'static str,
    /// The sentence.
    pub proves: &'static str,
    /// What to ask before it runs.
    pub question: &'static str,
    /// The kernels' page.
    pub page: Page,
    /// The two lines that it is about: the text that each of them begins with.
    pub marks: [&'static str; 2],
    /// What is launched, and with which arguments.
    pub call: Call,
    /// How much there is to do.
    pub shape: Shape,
    /// The block sizes that have a verdict.
    pub blocks: Blocks,
    /// The verdict if a block is one warp.
    pub one_warp: Expected,
    /// The verdict if a block is more.
    pub more_warps: Expected,
    /// The two verdicts on its PTX, where what is wrong with the source is not to be seen there.
    pub in_ptx: Option<[Expected; 2]>,
    /// What the answer should be, where the kernel means to compute something.
    pub reference: Option<fn(&Problem) -> Vec<f32>>,
    /// How the emulator interleaves the threads.
    pub policy: Policy,
    /// Whether a launch on a card is sure to end. What may hang runs there only under supervision.
    pub terminates: bool,
}

/// A file of the kernels' crate.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Where it is, from the root of the project.
    pub path: &'static str,
    /// What it holds.
    pub text: &'static str,
}

/// The block sizes that an exhibit has a verdict for.
#[derive(Clone, Copy, Debug)]
pub enum Blocks {
    /// Any number of whole warps; these are run if nothing else is asked for.
    WholeWarps(&'static [u32]),
    /// These and no other.
    Only(&'static [u32]),
}

impl Blocks {
    /// The sizes to run if nothing else is asked for.
    #[must_use]
    pub fn shown(self) -> &'static [u32] {
        match self {
            Self::WholeWarps(sizes) | Self::Only(sizes) => sizes,
        }
    }

    /// Whether a block of this size has a verdict.
    #[must_use]
    pub fn allow(self, block: u32) -> bool {
        match self {
            Self::WholeWarps(_) => {
                (1..=MAX_BLOCK_THREADS).contains(&block) && block.is_multiple_of(WARP as u32)
            }
            Self::Only(sizes) => sizes.contains(&block),
        }
    }
}

impl Exhibit {
    /// What the checks must say at this block size.
    #[must_use]
    pub fn expected(&self, block: u32) -> Expected {
        if block <= WARP as u32 { self.one_warp } else { self.more_warps }
    }

    /// What the engine that executes PTX must say.
    #[must_use]
    pub fn expected_in_ptx(&self, block: u32) -> Expected {
        match self.in_ptx {
            Some([one_warp, more_warps]) => {
                if block <= WARP as u32 {
                    one_warp
                } else {
                    more_warps
                }
            }
            None => self.expected(block),
        }
    }

    /// Looks whether a block of this size has a verdict.
    ///
    /// # Errors
    ///
    /// If it has none: one line, with those that have.
    pub fn check_block(&self, block: u32) -> Result<()> {
        match self.blocks {
            blocks if blocks.allow(block) => Ok(()),
            Blocks::WholeWarps(_) => {
                bail!(
                    "--block {block}: give whole warps, a multiple of {WARP} from {WARP} to {MAX_BLOCK_THREADS}"
                )
            }
            Blocks::Only(sizes) => {
                let sizes: Vec<_> = sizes.iter().map(u32::to_string).collect();
                bail!("--block {block}: {} is about blocks of {}", self.name, sizes.join(", "))
            }
        }
    }

    /// Whether a card has to give the right answer at this block size: the kernel is right, and whatever
    /// compiles it.
    #[must_use]
    pub fn gated(&self, block: u32) -> bool {
        self.terminates && self.expected(block).is_clean()
    }
}

/// The exhibit that the command line names.
///
/// # Errors
///
/// If none is called that: one line, with the nearest name.
pub fn named(name: &str) -> Result<&'static Exhibit> {
    find(name).with_context(|| unknown(name, EXHIBITS.iter().map(|exhibit| exhibit.name)))
}

/// The exhibit of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Exhibit> {
    EXHIBITS.iter().find(|exhibit| exhibit.name == name)
}

/// What to say of a name that is none of these: the nearest of them.
pub(crate) fn unknown(name: &str, names: impl Iterator<Item = &'static str>) -> String {
    let likeness = |known: &str| strsim::jaro_winkler(&name.to_lowercase(), known);
    let nearest = names.max_by(|a, b| likeness(a).total_cmp(&likeness(b))).unwrap_or_default();
    format!("no exhibit is called {name:?}; did you mean `{nearest}`?")
}
