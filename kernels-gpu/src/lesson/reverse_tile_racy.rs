//! Every block reverses its own tile through shared memory, with the barrier left out.
//!
//! Each thread writes one cell of the tile and reads a cell that another thread writes. Nothing
//! orders the write before the read: this is a data race. With 32 threads a block the answer
//! usually comes out right all the same, because one warp writes before it reads. **A right answer
//! proves nothing.**

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

use super::MAX_THREADS_PER_BLOCK;

/// Reverses each block's tile of `input` into `out`, **without** the barrier that this needs.
///
/// # Safety
///
/// `input` must not be empty and `out` must be valid for `input.len()` elements. The kernel has a
/// data race whatever the arguments are; that is its lesson.
#[kernel]
pub unsafe fn reverse_tile_racy(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; MAX_THREADS_PER_BLOCK] =
        [const { MaybeUninit::uninit() }; MAX_THREADS_PER_BLOCK];

    let n = input.len();
    let tid = thread::thread_idx_x() as usize;
    let dim = thread::block_dim_x() as usize;
    let i = thread::block_idx_x() as usize * dim + tid;

    // Every lane loads, from a clamped index: a branch here would let a compiler split the barrier.
    let x = unsafe { *input.get_unchecked(if i < n { i } else { n - 1 }) };
    unsafe { TILE[tid].write(if i < n { x } else { 0.0 }) };
    // The missing `thread::sync_threads();` belongs on this line.
    let src = dim - 1 - tid;
    if i < n {
        unsafe { *out.add(i) = TILE[src].assume_init() };
    }
}
