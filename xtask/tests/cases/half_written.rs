//! Half of the cells are read though nobody writes them.
//!
//! expect: race=none barrier=ok memory=uninitialised access=ok
//! flags: --block 32,64 --n 256

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

#[kernel]
pub unsafe fn half_written(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; 256] = [const { MaybeUninit::uninit() }; 256];
    let t = thread::thread_idx_x() as usize;
    let b = thread::block_dim_x() as usize;
    let i = thread::index_1d() as usize;
    unsafe {
        if t < b / 2 {
            TILE[t].write(input[i]);
        }
        thread::sync_threads();
        out.add(i).write(TILE[b - 1 - t].assume_init());
    }
}
