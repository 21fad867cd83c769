//! A kernel that takes a struct, a reference, an array and a mutable slice, in a module.
//!
//! expect: race=none barrier=ok memory=ok access=ok
//! source: cannot-run parameter `scale
//! flags: --block 32,64 --n 250

use cuda_std::{kernel, thread};

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Scale {
    by: f32,
    plus: u32,
}

#[kernel]
pub unsafe fn struct_by_value(scale: Scale, offset: &f32, weights: [f32; 3], out: &mut [f32]) {
    let i = thread::index_1d() as usize;
    unsafe {
        if i < out.len() {
            out[i] = scale.by * *offset + weights[i % 3] + scale.plus as f32;
        }
    }
}
