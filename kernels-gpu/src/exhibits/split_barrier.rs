//! One barrier in the source, two in the machine code: the compiler is part of the story.
//!
//! This is `reverse_tile_synced` as a textbook writes it. It is right; what some compilers make of it is
//! not. The same condition, which is not the same for every thread, stands before the barrier and after
//! it. An optimiser that does not know what a barrier is joins the two and copies what lies between them
//! into both arms: now threads of one warp wait at different barriers, and the last, partial block comes
//! out wrong on a card (rust-lang/rust#137086).

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

use crate::lesson::MAX_THREADS_PER_BLOCK;

/// Reverses each block's tile of `input` into `out`.
///
/// # Safety
///
/// `out` must be valid for `input.len()` elements.
#[kernel]
pub unsafe fn reverse_tile_textbook(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; MAX_THREADS_PER_BLOCK] =
        [const { MaybeUninit::uninit() }; MAX_THREADS_PER_BLOCK];

    let n = input.len();
    let tid = thread::thread_idx_x() as usize;
    let dim = thread::block_dim_x() as usize;
    let i = thread::block_idx_x() as usize * dim + tid;

    unsafe { TILE[tid].write(if i < n { input[i] } else { 0.0 }) };
    thread::sync_threads();
    if i < n {
        unsafe { *out.add(i) = TILE[dim - 1 - tid].assume_init() };
    }
}
