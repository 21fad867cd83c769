//! Two lanes of one warp that trade cells, with the warp's own barrier between them.
//!
//! `warp::sync_warp(mask)` does for the lanes it names what the block barrier does for a block: it waits
//! and it orders memory. Where nobody outside the warp is concerned, it is enough.

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread, warp};

use crate::lesson::MAX_THREADS_PER_BLOCK;

/// Swaps the two elements of each pair of `input` into `out`.
///
/// # Safety
///
/// `input` and `out` must have one element for every thread of the launch. Blocks
/// must be whole warps.
#[kernel]
pub unsafe fn warp_scope_synced(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; MAX_THREADS_PER_BLOCK] =
        [const { MaybeUninit::uninit() }; MAX_THREADS_PER_BLOCK];

    let tid = thread::thread_idx_x() as usize;
    let i = thread::index_1d() as usize;

    let x = unsafe { *input.get_unchecked(i) };
    unsafe { TILE[tid].write(x) };
    unsafe { warp::sync_warp(u32::MAX) };
    unsafe { *out.add(i) = TILE[tid ^ 1].assume_init() };
}
