//! Every thread of the block writes the same *value* to the same cell, and a barrier follows.
//!
//! Still two writes without an order, and still a race by the letter. But whichever comes last, the cell
//! holds the same: the checkers call it an info, the mildest of the three levels.

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

/// Hands the first element of each block's tile of `input` to all its threads.
///
/// # Safety
///
/// `input` and `out` must have one element for every thread of the launch.
/// The kernel has a data race whatever the arguments are; that is its lesson.
#[kernel]
pub unsafe fn same_value_writers(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut CELL: [MaybeUninit<f32>; 1] = [MaybeUninit::uninit()];

    let tid = thread::thread_idx_x() as usize;
    let i = thread::index_1d() as usize;

    let first = unsafe { *input.get_unchecked(i - tid) };
    unsafe { CELL[0].write(first) };
    thread::sync_threads();
    unsafe { *out.add(i) = CELL[0].assume_init() };
}
