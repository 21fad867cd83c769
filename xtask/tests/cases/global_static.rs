//! A `static mut` without an address space is in global memory, one for all blocks.
//!
//! expect: race=error barrier=ok memory=ok access=ok
//! source: refused `static mut TOTAL`
//! flags: --block 32,64 --n 256

use cuda_std::{kernel, thread};

static mut TOTAL: u32 = 0;

#[kernel]
pub unsafe fn global_static(out: *mut f32) {
    let i = thread::index_1d() as usize;
    unsafe {
        TOTAL += 1;
        out.add(i).write(TOTAL as f32);
    }
}
