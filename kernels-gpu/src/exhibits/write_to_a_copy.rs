//! A pair of braces too many: the write goes to a copy of the cell, and is lost.
//!
//! `MaybeUninit<f32>` is `Copy`, so `unsafe { TILE[tid] }` is a value, not a place. It compiles, it warns of
//! nothing, and the tile stays as it was. The `unsafe` belongs around the whole statement.

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

use crate::lesson::MAX_THREADS_PER_BLOCK;

/// Means to reverse each block's tile of `input` into `out`, and never writes the tile.
///
/// # Safety
///
/// `input` and `out` must have one element for every thread of the launch.
/// The kernel reads cells that nothing has written; that is its lesson.
#[kernel]
pub unsafe fn write_to_a_copy(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; MAX_THREADS_PER_BLOCK] =
        [const { MaybeUninit::uninit() }; MAX_THREADS_PER_BLOCK];

    let tid = thread::thread_idx_x() as usize;
    let dim = thread::block_dim_x() as usize;
    let i = thread::index_1d() as usize;

    let x = unsafe { *input.get_unchecked(i) };
    unsafe { TILE[tid] }.write(x);
    thread::sync_threads();
    unsafe { *out.add(i) = TILE[dim - 1 - tid].assume_init() };
}
