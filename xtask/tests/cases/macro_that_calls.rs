//! A call of a helper with a barrier, inside a macro of core.
//!
//! expect: race=none barrier=ok memory=ok access=ok
//! source: refused a call inside `assert!`
//! flags: --block 32,64 --n 256

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

fn waits() -> bool {
    thread::sync_threads();
    true
}

#[kernel]
pub unsafe fn macro_that_calls(input: &[f32], out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; 256] = [const { MaybeUninit::uninit() }; 256];
    let t = thread::thread_idx_x() as usize;
    let b = thread::block_dim_x() as usize;
    let i = thread::index_1d() as usize;
    unsafe {
        TILE[t].write(input[i]);
        assert!(waits());
        out.add(i).write(TILE[b - 1 - t].assume_init());
    }
}
