//! Who a thread is, the barrier of its block, and fences.

use core::arch::nvptx;

use glam::{UVec2, UVec3};

macro_rules! index {
    ($($(#[$doc:meta])* $name:ident = $intrinsic:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name() -> u32 {
            // SAFETY: it reads a register that every thread has.
            unsafe { nvptx::$intrinsic() }
        }
    )*};
}

index! {
    /// The thread's index in its block, along x.
    thread_idx_x = _thread_idx_x;
    /// The thread's index in its block, along y.
    thread_idx_y = _thread_idx_y;
    /// The thread's index in its block, along z.
    thread_idx_z = _thread_idx_z;
    /// The block's index in the grid, along x.
    block_idx_x = _block_idx_x;
    /// The block's index in the grid, along y.
    block_idx_y = _block_idx_y;
    /// The block's index in the grid, along z.
    block_idx_z = _block_idx_z;
    /// How many threads a block has along x.
    block_dim_x = _block_dim_x;
    /// How many threads a block has along y.
    block_dim_y = _block_dim_y;
    /// How many threads a block has along z.
    block_dim_z = _block_dim_z;
    /// How many blocks the grid has along x.
    grid_dim_x = _grid_dim_x;
    /// How many blocks the grid has along y.
    grid_dim_y = _grid_dim_y;
    /// How many blocks the grid has along z.
    grid_dim_z = _grid_dim_z;
}

macro_rules! vector {
    ($($(#[$doc:meta])* $name:ident = $x:ident, $y:ident, $z:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name() -> UVec3 {
            UVec3::new($x(), $y(), $z())
        }
    )*};
}

vector! {
    /// The thread's index in its block.
    thread_idx = thread_idx_x, thread_idx_y, thread_idx_z;
    /// The block's index in the grid.
    block_idx = block_idx_x, block_idx_y, block_idx_z;
    /// How many threads a block has along each axis.
    block_dim = block_dim_x, block_dim_y, block_dim_z;
    /// How many blocks the grid has along each axis.
    grid_dim = grid_dim_x, grid_dim_y, grid_dim_z;
}

/// The thread's index in the whole grid, blocks one after the other: x fastest, then y, then z, in the grid
/// as in a block.
#[inline(always)]
pub fn index() -> u32 {
    let (grid, block_idx, block, thread) = (grid_dim(), block_idx(), block_dim(), thread_idx());
    let block_id = block_idx.x + grid.x * (block_idx.y + grid.y * block_idx.z);
    block_id * (block.x * block.y * block.z) + thread.x + block.x * (thread.y + block.y * thread.z)
}

/// The thread's index in a launch that uses x only.
#[inline(always)]
pub fn index_1d() -> u32 {
    block_idx_x() * block_dim_x() + thread_idx_x()
}

/// The thread's index along x and y in a launch that uses those.
#[inline(always)]
pub fn index_2d() -> UVec2 {
    UVec2::new(index_1d(), block_idx_y() * block_dim_y() + thread_idx_y())
}

/// The thread's index along each axis.
#[inline(always)]
pub fn index_3d() -> UVec3 {
    index_2d().extend(block_idx_z() * block_dim_z() + thread_idx_z())
}

/// Whether this is the first thread of the first block.
#[inline(always)]
pub fn first() -> bool {
    block_idx() == UVec3::ZERO && thread_idx() == UVec3::ZERO
}

unsafe extern "C" {
    /// How many threads a warp has.
    #[link_name = "llvm.nvvm.read.ptx.sreg.warpsize"]
    pub safe fn warp_size() -> u32;

    /// The barrier of the block: waits for every thread of it that has not exited, and orders their
    /// memory accesses.
    ///
    /// It is the intrinsic itself and no function around it, so nothing can be outlined or merged, and
    /// the `.loc` line of a `bar.sync` is the line that calls this. A barrier on which the threads of a
    /// block disagree is undefined; as in cuda_std, it is safe to call all the same.
    #[link_name = "llvm.nvvm.barrier0"]
    pub safe fn sync_threads();

    /// The barrier of the block, which also counts its threads whose predicate is not 0.
    #[link_name = "llvm.nvvm.barrier0.popc"]
    pub safe fn sync_threads_count(predicate: u32) -> u32;

    /// The barrier of the block, which also tells whether the predicate of every thread is not 0.
    #[link_name = "llvm.nvvm.barrier0.and"]
    pub safe fn sync_threads_and(predicate: u32) -> u32;

    /// The barrier of the block, which also tells whether the predicate of any thread is not 0.
    #[link_name = "llvm.nvvm.barrier0.or"]
    pub safe fn sync_threads_or(predicate: u32) -> u32;

    /// Orders this thread's memory accesses before it before those after it, for the threads of its block:
    /// `membar.cta`. Waits for nobody. (Rust-CUDA calls it a fence of the grid; its instruction is the
    /// block's.)
    #[link_name = "llvm.nvvm.membar.cta"]
    pub safe fn grid_fence();

    /// The same for all threads of the device: `membar.gl`.
    #[link_name = "llvm.nvvm.membar.gl"]
    pub safe fn device_fence();

    /// The same for the threads of all devices and of the host: `membar.sys`.
    #[link_name = "llvm.nvvm.membar.sys"]
    pub safe fn system_fence();
}

/// Lets the thread sleep for about this many nanoseconds.
#[inline(always)]
pub fn nanosleep(nanos: u32) {
    // SAFETY: it touches no memory.
    unsafe { core::arch::asm!("nanosleep.u32 {};", in(reg32) nanos, options(nomem, nostack)) }
}
