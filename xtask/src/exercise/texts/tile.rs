//! The file of the exercise: `cargo xtask exercise` runs it and says what comes next.
//!
//! Every block reverses its own tile through shared memory, and as it stands the kernel is right.
//!
//! 1. Delete the line with the barrier. Which block sizes come out wrong?
//! 2. Put the barrier back, but **below** the read of the tile: at the end of the function. What changes?
//! 3. Put it where it belongs. Then a checker judges this version and that of step 2.
//!
//! Save after each step and run `cargo xtask exercise`, or leave `cargo xtask exercise --watch` running.
//! Nothing you write here can break the rest of the project.

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

use super::MAX_THREADS_PER_BLOCK;

/// Reverses each block's tile of `input` into `out`.
///
/// # Safety
///
/// `input` must not be empty and `out` must be valid for `input.len()` elements.
#[kernel]
pub unsafe fn reverse_tile_synced(input: &[f32], out: *mut f32) {
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
    thread::sync_threads();
    let src = dim - 1 - tid;
    if i < n {
        unsafe { *out.add(i) = TILE[src].assume_init() };
    }
}
