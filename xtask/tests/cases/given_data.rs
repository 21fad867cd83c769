//! A histogram without atomics: whether two threads meet depends on the data.
//!
//! expect: race=error barrier=ok memory=ok access=ok
//! flags: --block 64 --n 256 --data bins=random:1

use cuda_std::{kernel, thread};

#[kernel]
pub unsafe fn given_data(bins: &[u32], out: *mut f32) {
    let i = thread::index_1d() as usize;
    unsafe {
        let bin = bins[i] as usize;
        out.add(bin).write(i as f32);
    }
}
