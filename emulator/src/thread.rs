//! A thread's place in its block and in the grid, and the block barrier.

use crate::emulator::{Block, block_barrier, with};

macro_rules! indices {
    ($($name:ident, $axis:ident, $what:literal, $of:expr;)*) => {$(
        #[doc = $what]
        #[inline]
        #[must_use]
        pub fn $name() -> u32 {
            with(|block| $of(block).$axis)
        }
    )*};
}

indices! {
    thread_idx_x, x, "The thread's index in its block along x: `threadIdx.x`.", Block::thread_idx;
    thread_idx_y, y, "The thread's index in its block along y: `threadIdx.y`.", Block::thread_idx;
    thread_idx_z, z, "The thread's index in its block along z: `threadIdx.z`.", Block::thread_idx;
    block_idx_x, x, "The block's index in the grid along x: `blockIdx.x`.", |b: &mut Block| b.index;
    block_idx_y, y, "The block's index in the grid along y: `blockIdx.y`.", |b: &mut Block| b.index;
    block_idx_z, z, "The block's index in the grid along z: `blockIdx.z`.", |b: &mut Block| b.index;
    block_dim_x, x, "The threads of a block along x: `blockDim.x`.", |b: &mut Block| b.shape.block;
    block_dim_y, y, "The threads of a block along y: `blockDim.y`.", |b: &mut Block| b.shape.block;
    block_dim_z, z, "The threads of a block along z: `blockDim.z`.", |b: &mut Block| b.shape.block;
    grid_dim_x, x, "The blocks of the grid along x: `gridDim.x`.", |b: &mut Block| b.shape.grid;
    grid_dim_y, y, "The blocks of the grid along y: `gridDim.y`.", |b: &mut Block| b.shape.grid;
    grid_dim_z, z, "The blocks of the grid along z: `gridDim.z`.", |b: &mut Block| b.shape.grid;
}

/// The thread's index in the grid, if both are one-dimensional.
#[inline]
#[must_use]
pub fn index_1d() -> u32 {
    thread_idx_x() + block_idx_x() * block_dim_x()
}

/// The block barrier: `__syncthreads()`.
///
/// It waits until every thread of the block that has not exited is here, and it orders memory: what
/// each of them did before it happens before what any of them does after it. (CUDA Programming Guide,
/// "Synchronization Functions".)
#[inline(always)]
#[track_caller]
pub fn sync_threads() {
    block_barrier();
}
