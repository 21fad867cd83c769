//! A barrier in both arms of an `if`: every thread comes to *a* barrier, not to the *same* one.
//!
//! Two calls are two barriers. Half of the block waits at one, half at the other, and neither is ever
//! complete. That hardware may pair them up all the same makes the answer right, not the kernel.

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

use crate::lesson::MAX_THREADS_PER_BLOCK;

/// Reverses each block's tile of `input` into `out`.
///
/// # Safety
///
/// `input` and `out` must have one element for every thread of the launch.
/// Its barrier is undefined whatever the arguments are; that is its lesson.
#[kernel]
pub unsafe fn barrier_in_both_arms(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; MAX_THREADS_PER_BLOCK] =
        [const { MaybeUninit::uninit() }; MAX_THREADS_PER_BLOCK];

    let tid = thread::thread_idx_x() as usize;
    let dim = thread::block_dim_x() as usize;
    let i = thread::index_1d() as usize;

    let x = unsafe { *input.get_unchecked(i) };
    unsafe { TILE[tid].write(x) };
    if tid < dim / 2 {
        thread::sync_threads(); // the lower half waits here
    } else {
        thread::sync_threads(); // the upper half waits here
    }
    unsafe { *out.add(i) = TILE[dim - 1 - tid].assume_init() };
}
