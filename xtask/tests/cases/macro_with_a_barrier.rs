//! A barrier that a macro hides, skipped by half.
//!
//! expect: race=any barrier=divergent memory=ok access=ok
//! source: refused macro `wait!`
//! flags: --block 32,64 --n 256

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

macro_rules! wait {
    () => {
        thread::sync_threads()
    };
}

#[kernel]
pub unsafe fn macro_with_a_barrier(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; 256] = [const { MaybeUninit::uninit() }; 256];
    let t = thread::thread_idx_x() as usize;
    let b = thread::block_dim_x() as usize;
    let i = thread::index_1d() as usize;
    unsafe {
        TILE[t].write(input[i]);
        if t < b / 2 {
            wait!();
        }
        out.add(i).write(TILE[t].assume_init());
    }
}
