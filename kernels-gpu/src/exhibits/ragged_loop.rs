//! A loop with barriers that some threads leave one trip earlier than others.
//!
//! A barrier in a loop is a different one in every trip. The threads that have left live on, so the last
//! trip's barriers wait for threads that never come to them.

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

use super::TRIPS;
use crate::lesson::MAX_THREADS_PER_BLOCK;

/// Adds up tiles of `input`, each reversed, into `out`: one tile less in the lower half of a block.
///
/// # Safety
///
/// `out` must have one element for every thread of the launch, and `input` [`TRIPS`] times as many.
/// Its barrier is undefined whatever the arguments are; that is its lesson.
#[kernel]
pub unsafe fn ragged_loop(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; MAX_THREADS_PER_BLOCK] =
        [const { MaybeUninit::uninit() }; MAX_THREADS_PER_BLOCK];

    let tid = thread::thread_idx_x() as usize;
    let dim = thread::block_dim_x() as usize;
    let i = thread::index_1d() as usize;
    let threads = (thread::grid_dim_x() * thread::block_dim_x()) as usize;

    let trips = if tid < dim / 2 { TRIPS - 1 } else { TRIPS };
    let mut sum = 0.0;
    for trip in 0..trips {
        let x = unsafe { *input.get_unchecked(trip * threads + i) };
        unsafe { TILE[tid].write(x) };
        thread::sync_threads();
        sum += unsafe { TILE[dim - 1 - tid].assume_init() };
        thread::sync_threads();
    }
    unsafe { *out.add(i) = sum };
}
