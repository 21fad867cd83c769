//! What the typed tile cannot rule out compiles, and the emulator finds it, at the kernel's own line.

use cuda_std::emulator::{GlobalMemory, Kind, Launch, Report};
use cuda_std::{kernel, thread};
use kernels::tile::Tile;

fn run(kernel: unsafe fn(*mut f32)) -> Report {
    let mut out = [0.0; 64];
    let mut memory = GlobalMemory::new();
    let out = memory.lend("out", &mut out);
    // SAFETY: `out` has an element for each of the 64 threads; what the kernels do wrong is reported.
    let report = Launch::new(1, 64).run(&mut memory, || unsafe { kernel(out.as_mut_ptr()) });
    report.expect("the launch is within CUDA's limits")
}

#[kernel]
unsafe fn divergent(out: *mut f32) {
    let tid = thread::thread_idx_x() as usize;
    let written = unsafe { Tile::new() }.write(tid, 1.0);
    if tid < 32 {
        let readable = written.sync();
        unsafe { *out.add(tid) = readable.read(tid) };
    }
}

#[kernel]
unsafe fn exited_writer(out: *mut f32) {
    let tid = thread::thread_idx_x() as usize;
    let written = unsafe { Tile::new() }.write(tid, 1.0);
    if tid >= 32 {
        return;
    }
    let readable = written.sync();
    unsafe { *out.add(tid) = readable.read(63 - tid) };
}

#[kernel]
unsafe fn two_writers(out: *mut f32) {
    let tid = thread::thread_idx_x() as usize;
    let readable = unsafe { Tile::new() }.write(0, tid as f32).sync();
    unsafe { *out.add(tid) = readable.read(0) };
}

#[kernel]
unsafe fn uninitialised(out: *mut f32) {
    let tid = thread::thread_idx_x() as usize;
    let readable = unsafe { Tile::new() }.write(tid, 1.0).sync();
    unsafe { *out.add(tid) = readable.read(tid + 64) };
}

#[test]
fn a_barrier_that_some_threads_go_past() {
    let divergence = run(divergent).divergence.expect("it is divergent");
    assert_eq!(divergence.site.file_name(), "typed_tile_limits.rs");
}

#[test]
fn writes_of_threads_that_exit() {
    let hazards = run(exited_writer).hazards;
    assert_eq!(hazards.len(), 1, "{hazards:?}");
    assert_eq!(hazards[0].kind, Kind::Raw);
    assert_eq!(hazards[0].first.site.file_name(), "typed_tile_limits.rs");
    assert_eq!(hazards[0].second.site.file_name(), "typed_tile_limits.rs");
}

#[test]
fn two_writers_of_one_cell() {
    let hazards = run(two_writers).hazards;
    assert_eq!(hazards.iter().map(|hazard| hazard.kind).collect::<Vec<_>>(), [Kind::Waw]);
    assert_eq!(hazards[0].first.site.file_name(), "typed_tile_limits.rs");
}

#[test]
fn a_cell_that_nobody_has_written() {
    let reads = run(uninitialised).uninitialised;
    assert_eq!(reads.len(), 1, "{reads:?}");
    assert_eq!(reads[0].by.site.file_name(), "typed_tile_limits.rs");
}
