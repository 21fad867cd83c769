//! The files of the exercise: all that `cargo xtask exercise` ever writes.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::texts;
use crate::cargo::root;

/// The folder `exercise`, a copy of it, or a version that is kept in it.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// What paths are shown relative to.
    pub(super) shown_from: PathBuf,
}

impl Folder {
    pub(super) fn new(copy: Option<PathBuf>) -> Result<Self> {
        let folder = copy.unwrap_or_else(|| root().join("exercise"));
        let folder =
            std::path::absolute(&folder).with_context(|| format!("cannot find {}", folder.display()))?;
        let shown_from = folder.parent().unwrap_or(&folder).to_owned();
        Ok(Self { path: folder, shown_from })
    }

    /// Where the version of step 2 is kept.
    pub(super) fn step_2(&self) -> Self {
        Self { path: self.path.join("step-2"), shown_from: self.shown_from.clone() }
    }

    /// Keeps a version as that of step 2, so that it can be run again.
    pub(super) fn keep_step_2(&self, source: &str) -> Result<()> {
        let step_2 = self.step_2();
        let keep = || {
            fs::create_dir_all(step_2.path.join("src"))?;
            fs::copy(self.main(), step_2.main())
        };
        keep().with_context(|| {
            format!("cannot copy {} to {}", self.shown(&self.main()), self.shown(&step_2.main()))
        })?;
        self.write(&step_2.tile(), source)
    }

    pub(super) fn main(&self) -> PathBuf {
        self.path.join("src").join("main.rs")
    }

    /// The file that the learner edits.
    pub(super) fn tile(&self) -> PathBuf {
        self.path.join("src").join("tile.rs")
    }

    pub(super) fn progress(&self) -> PathBuf {
        self.path.join("progress.json")
    }

    pub(super) fn submission(&self) -> PathBuf {
        self.path.join("submission.md")
    }

    pub(super) fn shown(&self, path: &Path) -> String {
        command::text::path(path.strip_prefix(&self.shown_from).unwrap_or(path))
    }

    pub(super) fn read_tile(&self) -> Result<String> {
        let tile = self.tile();
        fs::read_to_string(&tile).with_context(|| {
            format!("cannot read {}; `cargo xtask exercise --reset` brings it back", self.shown(&tile))
        })
    }

    pub(super) fn write(&self, path: &Path, text: &str) -> Result<()> {
        command::file::write(path, text)
    }

    /// Back to the start. Returns what was set aside, as pairs of old and new path.
    pub(super) fn reset(&self) -> Result<Vec<(String, String)>> {
        let untouched = fs::read_to_string(self.tile()).is_ok_and(|text| text == texts::START);
        let mut aside = Vec::new();
        for path in [self.tile(), self.progress(), self.submission(), self.step_2().path] {
            if path.exists() && !(path == self.tile() && untouched) {
                let backup = free_backup(&path);
                fs::rename(&path, &backup).with_context(|| {
                    format!("cannot rename {} to {}", self.shown(&path), self.shown(&backup))
                })?;
                aside.push((self.shown(&path), self.shown(&backup)));
            }
        }
        self.write(&self.tile(), texts::START)?;
        Ok(aside)
    }
}

/// The first name beside `path` that is not taken, so that no backup is overwritten.
fn free_backup(path: &Path) -> PathBuf {
    let named = |suffix: &str| {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(suffix);
        path.with_file_name(name)
    };
    let numbered = (2..).map(|number: u32| named(&format!(".{number}.bak")));
    std::iter::once(named(".bak"))
        .chain(numbered)
        .find(|backup| !backup.exists())
        .unwrap_or_else(|| named(".bak"))
}
