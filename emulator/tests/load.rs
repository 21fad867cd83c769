//! Launch after launch in one process: what a launch took, it gives back.

use std::mem::MaybeUninit;

use cuda_std::emulator::{GlobalMemory, Launch};
use cuda_std::{address_space, kernel, thread};

/// Of each kernel.
const LAUNCHES: usize = 1000;

/// The cells of a block's tile, 4 bytes each.
const TILE: usize = 1024;

#[kernel]
unsafe fn reverse(out: *mut f32) {
    #[address_space(shared)]
    static mut CELLS: [MaybeUninit<f32>; TILE] = [const { MaybeUninit::uninit() }; TILE];
    let tid = thread::thread_idx_x() as usize;
    let dim = thread::block_dim_x() as usize;
    let i = thread::block_idx_x() as usize * dim + tid;
    // SAFETY: within bounds, and a barrier stands between.
    unsafe {
        CELLS[tid].write(i as f32);
        thread::sync_threads();
        *out.add(i) = CELLS[dim - 1 - tid].assume_init();
    }
}

/// Ends its launch: threads that are still running are unwound.
#[kernel]
unsafe fn beyond(out: *mut f32) {
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: there is none; the emulator stops it before the access.
    unsafe { *out.add(1000 * tid) = 0.0 };
}

/// How many bytes the process has more in memory after this many launches, with something done after each.
fn growth(mut after_each: impl FnMut()) -> usize {
    let mut out = vec![0.0_f32; 4 * 64];
    let mut launch_one = |kernel: unsafe fn(*mut f32)| {
        let mut memory = GlobalMemory::new();
        let pointer = memory.lend("out", &mut out);
        // SAFETY: there is an element for each thread; the emulator catches what goes beyond.
        let report = Launch::new(4, 64).run(&mut memory, || unsafe { kernel(pointer.as_mut_ptr()) });
        report.expect("a legal launch")
    };
    let mut launch = || {
        assert!(launch_one(reverse).is_clean());
        assert!(launch_one(beyond).fault.is_some());
        after_each();
    };
    // What a process takes once and keeps.
    (0..LAUNCHES / 4).for_each(|_| launch());
    let before = resident();
    (0..LAUNCHES).for_each(|_| launch());
    resident().saturating_sub(before)
}

fn resident() -> usize {
    memory_stats::memory_stats().expect("this system says how much memory is in use").physical_mem
}

#[test]
fn a_thousand_launches_leak_nothing() {
    let tile = TILE * size_of::<f32>();
    let most = LAUNCHES * tile / 4;
    let grown = growth(|| ());
    assert!(grown < most, "{grown} bytes more after {LAUNCHES} launches");
    // One block's tile kept each time is seen.
    let mut kept = Vec::new();
    let grown = growth(|| kept.push(vec![1_u8; tile]));
    assert!(grown > 3 * most, "{grown} bytes more, though {} bytes were kept", kept.len() * tile);
}
