//! A function that calls itself for ever.
//!
//! expect: race=none barrier=ok memory=ok access=endless-recursion
//! source: cannot-run crashed
//! flags: --block 32,64 --n 256

use cuda_std::{kernel, thread};

#[inline(never)]
fn deeper(depth: u32) -> u32 {
    if depth == u32::MAX { 0 } else { deeper(depth + 1) / 2 + deeper(depth + 2) }
}

#[kernel]
pub unsafe fn endless_recursion(out: *mut f32) {
    let i = thread::index_1d() as usize;
    unsafe {
        out.add(i).write(deeper(i as u32) as f32);
    }
}
