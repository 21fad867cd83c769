//! Ctrl-C, and what else asks a program to end: what was started ends with us, and what is unfinished goes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{fs, process, thread};

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

/// How often to look whether an ended program is gone, and how long to wait between.
const LOOKS: usize = 500;
const PAUSE: Duration = Duration::from_millis(10);

/// Ends a program with all that it started, and waits until it is gone. One that a driver's call holds on to may
/// outlive even that; it is left to the system.
pub(crate) fn end(child: &mut dyn ChildWrapper) {
    // It may have ended by itself.
    let _ = child.start_kill();
    for _ in 0..LOOKS {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        thread::sleep(PAUSE);
    }
}

/// From now on, an interrupt ends all of it.
pub(crate) fn listen() -> Result<()> {
    ctrlc::set_handler(|| {
        // Held to the end: whoever waits for a child never hears that it was killed.
        let mut open = open();
        for child in open.children.values_mut() {
            end(&mut **child);
        }
        for folder in &open.folders {
            // What cannot be removed only takes space.
            let _ = fs::remove_dir_all(folder);
        }
        process::exit(INTERRUPTED)
    })
    .context("cannot listen for Ctrl-C")
}
