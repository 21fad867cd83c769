use core::sync::atomic::{AtomicI64, AtomicU8, AtomicU32, Ordering};

use cuda_std::atomic::{AtomicF32, BlockAtomicF64};
use cuda_std::{kernel, thread};

static TICKETS: AtomicU32 = AtomicU32::new(0);
static SUM: AtomicF32 = AtomicF32::new(0.0);

#[kernel]
pub unsafe fn integers(counts: *const AtomicU32, wide: *const AtomicI64, small: *const AtomicU8) {
    let ticket = TICKETS.fetch_add(1, Ordering::Relaxed);
    unsafe {
        let count = &*counts.add(ticket as usize);
        count.fetch_max(7, Ordering::AcqRel);
        let _ = count.compare_exchange(1, 2, Ordering::SeqCst, Ordering::Relaxed);
        (*wide).fetch_xor(3, Ordering::Release);
        (*small).store(count.load(Ordering::Acquire) as u8, Ordering::Release);
    }
}

#[kernel]
pub unsafe fn floats(input: &[f32], block: *const BlockAtomicF64, out: *mut f32) {
    let t = thread::thread_idx_x() as usize;
    let before = SUM.fetch_add(input[t], Ordering::Relaxed);
    unsafe {
        (*block).fetch_sub(1.0, Ordering::AcqRel);
        out.add(t).write(before + SUM.load(Ordering::Relaxed));
    }
}
