//! The loop with two barriers once more, with a tile that does not compile without them.
//!
//! [`Tile`](crate::tile::Tile) is the same shared array behind a type that remembers what was done to
//! it last. Forget a `sync()`, put it below the read or leave out the second one in the loop, and there
//! is no such method on the type at hand.

use cuda_std::{kernel, thread};

use super::TRIPS;
use crate::tile::Tile;

/// Adds up [`TRIPS`] tiles of `input`, each reversed, into `out`.
///
/// # Safety
///
/// `out` must have one element for every thread of the launch, and `input` [`TRIPS`] times as many.
#[kernel]
pub unsafe fn typed_tile(input: &[f32], out: *mut f32) {
    let tid = thread::thread_idx_x() as usize;
    let dim = thread::block_dim_x() as usize;
    let i = thread::index_1d() as usize;
    let threads = (thread::grid_dim_x() * thread::block_dim_x()) as usize;

    let mut tile = unsafe { Tile::new() };
    let mut sum = 0.0;
    for trip in 0..TRIPS {
        let x = unsafe { *input.get_unchecked(trip * threads + i) };
        let readable = tile.write(tid, x).sync();
        sum += readable.read(dim - 1 - tid);
        tile = readable.sync();
    }
    unsafe { *out.add(i) = sum };
}
