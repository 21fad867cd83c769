//! A tile of a two-dimensional block, transposed.
//!
//! expect: race=none barrier=ok memory=ok access=ok
//! flags: --block 8x8,16x16 --grid 1 --n 256

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

#[kernel]
pub unsafe fn rows_and_columns(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; 256] = [const { MaybeUninit::uninit() }; 256];
    let t = thread::thread_idx_x() as usize;
    let b = thread::block_dim_x() as usize;
    unsafe {
        let (x, y) = (t, thread::thread_idx_y() as usize);
        TILE[y * b + x].write(input[y * b + x]);
        thread::sync_threads();
        out.add(y * b + x).write(TILE[x * b + y].assume_init());
    }
}
