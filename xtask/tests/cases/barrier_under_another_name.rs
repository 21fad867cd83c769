//! The barrier, imported under a name that means nothing.
//!
//! expect: race=none barrier=ok memory=ok access=ok
//! source: refused `sync_threads` under another name
//! flags: --block 32,64 --n 256

use core::mem::MaybeUninit;

use cuda_std::thread::sync_threads as index_all;
use cuda_std::{address_space, kernel, thread};

#[kernel]
pub unsafe fn barrier_under_another_name(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; 256] = [const { MaybeUninit::uninit() }; 256];
    let t = thread::thread_idx_x() as usize;
    let b = thread::block_dim_x() as usize;
    let i = thread::index_1d() as usize;
    unsafe {
        TILE[t].write(input[i]);
        index_all();
        out.add(i).write(TILE[b - 1 - t].assume_init());
    }
}
