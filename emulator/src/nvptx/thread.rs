//! Who a thread is, and the barrier of its block.

use core::arch::nvptx;

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

/// The thread's index in a launch that uses x only.
#[inline(always)]
pub fn index_1d() -> u32 {
    block_idx_x() * block_dim_x() + thread_idx_x()
}

unsafe extern "C" {
    /// The barrier of the block: waits for every thread of it that has not exited, and orders their
    /// memory accesses.
    ///
    /// It is the intrinsic itself and no function around it, so nothing can be outlined or merged, and
    /// the `.loc` line of a `bar.sync` is the line that calls this. A barrier on which the threads of a
    /// block disagree is undefined; as in cuda_std, it is safe to call all the same.
    #[link_name = "llvm.nvvm.barrier0"]
    pub safe fn sync_threads();
}
