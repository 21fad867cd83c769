//! Threads that write, return above the barrier, and leave others to read what they wrote.
//!
//! The barrier does not wait for them, which is why nothing hangs. It does not order their writes
//! either: only threads that come to the barrier take part in what it promises.

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

use crate::lesson::MAX_THREADS_PER_BLOCK;

/// Reverses the upper half of each block's tile of `input` into its lower half in `out`.
///
/// # Safety
///
/// `input` and `out` must have one element for every thread of the launch.
/// The kernel has a data race whatever the arguments are; that is its lesson.
#[kernel]
pub unsafe fn exited_writer(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; MAX_THREADS_PER_BLOCK] =
        [const { MaybeUninit::uninit() }; MAX_THREADS_PER_BLOCK];

    let tid = thread::thread_idx_x() as usize;
    let dim = thread::block_dim_x() as usize;
    let i = thread::index_1d() as usize;

    let x = unsafe { *input.get_unchecked(i) };
    unsafe { TILE[tid].write(x) };
    if tid >= dim / 2 {
        return;
    }
    thread::sync_threads();
    unsafe { *out.add(i) = TILE[dim - 1 - tid].assume_init() };
}
