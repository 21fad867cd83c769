//! Cells that nobody wrote, copies of cells, values of other blocks, buffers side by side.

use std::mem::MaybeUninit;

use cuda_std::emulator::{CellValue, Dim3, GlobalMemory, Launch, Level};
use cuda_std::{address_space, kernel, thread};

use crate::common::{Kernel, Verdict, judge, launch, shapes};

shapes! {
    /// A block expression copies the slot; the write goes to the copy.
    write_to_a_copy(S, t, b, out) {
        { S[t] }.write(t as u32);
        thread::sync_threads();
        out.add(t).write(S[b - 1 - t].assume_init());
    }

    /// In order everywhere, and one cell is never written.
    one_never_written(S, t, b, out) {
        if t != 5 {
            S[t].write(t as u32);
        }
        thread::sync_threads();
        out.add(t).write(S[b - 1 - t].assume_init());
    }

    /// Each block writes the cell of its own number and reads the one of the block before.
    cell_of_another_block(S, t, _b, out) {
        let block = thread::block_idx_x() as usize;
        if t == 0 {
            S[block].write(block as u32 + 1);
        }
        thread::sync_threads();
        if t == 0 {
            out.add(block).write(S[(block + 15) % 16].assume_init());
        }
    }

    /// A thread may read what it wrote, and write what it read.
    read_modify_write(S, t, _b, out) {
        S[t].write(0);
        for i in 0..4 {
            S[t].write(S[t].assume_init() + i);
        }
        out.add(t).write(S[t].assume_init());
    }

    /// Two threads write 1 and then 2, the same values: whether the cell ends as 1 or 2 is open.
    two_values_each(S, t, _b, out) {
        if t < 2 {
            S[0].write(1);
            S[0].write(2);
        }
        thread::sync_threads();
        out.add(t).write(S[0].assume_init());
    }

    /// The same value through a dereference.
    same_value_by_reference(_S, _t, _b, out) {
        *out = 7;
    }

    /// Every block writes the same table.
    same_table(_S, t, _b, out) {
        out.add(t).write(3 * t as u32);
    }

    same_table_twice(_S, t, _b, out) {
        for i in 0..2 {
            out.add(t).write(3 * t as u32 + i);
        }
    }

    own_number(_S, t, _b, out) {
        if t == 0 {
            *out = thread::block_idx_x();
        }
    }

    /// Different values through a dereference.
    values_by_reference(_S, t, _b, out) {
        *out = t as u32;
    }
}

#[test]
fn a_write_to_a_copy_is_lost() {
    let verdict = judge(1, 64, write_to_a_copy);
    assert_eq!(verdict, Verdict { lost_write: true, uninitialised: true, ..Verdict::clean() });
}

#[test]
fn an_order_does_not_make_a_cell_written() {
    let (report, out) = launch(Launch::new(1, 64), 64, one_never_written);
    assert_eq!(report.hazards, []);
    let [found] = &report.uninitialised[..] else { panic!("one line: {report:?}") };
    assert_eq!((found.place.index, found.by.thread, found.reads), (5, 58, 1));
    assert_eq!(out[58], u32::POISON);
}

#[test]
fn no_value_leaks_from_block_to_block() {
    for workers in [1, 2] {
        let (report, out) = launch(Launch::new(16, 32).workers(workers), 16, cell_of_another_block);
        assert_eq!(out, [u32::POISON; 16]);
        assert_eq!(report.uninitialised.iter().map(|found| found.reads).sum::<u64>(), 16);
    }
}

#[test]
fn a_thread_is_in_order_with_itself() {
    let (report, out) = launch(Launch::new(1, 64), 64, read_modify_write);
    assert!(report.is_clean(), "{report:?}");
    assert_eq!(out, [6; 64]);
}

#[test]
fn the_same_value_is_told_from_another() {
    let level = |kernel: Kernel| judge(1, 64, kernel).race.map(|race| race.1);
    assert_eq!(level(two_values_each), Some(Level::Error));
    assert_eq!(level(same_value_by_reference), Some(Level::Info));
    assert_eq!(level(values_by_reference), Some(Level::Error));
}

#[test]
fn blocks_may_write_the_same_value() {
    let level = |kernel: Kernel| judge(5, 64, kernel).race.map(|race| race.1);
    assert_eq!(level(same_table), Some(Level::Info));
    assert_eq!(level(same_value_by_reference), Some(Level::Info));
    assert_eq!(level(own_number), Some(Level::Error));
    // One block's first round meets another's second.
    assert_eq!(level(same_table_twice), Some(Level::Error));
}

#[test]
fn a_buffer_may_begin_where_another_ends() {
    let mut both = [0_u32; 8];
    let (left, right) = both.split_at_mut(4);
    let mut memory = GlobalMemory::new();
    let _left = memory.lend("left", left);
    let right = memory.lend("right", right);
    // SAFETY: four threads write four numbers.
    let report = Launch::new(1, 4).run(&mut memory, || unsafe { numbers(right.as_mut_ptr()) });
    assert!(report.expect("a legal launch").is_clean());
    assert_eq!(both, [0, 0, 0, 0, 0, 1, 2, 3]);
}

#[kernel]
unsafe fn numbers(out: *mut u32) {
    let t = thread::thread_idx_x();
    // SAFETY: the caller lends a number for each thread.
    unsafe { out.add(t as usize).write(t) }
}

/// Every thread of a block with up to three dimensions writes where it is.
#[kernel]
unsafe fn places(out: *mut u32) {
    #[address_space(shared)]
    static mut PLACES: [[MaybeUninit<u32>; 32]; 4] = [[const { MaybeUninit::uninit() }; 32]; 4];

    let (x, y, z) = (thread::thread_idx_x(), thread::thread_idx_y(), thread::thread_idx_z());
    let (width, height) = (thread::block_dim_x(), thread::block_dim_y());
    let linear = (z * height + y) * width + x;
    // SAFETY: the caller lends a number for each thread; every cell that is read was written.
    unsafe {
        PLACES[(linear / 32) as usize][(linear % 32) as usize].write(z * 10_000 + y * 100 + x);
        thread::sync_threads();
        let other = width * height * thread::block_dim_z() - 1 - linear;
        out.add(linear as usize).write(PLACES[(other / 32) as usize][(other % 32) as usize].assume_init());
    }
}

#[test]
fn blocks_of_two_and_three_dimensions() {
    let place =
        |Dim3 { x, y, .. }: Dim3, linear: u32| linear / (x * y) * 10_000 + linear / x % y * 100 + linear % x;
    for block in [Dim3::from(64), Dim3::from((8, 4)), Dim3::from((5, 7)), Dim3::from((4, 3, 5))] {
        let count = block.count() as u32;
        let (report, out) = launch(Launch::new(1, block), count as usize, places);
        assert!(report.is_clean(), "{block:?}: {report:?}");
        let wanted: Vec<_> = (0..count).rev().map(|linear| place(block, linear)).collect();
        assert_eq!(out, wanted, "{block:?}");
    }
}
