//! A barrier inside an `if` whose condition is the same for every thread of the block.
//!
//! Blocks differ, and that is no concern of a block barrier: in each block either all threads come to it
//! or none does. The rule is about the condition, not about the `if`.

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

use crate::lesson::MAX_THREADS_PER_BLOCK;

/// Reverses every second block's tile of `input` into `out`, and copies the others.
///
/// # Safety
///
/// `input` and `out` must have one element for every thread of the launch.
#[kernel]
pub unsafe fn uniform_if(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; MAX_THREADS_PER_BLOCK] =
        [const { MaybeUninit::uninit() }; MAX_THREADS_PER_BLOCK];

    let tid = thread::thread_idx_x() as usize;
    let dim = thread::block_dim_x() as usize;
    let i = thread::index_1d() as usize;

    let x = unsafe { *input.get_unchecked(i) };
    if thread::block_idx_x().is_multiple_of(2) {
        unsafe { TILE[tid].write(x) };
        thread::sync_threads();
        unsafe { *out.add(i) = TILE[dim - 1 - tid].assume_init() };
    } else {
        unsafe { *out.add(i) = x };
    }
}
