//! A barrier inside an `if` that only some threads of the block go into.
//!
//! The others do not exit, they go past it; the barrier has no rule for that. It may hang, and it may go
//! on and seem right. This is not the early return: those threads are gone, these have skipped.

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

use crate::lesson::MAX_THREADS_PER_BLOCK;

/// Reverses the upper half of each block's tile of `input` into its lower half in `out`, and copies the rest.
///
/// # Safety
///
/// `input` and `out` must have one element for every thread of the launch.
/// Its barrier is undefined whatever the arguments are; that is its lesson.
#[kernel]
pub unsafe fn thread_dependent_if(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; MAX_THREADS_PER_BLOCK] =
        [const { MaybeUninit::uninit() }; MAX_THREADS_PER_BLOCK];

    let tid = thread::thread_idx_x() as usize;
    let dim = thread::block_dim_x() as usize;
    let i = thread::index_1d() as usize;

    let x = unsafe { *input.get_unchecked(i) };
    unsafe { TILE[tid].write(x) };
    if tid < dim / 2 {
        thread::sync_threads();
        unsafe { *out.add(i) = TILE[dim - 1 - tid].assume_init() };
    } else {
        unsafe { *out.add(i) = x };
    }
}
