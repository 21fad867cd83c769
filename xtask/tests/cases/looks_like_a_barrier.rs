//! A helper whose name begins like the barrier's, and that writes behind it.
//!
//! expect: race=warning,error barrier=ok memory=ok access=ok
//! source: refused the call of `sync_threads_and_put`
//! flags: --block 32,64 --n 256

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

#[address_space(shared)]
static mut TILE: [MaybeUninit<f32>; 256] = [const { MaybeUninit::uninit() }; 256];

unsafe fn sync_threads_and_put(cell: usize, value: f32) {
    unsafe {
        thread::sync_threads();
        TILE[cell].write(value);
    }
}

#[kernel]
pub unsafe fn looks_like_a_barrier(input: &[f32], out: *mut f32) {
    let t = thread::thread_idx_x() as usize;
    let b = thread::block_dim_x() as usize;
    let i = thread::index_1d() as usize;
    unsafe {
        sync_threads_and_put(t, input[i]);
        out.add(i).write(TILE[b - 1 - t].assume_init());
    }
}
