//! A tile that is filled again in every trip of a loop, with one barrier a trip.
//!
//! The barrier puts this trip's write before this trip's read. Nothing puts this trip's read before the
//! *next* trip's write of the same cell: a thread that is fast overwrites what a slow one still has to read.

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

use super::TRIPS;
use crate::lesson::MAX_THREADS_PER_BLOCK;

/// Adds up [`TRIPS`] tiles of `input`, each reversed, into `out`.
///
/// # Safety
///
/// `out` must have one element for every thread of the launch, and `input` [`TRIPS`] times as many.
/// The kernel has a data race whatever the arguments are; that is its lesson.
#[kernel]
pub unsafe fn loop_one_barrier(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; MAX_THREADS_PER_BLOCK] =
        [const { MaybeUninit::uninit() }; MAX_THREADS_PER_BLOCK];

    let tid = thread::thread_idx_x() as usize;
    let dim = thread::block_dim_x() as usize;
    let i = thread::index_1d() as usize;
    let threads = (thread::grid_dim_x() * thread::block_dim_x()) as usize;

    let mut sum = 0.0;
    for trip in 0..TRIPS {
        let x = unsafe { *input.get_unchecked(trip * threads + i) };
        unsafe { TILE[tid].write(x) };
        thread::sync_threads();
        sum += unsafe { TILE[dim - 1 - tid].assume_init() };
        // The missing `thread::sync_threads();` belongs on this line.
    }
    unsafe { *out.add(i) = sum };
}
