//! One launch, many blocks: a barrier in each, and an element that goes from one block to another.
//!
//! The barrier's scope is the block, like that of the shared memory it is there for. What another
//! block does is never ordered by it, however many barriers both have; for that, launch a second kernel.

use cuda_std::{kernel, thread};

/// Reverses all of `input` into `out` by way of `cells`, as if one barrier held for the whole grid.
///
/// # Safety
///
/// `input`, `cells` and `out` must have one element for every thread of the launch.
/// With two blocks or more the kernel has a data race; that is its lesson.
#[kernel]
pub unsafe fn two_blocks(input: &[f32], cells: *mut f32, out: *mut f32) {
    let threads = (thread::grid_dim_x() * thread::block_dim_x()) as usize;
    let i = thread::index_1d() as usize;

    let x = unsafe { *input.get_unchecked(i) };
    unsafe { *cells.add(i) = x };
    thread::sync_threads();
    unsafe { *out.add(i) = *cells.add(threads - 1 - i) };
}
