//! How much memory a launch takes beyond its buffers.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use host::device::Kernel;

use crate::launch::Buffers;

/// The most bytes in memory at any time during a launch of `n` threads, less those before it. Meant for a
/// process of its own: what an earlier launch gave back may not be seen to be taken again.
pub(crate) fn of_launch(n: usize) -> Result<usize> {
    ensure!(n > 0, "--memory-of 0 leaves nothing to launch");
    let mut buffers = Buffers::new(n);
    let before = now()?;
    let (most, done) = (AtomicUsize::new(before), AtomicBool::new(false));
    let launched = thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                most.fetch_max(now().unwrap_or(0), Ordering::Relaxed);
                thread::sleep(Duration::from_micros(100));
            }
        });
        let launched = buffers.launch(Kernel::ReverseTileSynced, 256, true);
        done.store(true, Ordering::Relaxed);
        launched
    });
    launched.map(|_| most.into_inner() - before)
}

fn now() -> Result<usize> {
    let stats = memory_stats::memory_stats().context("this system does not say how much memory is in use")?;
    Ok(stats.physical_mem)
}
