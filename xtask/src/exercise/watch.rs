//! `--watch`: runs the file again whenever it is saved.

use std::io::Write;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use notify::{RecursiveMode, Watcher};

use super::folder::Folder;

/// A save is often several events; they are over after this time.
const SETTLE: Duration = Duration::from_millis(100);

/// Calls `turn` now and after each change of the file. Ends with the process only, or with an error of
/// the watching itself, as where nobody reads any more.
pub(super) fn watch(folder: &Folder, mut turn: impl FnMut() -> Result<()>) -> Result<()> {
    let tile = folder.tile();
    let source = tile.parent().context("the file has no folder")?;
    let (send, events) = mpsc::channel();
    let mut watcher = notify::recommended_watcher(send).context("cannot watch files on this system")?;
    // The folder, for editors that save by renaming.
    let what = || format!("cannot watch {}", folder.shown(source));
    watcher.watch(source, RecursiveMode::NonRecursive).with_context(what)?;
    let mut seen = None;
    loop {
        let text = folder.read_tile().ok();
        // Reading the file is an event too, ours included.
        if text != seen {
            seen = text;
            if let Err(error) = turn() {
                command::note(format_args!("error: {error:#}"));
            }
            writeln!(command::dialogue(), "\nwatching {}; Ctrl-C ends it", folder.shown(&tile))
                .context("nobody reads what it shows")?;
        }
        let first = events.recv().context("the watcher ended")?;
        first.with_context(what)?;
        loop {
            match events.recv_timeout(SETTLE) {
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => bail!("the watcher ended"),
            }
        }
    }
}
