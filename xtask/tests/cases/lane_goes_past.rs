//! A lane goes past a sync_warp that names it, and lives on.
//!
//! expect: race=none barrier=misuse memory=ok access=ok
//! source: refused `sync_warp` where not every lane need come
//! flags: --block 32,64 --n 256

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread, warp};

#[kernel]
pub unsafe fn lane_goes_past(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; 256] = [const { MaybeUninit::uninit() }; 256];
    let t = thread::thread_idx_x() as usize;
    let i = thread::index_1d() as usize;
    unsafe {
        TILE[t].write(input[i]);
        if t % 32 != 7 {
            warp::sync_warp(u32::MAX);
        }
        out.add(i).write(TILE[t].assume_init());
    }
}
