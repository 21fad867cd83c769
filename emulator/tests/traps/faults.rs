//! What ends a launch: found before it happens, and named with thread, block and line.

use std::mem::MaybeUninit;

use cuda_std::emulator::{
    Dim3, Fault, FaultKind, GlobalMemory, Launch, LaunchError, MAX_STATIC_SHARED, Report, Waiting,
};
use cuda_std::{address_space, kernel, thread, warp};

use crate::common::{Kernel, launch, shapes};

shapes! {
    reads_a_copy(S, t, b, out) {
        S[t].write(1);
        thread::sync_threads();
        let cell = S[b - 1 - t];
        out.add(t).write(cell.assume_init());
    }

    beyond_shared(S, t, _b, out) {
        if t == 9 {
            S[1000 + 3 * t].write(1);
        }
        out.add(t).write(1);
    }

    beyond_global(_S, t, _b, out) {
        if t == 9 && thread::block_idx_x() == 1 {
            out.add(1024).write(7);
        }
    }

    before_global(_S, t, _b, out) {
        if t == 9 {
            let _ = out.sub(2).read();
        }
    }

    for_ever(_S, t, _b, out) {
        while t == 9 {
            std::hint::black_box(t);
        }
        out.add(t).write(1);
    }

    /// All wait for a flag that nobody sets.
    spin(S, t, _b, out) {
        if t == 0 {
            S[0].write(0);
        }
        thread::sync_threads();
        while S[0].assume_init() == 0 {}
        out.add(t).write(1);
    }

    /// Lanes of a warp take turns for ever, in order.
    spin_in_order(S, t, _b, out) {
        loop {
            S[t].write(1);
            warp::sync_warp(u32::MAX);
            let _ = S[t ^ 1].assume_init();
            warp::sync_warp(u32::MAX);
            if S[t].assume_init() == 0 {
                break;
            }
        }
        out.add(t).write(1);
    }

    too_small_to_matter(_S, t, _b, out) {
        if t == 0 && thread::block_idx_x() == 0 {
            out.write(1);
        }
    }

    /// A loop that has no mark: it is not in the kernel.
    spin_in_a_helper(S, t, _b, out) {
        if t == 0 {
            S[0].write(0);
        }
        thread::sync_threads();
        wait_for(|| S[0].assume_init() != 0);
        out.add(t).write(1);
    }

    /// Every block races; one goes out of bounds.
    beyond_global_in_the_middle(S, t, b, out) {
        S[t].write(1);
        let other = S[b - 1 - t].assume_init();
        if t == 9 && thread::block_idx_x() == 300 {
            out.add(4096).write(7);
        }
        out.add(thread::block_idx_x() as usize % 4096).write(other);
    }

    panics(_S, t, _b, out) {
        assert!(t != 9 || thread::block_idx_x() != 1, "nine");
        out.add(t).write(1);
    }

    never_joined(_S, t, _b, out) {
        if t < 2 {
            warp::sync_warp(0b111);
        } else {
            thread::sync_threads();
        }
        out.add(t).write(1);
    }
}

fn wait_for(ready: impl Fn() -> bool) {
    while !ready() {}
}

const BIG: usize = 8 * 1024;

#[kernel]
unsafe fn too_much_shared(out: *mut u32) {
    #[address_space(shared)]
    static mut A: [MaybeUninit<u32>; BIG] = [const { MaybeUninit::uninit() }; BIG];
    #[address_space(shared)]
    static mut B: [MaybeUninit<u32>; BIG] = [const { MaybeUninit::uninit() }; BIG];

    // SAFETY: within bounds; that it is too much is what this is for.
    unsafe {
        A[0].write(1);
        B[0].write(1);
        out.write(1);
    }
}

#[kernel]
unsafe fn calls_a_kernel(out: *mut u32) {
    // SAFETY: within bounds.
    unsafe {
        out.write(1);
        panics(std::hint::black_box(std::ptr::null_mut()));
    }
}

#[kernel]
unsafe fn counts_down(out: *mut u32, mut from: u32) {
    // SAFETY: there is an element for each block.
    unsafe { out.add(thread::block_idx_x() as usize).write(from) };
    from -= 1;
    std::hint::black_box(from);
}

/// How the launch ended, whichever worker ran what.
fn nothing() {}

/// It takes stacks, and gives its turn back twice in each block.
#[kernel]
unsafe fn counts_once(out: *mut u32) {
    nothing();
    // SAFETY: the emulator checks every access.
    unsafe { *out.add(thread::index_1d() as usize) += 1 };
}

