//! Half of the tile is written, and the other half is read.
//!
//! The barrier is where it should be and it orders everything there is to order. It does not put anything
//! into a cell: shared memory starts with unspecified contents, as `MaybeUninit` says.

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

use crate::lesson::MAX_THREADS_PER_BLOCK;

/// Writes the lower half of each block's tile, and reads all of it into `out`, reversed.
///
/// # Safety
///
/// `input` and `out` must have one element for every thread of the launch.
/// The kernel reads cells that nothing has written; that is its lesson.
#[kernel]
pub unsafe fn uninitialised_slot(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; MAX_THREADS_PER_BLOCK] =
        [const { MaybeUninit::uninit() }; MAX_THREADS_PER_BLOCK];

    let tid = thread::thread_idx_x() as usize;
    let dim = thread::block_dim_x() as usize;
    let i = thread::index_1d() as usize;

    let x = unsafe { *input.get_unchecked(i) };
    if tid < dim / 2 {
        unsafe { TILE[tid].write(x) };
    }
    thread::sync_threads();
    unsafe { *out.add(i) = TILE[dim - 1 - tid].assume_init() };
}
