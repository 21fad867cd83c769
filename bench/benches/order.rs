//! What happens-before costs: kernels that do little else than one kind of operation, on one core. An item
//! is one such operation of one thread.

use std::mem::MaybeUninit;

use cuda_std::emulator::{GlobalMemory, Launch};
use cuda_std::{address_space, kernel, thread, warp};
use divan::Bencher;
use divan::counter::ItemsCount;

fn main() {
    divan::main();
}

const THREADS: u32 = 256;

/// How often each thread does it.
const TIMES: u32 = 64;

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident($cells:ident, $t:ident) $body:block)*) => {$(
        $(#[$doc])*
        #[divan::bench]
        fn $name(bencher: Bencher<'_, '_>) {
            #[kernel]
            unsafe fn $name(out: *mut u32) {
                #[address_space(shared)]
                static mut $cells: [MaybeUninit<u32>; 1024] = [const { MaybeUninit::uninit() }; 1024];
                let $t = thread::thread_idx_x() as usize;
                // SAFETY: every index is below the number of threads, and there are as many cells.
                unsafe {
                    $cells[$t].write(0);
                    thread::sync_threads();
                    for _ in 0..TIMES {
                        $body
                    }
                    out.add($t).write(0);
                }
            }
            measure(bencher, $name);
        }
    )*};
}

fn measure(bencher: Bencher<'_, '_>, kernel: unsafe fn(*mut u32)) {
    let mut out = vec![0; THREADS as usize];
    bencher.counter(ItemsCount::new(THREADS * TIMES)).bench_local(|| {
        let mut memory = GlobalMemory::new();
        let pointer = memory.lend("out", &mut out);
        // SAFETY: there is an element for each thread.
        let run = || unsafe { kernel(pointer.as_mut_ptr()) };
        Launch::new(1, THREADS).workers(1).run(&mut memory, run).expect("a legal launch")
    });
}

operations! {
    /// A trip and nothing in it: to subtract from the others.
    nothing(CELLS, t) {
        std::hint::black_box(t);
    }

    /// A block barrier.
    block_barrier(CELLS, t) {
        thread::sync_threads();
        std::hint::black_box(t);
    }

    /// A warp barrier.
    warp_barrier(CELLS, t) {
        warp::sync_warp(u32::MAX);
        std::hint::black_box(t);
    }

    /// A write of a cell that no other thread uses.
    own_write(CELLS, t) {
        CELLS[t].write(1);
    }

    /// A read of it.
    own_read(CELLS, t) {
        std::hint::black_box(CELLS[t].assume_init());
    }

    /// A read of a cell that all threads read.
    common_read(CELLS, t) {
        std::hint::black_box((t, CELLS[0].assume_init()));
    }

    /// A write and a read of another thread's cell, with nothing between: a race each time.
    racing_pair(CELLS, t) {
        CELLS[t].write(1);
        std::hint::black_box(CELLS[THREADS as usize - 1 - t].assume_init());
    }

    /// The same with barriers: an order each time.
    ordered_pair(CELLS, t) {
        CELLS[t].write(1);
        thread::sync_threads();
        std::hint::black_box(CELLS[THREADS as usize - 1 - t].assume_init());
        thread::sync_threads();
    }
}
