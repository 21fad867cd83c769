//! The threads that run side by side: 32 of a block.

unsafe extern "C" {
    #[link_name = "llvm.nvvm.bar.warp.sync"]
    fn bar_warp_sync(mask: u32);
    #[link_name = "llvm.nvvm.read.ptx.sreg.laneid"]
    safe fn read_lane_id() -> u32;
}

/// Waits for the lanes of the warp that `mask` names, and orders their memory accesses.
///
/// # Safety
///
/// The calling lane must be in `mask`, and every lane in it that has not exited must call with the same
/// mask.
#[inline(always)]
pub unsafe fn sync_warp(mask: u32) {
    // SAFETY: as above.
    unsafe { bar_warp_sync(mask) }
}

/// The thread's index in its warp, from 0 to 31.
#[inline(always)]
pub fn lane_id() -> u32 {
    read_lane_id()
}