/// The second warp goes on where a thread would that had nothing before it.
#[kernel]
unsafe fn null(out: *mut u32, elements: usize) {
    let t = thread::thread_idx_x() as usize;
    let to = if t < 32 { out.wrapping_add(t) } else { out.wrapping_sub(elements) };
    // SAFETY: none, which is what the test is about; the emulator checks every access.
    unsafe { to.write(1) };
}

fn fault(grid: u32, kernel: Kernel) -> Fault {
    let shape = Launch::new(grid, 64).tick_limit(1000);
    let (report, _) = launch(shape, 1024, kernel);
    report.fault.expect("the launch ends early")
}

#[track_caller]
fn line(fault: &Fault, text: &str) {
    let site = fault.site.expect("it has a place");
    let source = include_str!("faults.rs").lines().nth(site.line() as usize - 1).unwrap_or_default();
    assert!(source.contains(text), "line {}: {source}", site.line());
}

#[test]
fn out_of_bounds_of_shared_memory() {
    let fault = fault(1, beyond_shared);
    assert_eq!(fault.what, FaultKind::OutOfBounds { name: "S", index: 1027, len: 1024 });
    assert_eq!((fault.block, fault.thread), (0, 9));
    line(&fault, "S[1000 + 3 * t]");
}

#[test]
fn out_of_bounds_of_global_memory() {
    let found = fault(3, beyond_global);
    assert_eq!(found.what, FaultKind::OutOfBounds { name: "out", index: 1024, len: 1024 });
    assert_eq!((found.block, found.thread), (1, 9));
    line(&found, "out.add(1024)");
    let before = fault(1, before_global);
    assert_eq!(before.what, FaultKind::OutOfBounds { name: "out", index: -2, len: 1024 });
    line(&before, "out.sub(2)");
}

#[test]
fn null_is_out_of_bounds() {
    let mut all = vec![0_u32; 64];
    let mut memory = GlobalMemory::new();
    let out = memory.lend("out", &mut all);
    let elements = out.as_mut_ptr() as usize / size_of::<u32>();
    for seed in 0..4 {
        // SAFETY: the emulator checks every access.
        let kernel = || unsafe { null(out.as_mut_ptr(), elements) };
        let report = Launch::new(1, 64).seed(seed).run(&mut memory, kernel).expect("a legal launch");
        let fault = report.fault.expect("no buffer lies at null");
        let index = -(elements as i64);
        assert_eq!(fault.what, FaultKind::OutOfBounds { name: "out", index, len: 64 });
        assert_eq!(fault.thread, 32);
    }
}

/// Other blocks run beside the one that ends the launch; what they find and write is not told.
#[test]
fn a_fault_is_the_same_on_any_number_of_workers() {
    let run = |workers| launch(Launch::new(1000, 64).workers(workers), 4096, beyond_global_in_the_middle);
    let alone = run(1);
    assert_eq!(alone.0.fault.as_ref().map(|fault| (fault.block, fault.thread)), Some((300, 9)));
    for workers in [2, 3, 4, 2, 3, 4] {
        assert_eq!(run(workers), alone);
    }
}

/// The operating system gives a process so many stacks and no more.
#[test]
fn any_number_of_workers_may_be_asked_for() {
    let (report, _) = launch(Launch::new(256, 1024).workers(100), 1024, too_small_to_matter);
    assert!(report.fault.is_none(), "{report:?}");
}

/// What lies behind the buffer is still what it was.
#[test]
fn out_of_bounds_is_found_before_it_is_made() {
    let mut all = vec![5_u32; 2048];
    let mut memory = GlobalMemory::new();
    let pointer = memory.lend("out", &mut all[..1024]);
    // SAFETY: the emulator stops the access beyond the end, which is what this asks for.
    let report = Launch::new(2, 64).run(&mut memory, || unsafe { beyond_global(pointer.as_mut_ptr()) });
    assert!(report.expect("a legal launch").fault.is_some());
    assert_eq!(all[1024], 5);
}

#[test]
fn endless_loops_are_stopped() {
    let found = fault(1, for_ever);
    assert_eq!((&found.what, found.thread), (&FaultKind::TickLimit(1000), 9));
    line(&found, "while t == 9");
    for (kernel, text) in [(spin as Kernel, "while S[0]"), (spin_in_order, "loop {")] {
        let found = fault(1, kernel);
        assert_eq!(found.what, FaultKind::TickLimit(1000));
        line(&found, text);
    }
}

