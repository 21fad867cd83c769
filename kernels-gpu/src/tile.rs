//! A shared tile whose type remembers what was done to it last.
//!
//! [`write`](Tile::write) makes a [`Written`] tile of an [`Empty`] one, [`sync`](Tile::sync) makes it
//! [`Readable`], and another `sync` makes it empty again. Each takes the tile away and gives it back as
//! another type, so the write, the barrier and the read can only stand in this order. The types hold
//! nothing: the machine code is that of the same kernel with a bare shared array.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use cuda_std::{address_space, thread};

use crate::lesson::MAX_THREADS_PER_BLOCK;

#[address_space(shared)]
static mut CELLS: [MaybeUninit<f32>; MAX_THREADS_PER_BLOCK] =
    [const { MaybeUninit::uninit() }; MAX_THREADS_PER_BLOCK];

/// The block's tile, as one thread sees it.
#[must_use = "a tile that is dropped is of no use to this thread any more"]
pub struct Tile<State> {
    state: PhantomData<State>,
}

/// Nobody reads the tile any more: it may be written.
pub enum Empty {}

/// This thread has written its cell, and nothing orders that before another thread's read yet.
pub enum Written {}

/// A barrier stands between every write of the tile and what comes now: it may be read.
pub enum Readable {}

impl Tile<Empty> {
    /// The tile of the block.
    ///
    /// # Safety
    ///
    /// * A thread makes one tile at most: all of them are the same memory.
    /// * The threads of the block call the tile's methods in the same order, all of them at the same
    ///   calls. None leaves in between, skips a call or goes round a loop more often than others.
    /// * No two threads write the same cell between two barriers.
    /// * No thread reads a cell that none has written.
    #[inline(always)]
    pub unsafe fn new() -> Self {
        Self { state: PhantomData }
    }

    /// Writes this thread's cell.
    #[inline(always)]
    #[track_caller]
    pub fn write(self, cell: usize, value: f32) -> Tile<Written> {
        // SAFETY: `new` asks that no other thread writes this cell; a barrier stands between this
        // write and what any thread has read before.
        unsafe { CELLS[cell].write(value) };
        Tile { state: PhantomData }
    }
}

impl Tile<Written> {
    /// Waits for the block: all writes before it, all reads after it.
    #[inline(always)]
    #[track_caller]
    pub fn sync(self) -> Tile<Readable> {
        thread::sync_threads();
        Tile { state: PhantomData }
    }
}

impl Tile<Readable> {
    /// Reads any cell.
    #[inline(always)]
    #[track_caller]
    pub fn read(&self, cell: usize) -> f32 {
        // SAFETY: `new` asks that somebody has written this cell; a barrier stands between that and now.
        unsafe { CELLS[cell].assume_init() }
    }

    /// Waits for the block: all reads before it, the next writes after it.
    #[inline(always)]
    #[track_caller]
    pub fn sync(self) -> Tile<Empty> {
        thread::sync_threads();
        Tile { state: PhantomData }
    }
}
