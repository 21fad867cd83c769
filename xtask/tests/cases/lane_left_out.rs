//! A lane calls sync_warp with a mask that leaves it out.
//!
//! expect: race=none barrier=misuse memory=ok access=ok
//! flags: --block 32,64 --n 256

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread, warp};

#[kernel]
pub unsafe fn lane_left_out(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; 256] = [const { MaybeUninit::uninit() }; 256];
    let t = thread::thread_idx_x() as usize;
    let b = thread::block_dim_x() as usize;
    let i = thread::index_1d() as usize;
    unsafe {
        TILE[t].write(input[i] + b as f32);
        warp::sync_warp(0xffff_fffe);
        out.add(i).write(TILE[t].assume_init());
    }
}
