//! The racy kernel with a branch for a guard: in the last block, lanes of one warp go two ways.
//!
//! While all lanes take the same path, one warp writes before it reads, and 32 threads hide the race.
//! Behind a branch that splits them, lanes may go on without waiting for the others.

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

use crate::lesson::MAX_THREADS_PER_BLOCK;

/// Reverses each block's tile of `input` into `out`, **without** the barrier that this needs.
///
/// # Safety
///
/// `out` must be valid for `input.len()` elements.
/// The kernel has a data race whatever the arguments are; that is its lesson.
#[kernel]
pub unsafe fn partial_block(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; MAX_THREADS_PER_BLOCK] =
        [const { MaybeUninit::uninit() }; MAX_THREADS_PER_BLOCK];

    let n = input.len();
    let tid = thread::thread_idx_x() as usize;
    let dim = thread::block_dim_x() as usize;
    let i = thread::index_1d() as usize;

    if i < n {
        unsafe { TILE[tid].write(*input.get_unchecked(i)) };
    } else {
        unsafe { TILE[tid].write(0.0) };
    }
    // The missing `thread::sync_threads();` belongs on this line.
    if i < n {
        unsafe { *out.add(i) = TILE[dim - 1 - tid].assume_init() };
    }
}
