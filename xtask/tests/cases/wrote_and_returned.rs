//! Threads write, return above the barrier, and others read what they wrote.
//!
//! expect: race=warning,error barrier=ok memory=ok access=ok
//! flags: --block 32,64 --n 256

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

#[kernel]
pub unsafe fn wrote_and_returned(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; 256] = [const { MaybeUninit::uninit() }; 256];
    let t = thread::thread_idx_x() as usize;
    let b = thread::block_dim_x() as usize;
    let i = thread::index_1d() as usize;
    unsafe {
        TILE[t].write(input[i]);
        if t >= b / 2 {
            return;
        }
        thread::sync_threads();
        out.add(i).write(TILE[b - 1 - t].assume_init());
    }
}
