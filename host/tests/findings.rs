//! How findings are told, to people and to programs.

// Kernels that are wrong on purpose: references to shared arrays,
#![allow(static_mut_refs)]
// the same call in both arms, and the loop without an end.
#![allow(clippy::if_same_then_else, clippy::while_immutable_condition)]

use std::mem::MaybeUninit;

use cuda_std::emulator::{GlobalMemory, Launch, Report};
use cuda_std::{address_space, kernel, thread, warp};
use host::{report, verdict};

macro_rules! shapes {
    ($($name:ident($s:ident, $t:ident, $b:ident, $out:ident) $body:block)*) => {$(
        #[kernel]
        unsafe fn $name($out: *mut u32) {
            #[address_space(shared)]
            static mut $s: [MaybeUninit<u32>; 256] = [const { MaybeUninit::uninit() }; 256];
            let $t = thread::thread_idx_x() as usize;
            let $b = thread::block_dim_x() as usize;
            // SAFETY: there is none: what these kernels get wrong is what they are for.
            unsafe { $body }
        }
    )*};
}

shapes! {
    exited_writer(TILE, t, b, out) {
        TILE[t].write(t as u32);
        if t >= b / 2 {
            return;
        }
        thread::sync_threads();
        out.add(t).write(TILE[b - 1 - t].assume_init());
    }

    next_trip(TILE, t, b, out) {
        for trip in 0..2 {
            TILE[t].write(trip);
            thread::sync_threads();
            out.add(t).write(TILE[b - 1 - t].assume_init());
        }
    }

    one_cell(TILE, t, _b, out) {
        TILE[0].write(t as u32);
        thread::sync_threads();
        out.add(t).write(TILE[0].assume_init());
    }

    one_value(_S, _t, _b, out) {
        out.write(7);
    }

    two_blocks(_S, t, _b, out) {
        if t == 0 {
            out.write(thread::block_idx_x());
        }
    }

    skipped(_S, t, b, out) {
        if t < b / 2 {
            thread::sync_threads();
        }
        out.add(t).write(1);
    }

    two_barriers(_S, t, _b, out) {
        for _ in 0..2 {
            if t.is_multiple_of(2) {
                thread::sync_threads();
            } else {
                thread::sync_threads();
            }
        }
        out.add(t).write(1);
    }

    uninitialised(TILE, t, b, out) {
        if t < b / 2 {
            TILE[t].write(1);
        }
        thread::sync_threads();
        out.add(t).write(TILE[b - 1 - t].assume_init());
    }

    copied(TILE, t, _b, out) {
        { TILE[t] }.write(1);
        out.add(t).write(1);
    }

    outside_its_mask(_S, t, _b, out) {
        if t <= 16 {
            warp::sync_warp(0xffff);
        }
        out.add(t).write(1);
    }

    never_joined(_S, t, _b, out) {
        if t < 16 {
            warp::sync_warp(u32::MAX);
        }
        thread::sync_threads();
        out.add(t).write(1);
    }

    beyond(TILE, t, _b, out) {
        TILE[t + 200].write(1);
        out.add(t).write(1);
    }

    endless(_S, t, _b, out) {
        while t == 3 {
            std::hint::black_box(t);
        }
        out.add(t).write(1);
    }

    nine(_S, t, _b, out) {
        assert!(t != 9, "nine");
        out.add(t).write(1);
    }
}

type Kernel = unsafe fn(*mut u32);

fn run(blocks: u32, kernel: Kernel) -> Report {
    let mut out = vec![0; 256];
    let mut memory = GlobalMemory::new();
    let pointer = memory.lend("out", &mut out);
    let launch = Launch::new(blocks, 64).tick_limit(100);
    // SAFETY: there is room for all that the kernels write; the emulator checks the rest.
    launch.run(&mut memory, || unsafe { kernel(pointer.as_mut_ptr()) }).expect("a legal launch")
}

/// Each kernel's findings on one page.
#[test]
fn findings_for_people() {
    let kernels: [(&str, u32, Kernel); 14] = [
        ("exited writer", 1, exited_writer),
        ("next trip", 1, next_trip),
        ("one cell", 1, one_cell),
        ("one value", 1, one_value),
        ("two blocks", 2, two_blocks),
        ("skipped", 3, skipped),
        ("two barriers", 1, two_barriers),
        ("uninitialised", 1, uninitialised),
        ("copied", 1, copied),
        ("outside its mask", 1, outside_its_mask),
        ("never joined", 1, never_joined),
        ("beyond", 1, beyond),
        ("endless", 1, endless),
        ("nine", 1, nine),
    ];
    let page: Vec<_> = kernels
        .into_iter()
        .map(|(name, blocks, kernel)| {
            format!("== {name}\n{}", verdict::findings(&run(blocks, kernel)).join("\n\n"))
        })
        .collect();
    insta::assert_snapshot!(page.join("\n\n"));
}

#[test]
fn findings_for_programs() {
    let kernels: [Kernel; 5] = [exited_writer, skipped, uninitialised, copied, outside_its_mask];
    let all: Vec<_> = kernels.into_iter().map(|kernel| report::report_json(&run(1, kernel))).collect();
    let text = serde_json::to_string_pretty(&all).expect("JSON");
    let text = text.replace("host\\\\tests\\\\", "host/tests/");
    insta::assert_snapshot!(text);
}
