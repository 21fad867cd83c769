//! Two lanes of one warp that trade cells, with no barrier because "a warp is in lockstep".
//!
//! It has not been since compute capability 7.0: lanes may run apart and come together again. The answer
//! is usually right, at every block size, and nothing promises it.

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

use crate::lesson::MAX_THREADS_PER_BLOCK;

/// Swaps the two elements of each pair of `input` into `out`.
///
/// # Safety
///
/// `input` and `out` must have one element for every thread of the launch.
/// The kernel has a data race whatever the arguments are; that is its lesson.
#[kernel]
pub unsafe fn warp_scope(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; MAX_THREADS_PER_BLOCK] =
        [const { MaybeUninit::uninit() }; MAX_THREADS_PER_BLOCK];

    let tid = thread::thread_idx_x() as usize;
    let i = thread::index_1d() as usize;

    let x = unsafe { *input.get_unchecked(i) };
    unsafe { TILE[tid].write(x) };
    // The missing `warp::sync_warp` belongs on this line.
    unsafe { *out.add(i) = TILE[tid ^ 1].assume_init() };
}
