//! The guard as an early return: the threads behind the end of the input leave before they write.
//!
//! The barrier does not mind. But in the last block the threads that stay read the cells that those would
//! have filled. Hence the lesson guards the load and the store, and lets every thread write its cell.

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

use crate::lesson::MAX_THREADS_PER_BLOCK;

/// Reverses each block's tile of `input` into `out`, except in the last block if it is not full.
///
/// # Safety
///
/// `out` must be valid for `input.len()` elements.
/// In a block that is not full, the kernel reads cells that nothing has written; that is its lesson.
#[kernel]
pub unsafe fn guard_by_return(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; MAX_THREADS_PER_BLOCK] =
        [const { MaybeUninit::uninit() }; MAX_THREADS_PER_BLOCK];

    let tid = thread::thread_idx_x() as usize;
    let dim = thread::block_dim_x() as usize;
    let i = thread::index_1d() as usize;

    if i >= input.len() {
        return;
    }
    let x = unsafe { *input.get_unchecked(i) };
    unsafe { TILE[tid].write(x) };
    thread::sync_threads();
    unsafe { *out.add(i) = TILE[dim - 1 - tid].assume_init() };
}
