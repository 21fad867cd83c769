//! A thread panics.
//!
//! expect: race=none barrier=ok memory=ok access=panic
//! flags: --block 32,64 --n 256

use cuda_std::{kernel, thread};

#[kernel]
pub unsafe fn panics(out: *mut f32) {
    let i = thread::index_1d() as usize;
    unsafe {
        if i == 5 {
            panic!("five");
        }
        out.add(i).write(1.0);
    }
}
