//! Ctrl-C, and what else asks a program to end: what was started ends with us, and what is unfinished goes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, process};

use anyhow::{Context, Result};
use process_wrap::std::ChildWrapper;

/// Exit code of a program that was interrupted, as shells have it.
const INTERRUPTED: i32 = 130;

/// What has to go before we do.
pub(crate) struct Open {
    /// Programs that run, by their process id.
    pub(crate) children: BTreeMap<u32, Box<dyn ChildWrapper>>,
    /// Folders with unfinished work.
    pub(crate) folders: BTreeSet<PathBuf>,
}

static OPEN: Mutex<Open> = Mutex::new(Open { children: BTreeMap::new(), folders: BTreeSet::new() });

/// What there is now. Nobody is interrupted while this is held.
pub(crate) fn open() -> MutexGuard<'static, Open> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on, an interrupt ends all of it.
pub(crate) fn listen() -> Result<()> {
    ctrlc::set_handler(|| {
        // Held to the end: whoever waits for a child never hears that it was killed.
        let mut open = open();
        for child in open.children.values_mut() {
            // It may have ended by itself.
            let _ = child.kill();
        }
        for folder in &open.folders {
            // What cannot be removed only takes space.
            let _ = fs::remove_dir_all(folder);
        }
        process::exit(INTERRUPTED)
    })
    .context("cannot listen for Ctrl-C")
}
