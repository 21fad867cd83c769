//! Every block reverses its own tile through shared memory, with one barrier between the write of
//! a cell and its read by another thread.
//!
//! `thread::sync_threads()` makes two promises to the threads of one block. It **waits**: nobody
//! goes on before every thread of the block that has not exited has arrived. And it **orders
//! memory**: what each of them did before the barrier happens before what any of them does after it.
//!
//! Why the load is a clamped index and a select, and not `if i < n { input[i] } else { 0.0 }`: the
//! textbook form loads in one arm of a thread-dependent branch, and the same condition comes again
//! below the barrier. Both Rust compilers were measured to thread that jump and copy the barrier into
//! both arms: two barriers where the source has one, threads of one warp waiting at different ones,
//! and a last, partial block that comes out wrong on a card. With every lane loading, no branch is left
//! in the machine code above the barrier. rustc's own JumpThreading pass still sees one in the select;
//! every build of this project turns that pass off and counts the barriers afterwards.

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

use super::MAX_THREADS_PER_BLOCK;

/// Reverses each block's tile of `input` into `out`.
///
/// # Safety
///
/// `input` must not be empty and `out` must be valid for `input.len()` elements.
#[kernel]
pub unsafe fn reverse_tile_synced(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; MAX_THREADS_PER_BLOCK] =
        [const { MaybeUninit::uninit() }; MAX_THREADS_PER_BLOCK];

    let n = input.len();
    let tid = thread::thread_idx_x() as usize;
    let dim = thread::block_dim_x() as usize;
    let i = thread::block_idx_x() as usize * dim + tid;

    // Every lane loads, from a clamped index: a branch here would let a compiler split the barrier.
    let x = unsafe { *input.get_unchecked(if i < n { i } else { n - 1 }) };
    unsafe { TILE[tid].write(if i < n { x } else { 0.0 }) };
    thread::sync_threads();
    let src = dim - 1 - tid;
    if i < n {
        unsafe { *out.add(i) = TILE[src].assume_init() };
    }
}
