//! The same with one thread a bin, as the data are if none are given.
//!
//! expect: race=none barrier=ok memory=ok access=ok
//! flags: --block 64 --n 256

use cuda_std::{kernel, thread};

#[kernel]
pub unsafe fn made_up_data(bins: &[u32], out: *mut f32) {
    let i = thread::index_1d() as usize;
    unsafe {
        let bin = bins[i] as usize;
        out.add(bin).write(i as f32);
    }
}
