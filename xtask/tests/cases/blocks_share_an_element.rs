//! Each block counts in the same element of global memory, without an atomic.
//!
//! expect: race=error barrier=ok memory=ok access=ok
//! flags: --block 32,64 --n 256

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

#[kernel]
pub unsafe fn blocks_share_an_element(out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; 256] = [const { MaybeUninit::uninit() }; 256];
    let t = thread::thread_idx_x() as usize;
    let b = thread::block_dim_x() as usize;
    let i = thread::index_1d() as usize;
    unsafe {
        if t == 0 {
            out.write(b as f32 + i as f32);
        }
    }
}
