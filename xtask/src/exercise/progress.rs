//! What the learner has done so far, kept between calls.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::folder::Folder;
use super::measured::Measured;
use super::placement::Placement;

/// A version of the file that has been run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Version {
    pub(super) placement: Placement,
    pub(super) source: String,
    pub(super) measured: Measured,
}

/// Everything that is kept.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Progress {
    /// The version of the last call.
    pub(super) last: Option<Version>,
    /// Step 1: without the barrier.
    pub(super) without: Option<Version>,
    /// Step 2: with the barrier below the read.
    pub(super) below: Option<Version>,
    /// Step 3: with the barrier in its place, after the two others.
    pub(super) fixed: Option<Version>,
    pub(super) answers: Answers,
    /// What this command last wrote to be handed in: a text that differs is the learner's.
    pub(super) submission: Option<String>,
}

/// Answers that fit what was measured, and the one that nothing checks.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Answers {
    pub(super) failed_sizes: Option<BTreeSet<u32>>,
    pub(super) step_2_changed: Option<bool>,
    pub(super) why: Option<String>,
}

impl Progress {
    pub(super) fn load(folder: &Folder) -> Result<Self> {
        let path = folder.progress();
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            text => text.with_context(|| format!("cannot read {}", folder.shown(&path)))?,
        };
        serde_json::from_str(&text).with_context(|| {
            format!(
                "{} is not what this command wrote; `cargo xtask exercise --reset` starts over",
                folder.shown(&path)
            )
        })
    }

    pub(super) fn save(&self, folder: &Folder) -> Result<()> {
        let text = serde_json::to_string_pretty(self).context("cannot write the progress as JSON")?;
        folder.write(&folder.progress(), &(text + "\n"))
    }

    /// Files a version under the step that it belongs to.
    pub(super) fn record(&mut self, version: Version) {
        match version.placement {
            Placement::Missing => self.without = Some(version.clone()),
            Placement::Below => self.below = Some(version.clone()),
            Placement::InPlace if self.without.is_some() && self.below.is_some() => {
                self.fixed = Some(version.clone());
            }
            Placement::InPlace | Placement::Above | Placement::Other(_) => {}
        }
        self.last = Some(version);
    }
}
