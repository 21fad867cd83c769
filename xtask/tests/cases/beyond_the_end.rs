//! The last thread writes one element behind the buffer.
//!
//! expect: race=none barrier=ok memory=ok access=out-of-bounds
//! flags: --block 32,64 --n 256

use cuda_std::{kernel, thread};

#[kernel]
pub unsafe fn beyond_the_end(out: *mut f32) {
    let i = thread::index_1d() as usize;
    unsafe {
        out.add(i + 1).write(1.0);
    }
}