#[test]
fn endless_loops_in_helpers_are_stopped() {
    let found = fault(1, spin_in_a_helper);
    assert_eq!(found.what, FaultKind::TurnLimit(1000));
    line(&found, "wait_for(|| S[0]");
}

#[test]
fn turns_are_counted_block_by_block() {
    let (report, out) = launch(Launch::new(30, 1).tick_limit(20).workers(1), 30, counts_once);
    assert!(report.is_clean(), "{report:?}");
    assert_eq!(out, [1; 30]);
}

#[test]
fn a_panic_is_named() {
    let found = fault(3, panics);
    let FaultKind::Panic(message) = &found.what else { panic!("a panic: {found:?}") };
    assert!(message.starts_with("nine (") && message.contains("faults.rs:"), "{message}");
    assert_eq!((found.block, found.thread), (1, 9));
}

#[test]
fn a_launch_runs_one_kernel() {
    let message = |report: Report| match report.fault.map(|fault| fault.what) {
        Some(FaultKind::Panic(message)) => message,
        other => panic!("a panic: {other:?}"),
    };
    let (inside, _) = launch(Launch::new(3, 64), 1024, calls_a_kernel);
    assert!(message(inside).starts_with("a launch runs one kernel"));
    let mut all = [0_u32; 3];
    let mut memory = GlobalMemory::new();
    let out = memory.lend("out", &mut all);
    let after = Launch::new(3, 1).run(&mut memory, || {
        // SAFETY: there is an element for each block.
        unsafe {
            counts_down(out.as_mut_ptr(), 3);
            counts_down(out.as_mut_ptr(), 2);
        }
    });
    assert!(message(after.expect("a legal launch")).starts_with("a launch runs one kernel"));
}

#[test]
fn every_block_starts_from_the_arguments() {
    let mut all = [0_u32; 5];
    let mut memory = GlobalMemory::new();
    let out = memory.lend("out", &mut all);
    // SAFETY: there is an element for each block.
    let report =
        Launch::new(5, 1).workers(1).run(&mut memory, || unsafe { counts_down(out.as_mut_ptr(), 3) });
    assert!(report.expect("a legal launch").is_clean());
    assert_eq!(all, [3; 5]);
}

#[test]
fn who_waits_for_ever_is_named() {
    let found = fault(1, never_joined);
    let FaultKind::Stuck(waiting) = &found.what else { panic!("stuck: {found:?}") };
    let masks: Vec<_> = waiting.iter().map(|&Waiting { thread, mask, .. }| (thread, mask)).collect();
    let expected: Vec<_> = (0..64).map(|thread| (thread, (thread < 2).then_some(0b111))).collect();
    assert_eq!(masks, expected);
}

#[test]
fn shared_memory_is_limited() {
    let found = fault(1, too_much_shared);
    assert_eq!(found.what, FaultKind::SharedMemory { bytes: 2 * 4 * BIG });
    const { assert!(2 * 4 * BIG > MAX_STATIC_SHARED && 4 * BIG <= MAX_STATIC_SHARED) }
}

#[test]
fn launches_are_limited() {
    let refused =
        |grid: Dim3, block: Dim3| Launch::new(grid, block).run(&mut GlobalMemory::new(), || {}).err();
    let one = Dim3::from(1);
    assert_eq!(refused(one, one), None);
    assert_eq!(refused(one, 1024.into()), None);
    assert_eq!(refused(one, 0.into()), Some(LaunchError::BlockExtent(0.into())));
    assert_eq!(refused(one, 1025.into()), Some(LaunchError::BlockExtent(1025.into())));
    assert_eq!(refused(one, (1, 1, 65).into()), Some(LaunchError::BlockExtent((1, 1, 65).into())));
    assert_eq!(refused(one, (32, 33).into()), Some(LaunchError::BlockThreads(32 * 33)));
    assert_eq!(refused(0.into(), one), Some(LaunchError::GridExtent(0.into())));
    assert_eq!(refused((1, 65_536).into(), one), Some(LaunchError::GridExtent((1, 65_536).into())));
}

/// The read was the copy, which nobody saw: better no verdict than a wrong one.
#[test]
fn a_read_through_a_copy_is_refused() {
    assert_eq!(fault(1, reads_a_copy).what, FaultKind::CopyRead);
}
