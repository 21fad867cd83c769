//! A loop without an end, behind a race.
//!
//! expect: race=warning,error barrier=ok memory=ok access=endless
//! source: any
//! flags: --block 32,64 --n 256

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

#[kernel]
pub unsafe fn endless(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; 256] = [const { MaybeUninit::uninit() }; 256];
    let t = thread::thread_idx_x() as usize;
    let b = thread::block_dim_x() as usize;
    let i = thread::index_1d() as usize;
    unsafe {
        TILE[t].write(input[i]);
        let seen = TILE[b - 1 - t].assume_init();
        while seen > 0.0 {
            out.add(i).write(seen);
        }
    }
}
