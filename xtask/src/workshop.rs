//! A folder for unfinished work.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::cargo::target_dir;
use crate::interrupt::open;

/// A folder of one command alone, under `target`, which goes when this goes.
pub(crate) struct Workshop(TempDir);

impl Workshop {
    pub(crate) fn new() -> Result<Self> {
        let target = target_dir();
        let create = || {
            fs::create_dir_all(&target)?;
            let folder = tempfile::Builder::new().prefix("xtask-").tempdir_in(&target)?;
            Ok::<_, std::io::Error>(folder)
        };
        let folder = create().with_context(|| format!("cannot create a folder in {}", target.display()))?;
        open().folders.insert(folder.path().to_owned());
        Ok(Self(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        open().folders.remove(self.path());
    }
}
