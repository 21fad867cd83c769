//! One OS thread's share of a launch: block after block, turn after turn.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use race::findings::Findings;
use race::grid::Pattern;
use race::schedule::Trace;

use super::block::{Block, Engine, enter, with};
use super::fiber::Fibers;

/// The kernel with its arguments.
pub(crate) type Kernel<'a> = dyn Fn() + Sync + 'a;

/// The blocks still to run.
#[derive(Debug)]
pub(crate) struct Queue {
    next: AtomicU64,
    /// How many blocks a worker takes at a time.
    portion: u64,
    /// Lowered to a block that faulted: those before it still run, so that the same one is reported
    /// whichever worker is faster.
    end: AtomicU64,
}

impl Queue {
    pub(crate) fn new(blocks: u64, workers: usize) -> Self {
        // Few enough that no worker waits long for another at the end; neighbours, as they are alike.
        let portion = (blocks / (32 * workers as u64)).clamp(1, 64);
        Self { next: AtomicU64::new(0), portion, end: AtomicU64::new(blocks) }
    }

    /// Blocks to run one after the other, as far as [`still`](Self::still) says so.
    fn take(&self) -> Option<Range<u64>> {
        let first = self.next.fetch_add(self.portion, Ordering::Relaxed);
        self.still(first).then(|| first..first + self.portion)
    }

    fn still(&self, block: u64) -> bool {
        block < self.end.load(Ordering::Relaxed)
    }
}

/// The threads of a block, whatever it is that runs them.
pub(crate) trait Threads {
    /// Lets these lanes of a warp run, each to its next access or barrier, or to its end.
    fn turn(&mut self, warp: usize, lanes: u32);

    /// Ends the threads that have not exited.
    fn stop(&mut self);
}

/// Runs blocks of the block's queue until there are none.
pub(crate) fn run(block: Block, kernel: &Kernel<'_>) -> (Findings, Vec<Pattern>, Trace) {
    // Behind a pointer of its own: kernel code borrows it while the worker lets threads run.
    let block = Box::into_raw(Box::new(block));
    enter(block);
    // A kernel that takes no stacks runs all its blocks right here; any other returns at once.
    let ended = catch_unwind(AssertUnwindSafe(kernel));
    if with(|block| block.engine) == Engine::Futures {
        if let Err(payload) = ended {
            with(|block| block.panicked(&*payload));
        }
    } else {
        with(|block| block.engine = Engine::Fibers);
        let mut fibers = Fibers::new(kernel, with(|block| block.lanes.len()));
        run_blocks(&mut fibers);
        fibers.finish();
    }
    enter(ptr::null_mut());
    // SAFETY: from `Box::into_raw` above; nothing uses it any more.
    let block = *unsafe { Box::from_raw(block) };
    (block.findings, block.global.grid.into_patterns(), block.scheduler.into_trace())
}

/// Lets these threads run one block after the other.
pub(crate) fn run_blocks(threads: &mut impl Threads) {
    let queue = with(|block| Arc::clone(&block.queue));
    while let Some(blocks) = queue.take() {
        for block in blocks.take_while(|&block| queue.still(block)) {
            if run_block(block, threads) {
                queue.end.fetch_min(block, Ordering::Relaxed);
            }
        }
    }
}

/// Runs one block to its end; true if it faulted.
fn run_block(linear: u64, threads: &mut impl Threads) -> bool {
    with(|block| block.begin(linear));
    while let Some((warp, lanes)) = with(Block::next_turn) {
        threads.turn(warp, lanes);
    }
    let faulted = with(|block| block.faulted);
    if faulted {
        threads.stop();
    }
    with(Block::end);
    faulted
}
