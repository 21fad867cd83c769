//! Which runs a page offers of an exhibit.

use cuda_std::emulator::Policy;

use crate::exhibits::{Blocks, EXHIBITS, Exhibit};

/// The run that a picture shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// Threads in a block.
    pub block: u32,
    /// How they are interleaved.
    pub policy: Policy,
    /// From which seed.
    pub seed: u64,
}

impl Choice {
    /// The schedule in a few words.
    #[must_use]
    pub fn schedule(&self) -> String {
        let how = match self.policy {
            Policy::Lockstep => "warps in lockstep",
            Policy::Independent => "lanes run apart",
            Policy::Random => "one thread at a time",
            Policy::Exhaustive => "every order in turn",
        };
        format!("{how}, seed {}", self.seed)
    }
}

/// How much of an exhibit a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Several seeds, and every policy where its many steps can still be followed.
    Whole,
    /// Enough to see what it is about: where a page holds many exhibits.
    Brief,
}

/// The most threads of a block whose lanes can be followed one by one.
const FOLLOWED: u32 = 64;
/// The largest block that is offered without being asked for.
const LARGEST: u32 = 256;

/// The block sizes to show of an exhibit: its own, and those of every other exhibit that launches the
/// same kernel on the same work. So the one that is about 32 threads can be held against 64.
#[must_use]
pub fn sizes(exhibit: &Exhibit) -> Vec<u32> {
    let mut sizes: Vec<u32> = alike(exhibit).flat_map(|other| other.blocks.shown()).copied().collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes.retain(|&size| size <= LARGEST);
    sizes
}

/// Whether a block of this size can be shown.
#[must_use]
pub fn allows(exhibit: &Exhibit, block: u32) -> bool {
    alike(exhibit).any(|other| other.blocks.allow(block))
}

fn alike(exhibit: &Exhibit) -> impl Iterator<Item = &'static Exhibit> {
    let same = |other: &Exhibit| {
        (other.page.path, other.shape, other.call.names())
            == (exhibit.page.path, exhibit.shape, exhibit.call.names())
    };
    EXHIBITS.iter().filter(move |other| same(other))
}

/// The block size to begin with.
#[must_use]
pub fn first_size(exhibit: &Exhibit) -> u32 {
    let (Blocks::WholeWarps(sizes) | Blocks::Only(sizes)) = exhibit.blocks;
    sizes.first().copied().unwrap_or(FOLLOWED)
}

/// The runs to offer, by block size; the first of each size is the one to begin with.
#[must_use]
pub fn choices(exhibit: &Exhibit, asked: Option<u32>, seed: u64, extent: Extent) -> Vec<Choice> {
    let mut blocks = sizes(exhibit);
    blocks.extend(asked.filter(|&block| allows(exhibit, block)));
    blocks.sort_unstable();
    blocks.dedup();
    let seeds = if extent == Extent::Whole { 3 } else { 1 };
    let others = [Policy::Lockstep, Policy::Independent, Policy::Random];
    let others = others.into_iter().filter(|&policy| policy != exhibit.policy);
    let mut choices = Vec::new();
    for block in blocks {
        let policy = exhibit.policy;
        let seeds = if block <= LARGEST { seeds } else { 1 };
        choices.extend((0..seeds).map(|n| Choice { block, policy, seed: seed.wrapping_add(n) }));
        if block <= FOLLOWED && extent == Extent::Whole {
            choices.extend(others.clone().map(|policy| Choice { block, policy, seed }));
        }
    }
    choices
}
