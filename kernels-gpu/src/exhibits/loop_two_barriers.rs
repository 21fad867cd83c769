//! A tile that is filled again in every trip of a loop, with two barriers a trip.
//!
//! The first puts the write of a cell before its read, the second puts that read before the write of the
//! next trip. A tile that is used again needs both.

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

use super::TRIPS;
use crate::lesson::MAX_THREADS_PER_BLOCK;

/// Adds up [`TRIPS`] tiles of `input`, each reversed, into `out`.
///
/// # Safety
///
/// `out` must have one element for every thread of the launch, and `input` [`TRIPS`] times as many.
#[kernel]
pub unsafe fn loop_two_barriers(input: &[f32], out: *mut f32) {
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
        thread::sync_threads(); // the write above, before the read below
        sum += unsafe { TILE[dim - 1 - tid].assume_init() };
        thread::sync_threads(); // the read above, before the write of the next trip
    }
    unsafe { *out.add(i) = sum };
}
