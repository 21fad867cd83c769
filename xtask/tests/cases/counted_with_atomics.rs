//! Blocks count in one element, with an atomic.
//!
//! expect: race=none barrier=ok memory=ok access=ok
//! source: cannot-run 
//! flags: --block 32,64 --n 256

use core::sync::atomic::{AtomicU32, Ordering};

use cuda_std::kernel;
use cuda_std::thread;

#[kernel]
pub unsafe fn counted_with_atomics(counter: *mut AtomicU32) {
    let i = thread::index_1d() as usize;
    unsafe {
        if i < 200 {
            (*counter).fetch_add(1, Ordering::Relaxed);
        }
    }
}
