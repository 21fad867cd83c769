//! What a kernel left in the output, against what it should have.

use serde::{Deserialize, Serialize};

/// The answer where nobody knows the right one.
pub const ENDED: &str = "ended";

/// What that means.
pub const NO_RIGHT_ANSWER: &str = "ended: there is no right answer to compare with";

/// The answer of one launch. It proves nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// How many elements the output has.
    pub elements: usize,
    /// How many of them are not what the reference says, if there is one.
    pub mismatches: Option<usize>,
    /// The first of these.
    pub first_bad: Option<usize>,
}

impl Answer {
    /// Compares every element, by its bits: poison must stay poison.
    #[must_use]
    pub fn compare(out: &[f32], wanted: Option<&[f32]>) -> Self {
        let wrong_at = wanted.map(|wanted| wrong_at(out, wanted));
        Self {
            elements: out.len(),
            mismatches: wrong_at.as_ref().map(Vec::len),
            first_bad: wrong_at.and_then(|wrong| wrong.first().copied()),
        }
    }
}

/// What `lesson-cuda launch` says of its launches.
#[derive(Debug, Serialize, Deserialize)]
pub struct Launches {
    /// The card, in one line.
    pub device: String,
    /// The answer of each launch that came to its end.
    pub launches: Vec<Answer>,
    /// The kernel's fault that ended the last one, in one line.
    pub fault: Option<String>,
}

/// Where the output differs from what is wanted.
#[must_use]
pub fn wrong_at(out: &[f32], wanted: &[f32]) -> Vec<usize> {
    let differs = |&i: &usize| out[i].to_bits() != wanted[i].to_bits();
    (0..out.len()).filter(differs).collect()
}
