//! A folder for unfinished work.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::cargo::target_dir;
use crate::interrupt::open;

/// What the folders' names begin with.
const PREFIX: &str = "xtask-";

/// A folder of one command alone, under `target`, which goes when this goes.
///
/// A command that is killed leaves its folder. The next one that has the place to itself removes it: every
/// command shares a lock for as long as it has a folder, and the system takes the lock from one that is gone,
/// however it went.
pub(crate) struct Workshop {
    folder: TempDir,
    /// Given back last.
    _lock: File,
}

impl Workshop {
    pub(crate) fn new() -> Result<Self> {
        let target = target_dir();
        Self::within(&target).with_context(|| format!("cannot create a folder in {}", target.display()))
    }

    fn within(target: &Path) -> io::Result<Self> {
        fs::create_dir_all(target)?;
        let lock = File::create(target.join("xtask.lock"))?;
        if lock.try_lock().is_ok() {
            clear(target)?;
            lock.unlock()?;
        }
        // Where there are no locks, nothing is ever cleared.
        let _ = lock.lock_shared();
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(target)?;
        open().folders.insert(folder.path().to_owned());
        Ok(Self { folder, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        open().folders.remove(self.path());
    }
}

/// Removes what killed commands left.
fn clear(target: &Path) -> io::Result<()> {
    for entry in fs::read_dir(target)? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()) && entry.file_type()?.is_dir()
        {
            // What cannot be removed only takes space.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_goes_and_what_is_in_use_stays() {
        let target = tempfile::tempdir().expect("a folder");
        let [left, other] = ["xtask-left", "ptx"].map(|name| target.path().join(name));
        for folder in [&left, &other] {
            fs::create_dir(folder).expect("a folder");
            fs::write(folder.join("file"), "").expect("a file");
        }
        let first = Workshop::within(target.path()).expect("a folder");
        assert!(!left.exists() && other.join("file").exists());
        // Killed now, it would leave this too.
        fs::create_dir(&left).expect("a folder");
        let second = Workshop::within(target.path()).expect("a folder");
        assert!(first.path().exists() && second.path().exists() && left.exists());
        let gone = [first.path().to_owned(), second.path().to_owned(), left];
        drop((first, second));
        let third = Workshop::within(target.path()).expect("a folder");
        assert!(gone.iter().all(|folder| !folder.exists()) && third.path().exists());
    }
}
