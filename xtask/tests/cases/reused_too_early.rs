//! The next trip overwrites what others still read.
//!
//! expect: race=warning,error barrier=ok memory=ok access=ok
//! flags: --block 32,64 --n 256

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

#[kernel]
pub unsafe fn reused_too_early(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; 256] = [const { MaybeUninit::uninit() }; 256];
    let t = thread::thread_idx_x() as usize;
    let b = thread::block_dim_x() as usize;
    let i = thread::index_1d() as usize;
    unsafe {
        let mut sum = 0.0;
        for trip in 0..2 {
            TILE[t].write(input[i] + trip as f32);
            thread::sync_threads();
            sum += TILE[b - 1 - t].assume_init();
        }
        out.add(i).write(sum);
    }
}
