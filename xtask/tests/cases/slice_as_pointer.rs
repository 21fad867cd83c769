//! Every thread writes through the pointer of a slice that is there to be read.
//!
//! expect: race=error barrier=ok memory=ok access=ok
//! source: refused `.as_ptr()`
//! flags: --block 32,64 --n 256

use cuda_std::{kernel, thread};

#[kernel]
pub unsafe fn slice_as_pointer(input: &[f32], out: *mut f32) {
    let i = thread::index_1d() as usize;
    unsafe {
        let first = input.as_ptr().cast_mut();
        first.write(i as f32);
        out.add(i).write(1.0);
    }
}
