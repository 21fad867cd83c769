//! Every thread writes the same value to one cell.
//!
//! expect: race=info barrier=ok memory=ok access=ok
//! flags: --block 32,64 --n 256

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

#[kernel]
pub unsafe fn one_value_for_all(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; 256] = [const { MaybeUninit::uninit() }; 256];
    let t = thread::thread_idx_x() as usize;
    let b = thread::block_dim_x() as usize;
    let i = thread::index_1d() as usize;
    unsafe {
        TILE[0].write(7.0);
        thread::sync_threads();
        out.add(i).write(TILE[0].assume_init() + input[i]);
    }
}
