//! Warps: 32 threads of a block with consecutive indices.

use crate::emulator::{warp_barrier, with};

/// Waits for the lanes of this warp that `mask` names and that have not exited, and orders memory
/// among them: `__syncwarp(mask)`.
///
/// # Safety
///
/// The calling lane must be in `mask`, and every lane in it that has not exited must come with the
/// same mask. The emulator reports it where this does not hold.
#[track_caller]
pub unsafe fn sync_warp(mask: u32) {
    warp_barrier(mask);
}

/// The thread's lane in its warp, from 0 to 31.
#[must_use]
pub fn lane_id() -> u32 {
    with(|block| u32::from(block.current) % 32)
}
