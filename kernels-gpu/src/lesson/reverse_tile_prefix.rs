//! Threads that return above the barrier: it does not hang, and it is defined.
//!
//! The barrier waits for the threads of the block that have **not exited**. The threads that return
//! here have written nothing that anybody reads; had they, nothing would order their writes before
//! those reads, for an exited thread takes part in neither promise.

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

use super::MAX_THREADS_PER_BLOCK;

/// Reverses the first `keep` elements of each block's tile of `input` into `out`; the others are
/// left alone.
///
/// # Safety
///
/// `input` must not be empty, `out` must be valid for `input.len()` elements, and `keep` must be from
/// 1 to the number of threads of a block.
#[kernel]
pub unsafe fn reverse_tile_prefix(input: &[f32], out: *mut f32, keep: u32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; MAX_THREADS_PER_BLOCK] =
        [const { MaybeUninit::uninit() }; MAX_THREADS_PER_BLOCK];

    let n = input.len();
    let keep = keep as usize;
    let tid = thread::thread_idx_x() as usize;
    if tid >= keep {
        return;
    }
    let dim = thread::block_dim_x() as usize;
    let i = thread::block_idx_x() as usize * dim + tid;

    // Every lane loads, from a clamped index: a branch here would let a compiler split the barrier.
    let x = unsafe { *input.get_unchecked(if i < n { i } else { n - 1 }) };
    unsafe { TILE[tid].write(if i < n { x } else { 0.0 }) };
    thread::sync_threads();
    let src = keep - 1 - tid;
    if i < n {
        unsafe { *out.add(i) = TILE[src].assume_init() };
    }
}
