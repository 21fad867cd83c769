//! The files of the exercise: all that `cargo xtask exercise` ever writes.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::texts;
use crate::cargo::root;

/// The folder `exercise`, or a copy of it.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new(copy: Option<PathBuf>) -> Result<Self> {
        let folder = copy.unwrap_or_else(|| root().join("exercise"));
        let folder =
            std::path::absolute(&folder).with_context(|| format!("cannot find {}", folder.display()))?;
        Ok(Self(folder))
    }

    pub(super) fn main(&self) -> PathBuf {
        self.0.join("src").join("main.rs")
    }

    /// The file that the learner edits.
    pub(super) fn tile(&self) -> PathBuf {
        self.0.join("src").join("tile.rs")
    }

    pub(super) fn progress(&self) -> PathBuf {
        self.0.join("progress.json")
    }

    pub(super) fn submission(&self) -> PathBuf {
        self.0.join("submission.md")
    }

    /// What paths are shown relative to.
    pub(super) fn shown_from(&self) -> &Path {
        self.0.parent().unwrap_or(&self.0)
    }

    pub(super) fn shown(&self, path: &Path) -> String {
        path.strip_prefix(self.shown_from()).unwrap_or(path).display().to_string()
    }

    pub(super) fn read_tile(&self) -> Result<String> {
        let tile = self.tile();
        fs::read_to_string(&tile).with_context(|| {
            format!("cannot read {}; `cargo xtask exercise --reset` brings it back", self.shown(&tile))
        })
    }

    pub(super) fn write(&self, path: &Path, text: &str) -> Result<()> {
        fs::write(path, text).with_context(|| format!("cannot write {}", self.shown(path)))
    }

    /// Back to the start. Returns what was set aside, as pairs of old and new path.
    pub(super) fn reset(&self) -> Result<Vec<(String, String)>> {
        let untouched = fs::read_to_string(self.tile()).is_ok_and(|text| text == texts::START);
        let mut aside = Vec::new();
        for path in [self.tile(), self.progress(), self.submission()] {
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
