//! A helper gets a pointer that was a reference, and reads the element before it.
//!
//! expect: race=warning,error barrier=ok memory=ok access=ok
//! source: refused raw pointer
//! flags: --block 32,64 --grid 1 --n 64

use cuda_std::{kernel, thread};

unsafe fn add_the_one_before(at: *mut f32) {
    unsafe { *at += *at.sub(1) }
}

#[kernel]
pub unsafe fn pointer_of_a_reference(out: *mut f32) {
    let i = thread::index_1d() as usize;
    unsafe {
        if i > 0 {
            add_the_one_before(&mut *out.add(i));
        }
    }
}
