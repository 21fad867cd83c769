//! A barrier that comes too late: it stands below the two accesses that need an order.
//!
//! A barrier orders what comes before it in one thread and what comes after it in another. Here the
//! write and the read are both before it, so it says nothing about them. A kernel does not *have* a
//! barrier; a barrier stands *between* two accesses.

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

use crate::lesson::MAX_THREADS_PER_BLOCK;

/// Reverses each block's tile of `input` into `out`, with the barrier in the wrong place.
///
/// # Safety
///
/// `input` and `out` must have one element for every thread of the launch.
/// The kernel has a data race whatever the arguments are; that is its lesson.
#[kernel]
pub unsafe fn barrier_below_the_read(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; MAX_THREADS_PER_BLOCK] =
        [const { MaybeUninit::uninit() }; MAX_THREADS_PER_BLOCK];

    let tid = thread::thread_idx_x() as usize;
    let dim = thread::block_dim_x() as usize;
    let i = thread::index_1d() as usize;

    let x = unsafe { *input.get_unchecked(i) };
    unsafe { TILE[tid].write(x) };
    let y = unsafe { TILE[dim - 1 - tid].assume_init() };
    thread::sync_threads();
    unsafe { *out.add(i) = y };
}
