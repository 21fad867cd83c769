//! Every thread of the block writes the same cell, and a barrier follows.
//!
//! The barrier orders all the writes before all the reads. It orders no write before another: which value
//! stays is anybody's guess, and a barrier cannot make two writes to one cell safe.

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

/// Hands one element of each block's tile of `input` to all its threads: which one, nobody knows.
///
/// # Safety
///
/// `input` and `out` must have one element for every thread of the launch.
/// The kernel has a data race whatever the arguments are; that is its lesson.
#[kernel]
pub unsafe fn two_writers(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut CELL: [MaybeUninit<f32>; 1] = [MaybeUninit::uninit()];

    let i = thread::index_1d() as usize;

    let x = unsafe { *input.get_unchecked(i) };
    unsafe { CELL[0].write(x) };
    thread::sync_threads();
    unsafe { *out.add(i) = CELL[0].assume_init() };
}
