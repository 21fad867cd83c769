//! A running sum in place: in every trip each thread adds its neighbour's cell to its own.
//!
//! One barrier a trip keeps the trips apart. Within a trip, a thread's read of its neighbour's cell and the
//! neighbour's write of it have no order: it may get the sum of this trip for that of the last. All
//! threads have to read, wait, and only then write.

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

use crate::lesson::MAX_THREADS_PER_BLOCK;

/// Writes the running sums of each block's tile of `input` to `out`.
///
/// # Safety
///
/// `input` and `out` must have one element for every thread of the launch.
/// The kernel has a data race whatever the arguments are; that is its lesson.
#[kernel]
pub unsafe fn in_place_scan(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; MAX_THREADS_PER_BLOCK] =
        [const { MaybeUninit::uninit() }; MAX_THREADS_PER_BLOCK];

    let tid = thread::thread_idx_x() as usize;
    let dim = thread::block_dim_x() as usize;
    let i = thread::index_1d() as usize;

    let x = unsafe { *input.get_unchecked(i) };
    unsafe { TILE[tid].write(x) };
    thread::sync_threads();
    let mut distance = 1;
    while distance < dim {
        if tid >= distance {
            let sum = unsafe { TILE[tid].assume_init() + TILE[tid - distance].assume_init() };
            // The missing `thread::sync_threads();` belongs here, where all threads come by.
            unsafe { TILE[tid].write(sum) };
        }
        thread::sync_threads();
        distance *= 2;
    }
    unsafe { *out.add(i) = TILE[tid].assume_init() };
}
