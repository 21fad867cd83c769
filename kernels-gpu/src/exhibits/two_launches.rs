//! Two launches, one after the other: what the first wrote, any block of the second may read.
//!
//! Launches on one stream follow each other, with everything the first did before everything the
//! second does. The end of a launch is the order across blocks that no block barrier gives.

use cuda_std::{kernel, thread};

/// The first launch: writes `input` to `cells`.
///
/// # Safety
///
/// `input` and `cells` must have one element for every thread of the launch.
#[kernel]
pub unsafe fn first_launch(input: &[f32], cells: *mut f32, _out: *mut f32) {
    let i = thread::index_1d() as usize;

    let x = unsafe { *input.get_unchecked(i) };
    unsafe { *cells.add(i) = x };
}

/// The second launch: reverses all of `cells` into `out`.
///
/// # Safety
///
/// `cells` and `out` must have one element for every thread of the launch.
#[kernel]
pub unsafe fn second_launch(_input: &[f32], cells: *mut f32, out: *mut f32) {
    let threads = (thread::grid_dim_x() * thread::block_dim_x()) as usize;
    let i = thread::index_1d() as usize;

    unsafe { *out.add(i) = *cells.add(threads - 1 - i) };
}
