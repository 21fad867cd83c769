//! What runs a kernel's threads does not show: the same body as futures and as fibers.

use std::mem::MaybeUninit;

use cuda_std::emulator::{GlobalMemory, Launch, Policy, Report, Trace};
use cuda_std::{address_space, kernel, thread, warp};

/// A call of a function, in which there may be a barrier for all that `#[kernel]` knows: it takes stacks.
fn may_hold_a_barrier() {}

/// Declares each kernel twice, with `S`, the thread `t` and the size of the block `b` at hand.
macro_rules! kernels {
    ($($name:ident($s:ident, $t:ident, $b:ident, $out:ident) $body:block)*) => {
        $(mod $name {
            use super::*;

            #[kernel]
            pub(super) unsafe fn futures($out: *mut u32) {
                #[address_space(shared)]
                static mut $s: [MaybeUninit<u32>; 128] = [const { MaybeUninit::uninit() }; 128];
                let $t = thread::thread_idx_x() as usize;
                let $b = thread::block_dim_x() as usize;
                // SAFETY: the emulator checks every access.
                unsafe { $body }
            }

            #[kernel]
            pub(super) unsafe fn fibers($out: *mut u32) {
                #[address_space(shared)]
                static mut $s: [MaybeUninit<u32>; 128] = [const { MaybeUninit::uninit() }; 128];
                may_hold_a_barrier();
                let $t = thread::thread_idx_x() as usize;
                let $b = thread::block_dim_x() as usize;
                // SAFETY: as above.
                unsafe { $body }
            }
        })*

        const KERNELS: &[(&str, Kernel, Kernel)] =
            &[$((stringify!($name), $name::futures, $name::fibers)),*];
    };
}

type Kernel = unsafe fn(*mut u32);

kernels! {
    no_barrier(S, t, b, out) {
        S[t].write(t as u32);
        *out.add(t) = S[b - 1 - t].assume_init();
    }

    one_barrier(S, t, b, out) {
        S[t].write(t as u32);
        thread::sync_threads();
        *out.add(t) = S[b - 1 - t].assume_init() + *out.add(t + 128);
    }

    through_references(S, t, b, out) {
        let (mine, other) = (&S[t], &S[b - 1 - t]);
        mine.write(t as u32);
        let to = &out.add(t);
        to.write(other.assume_init());
    }

    barrier_in_a_loop(S, t, b, out) {
        S[t].write(1);
        let mut step = 1;
        while step < b {
            thread::sync_threads();
            if t >= step {
                let sum = S[t].assume_init() + S[t - step].assume_init();
                S[t].write(sum);
            }
            step *= 2;
        }
        out.add(t).write(S[t].assume_init());
    }

    early_return(S, t, b, out) {
        if t >= b / 2 + 3 {
            return;
        }
        S[t].write(t as u32);
        thread::sync_threads();
        *out.add(t) += S[b / 2 + 2 - t].assume_init();
    }

    divergent(S, t, b, out) {
        S[t].write(t as u32);
        if t.is_multiple_of(2) {
            thread::sync_threads();
        } else {
            thread::sync_threads();
        }
        *out.add(b - 1 - t) = S[t].assume_init();
    }

    warps(S, t, b, out) {
        S[t].write(t as u32);
        warp::sync_warp(u32::MAX);
        let other = S[t ^ 1].assume_init();
        warp::sync_warp(u32::MAX);
        *out.add(b - 1 - t) = other;
    }

    one_cell(_S, t, b, out) {
        for trip in 0..3 {
            if t % 3 == trip && *out < b as u32 {
                *out += 1;
            }
            *out.add(1) = trip as u32;
        }
    }

    outside(S, t, b, out) {
        S[t].write(0);
        if t == b - 1 {
            S[t + 128].write(1);
        }
        thread::sync_threads();
        *out.add(t) = S[0].assume_init();
    }

    never_written(S, t, b, out) {
        if t > 3 {
            S[t].write(1);
        }
        thread::sync_threads();
        *out.add(t) = S[b - 1 - t].assume_init();
    }
}

fn run(kernel: Kernel, launch: Launch) -> (Report, Vec<u32>) {
    let mut all = vec![0; 256];
    let mut memory = GlobalMemory::new();
    let out = memory.lend("out", &mut all);
    // SAFETY: the emulator checks every access.
    let report = launch.run(&mut memory, || unsafe { kernel(out.as_mut_ptr()) }).expect("a legal launch");
    (report, all)
}

#[test]
fn futures_and_fibers_agree() {
    for &(name, futures, fibers) in KERNELS {
        for policy in [Policy::Lockstep, Policy::Independent, Policy::Random] {
            for (block, seed) in [(32, 0), (64, 1), (96, 2), (128, 3)] {
                let launch = Launch::new(2, block).policy(policy).seed(seed).trace(0);
                let (one, other) = (run(futures, launch), run(fibers, launch));
                assert_eq!(one.1, other.1, "{name}: {policy:?}, {block} threads");
                assert_eq!(one.0, other.0, "{name}: {policy:?}, {block} threads");
            }
        }
    }
}

#[test]
fn they_take_the_same_turns() {
    let turns = |kernel: Kernel, seed| -> Trace {
        let mut all = vec![0; 256];
        let mut memory = GlobalMemory::new();
        let out = memory.lend("out", &mut all);
        let schedule = cuda_std::emulator::Schedule::seeded(Policy::Random, seed);
        // SAFETY: the emulator checks every access.
        let ran = Launch::new(3, 64).run_as(&schedule, &mut memory, || unsafe { kernel(out.as_mut_ptr()) });
        ran.expect("a legal launch").1
    };
    for &(name, futures, fibers) in KERNELS.iter().filter(|(name, ..)| *name != "outside") {
        assert_eq!(turns(futures, 7), turns(fibers, 7), "{name}");
        assert_ne!(turns(futures, 7), turns(futures, 8), "{name}");
    }
}
