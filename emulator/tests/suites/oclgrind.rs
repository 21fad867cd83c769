//! After jrprice/Oclgrind, tests/kernels/{data-race,barrier,uninitialized,misc}: those that ask about a rule of
//! their own. A work-group is a block, local memory is shared memory.
//!
//! Where the verdicts differ, OpenCL and CUDA do:
//! * A fence of OpenCL's barrier names local or global memory; CUDA's block barrier orders both.
//! * OpenCL asks every work-item of the group to come to the barrier; CUDA every thread *that has not exited*.
//! * Oclgrind is silent about writes of the same value; here, as in racecheck, they are an info.

use cuda_std::emulator::{Kind, Level};
use cuda_std::thread;

use crate::common::{Kernel, Verdict, judge, shapes};

shapes! {
    /// data-race/broadcast: all read one element.
    broadcast(_S, t, b, out) {
        let i = thread::block_idx_x() as usize * b + t;
        let value = out.add(100).read();
        out.add(i).write(value);
    }

    /// data-race/increment: each its own element.
    increment(_S, t, b, out) {
        let i = thread::block_idx_x() as usize * b + t;
        let value = out.add(i).read();
        out.add(i).write(value + 1);
    }

    /// data-race/intergroup_hidden_race: block 1 writes what all blocks read.
    hidden_between_blocks(_S, _t, _b, out) {
        let block = thread::block_idx_x();
        let value = out.read();
        out.add(1 + block as usize).write(value);
        if block == 1 {
            out.write(block);
        }
    }

    /// data-race/intergroup_race: one block sums what the others wrote, behind a barrier of its own.
    sum_over_blocks(_S, t, _b, out) {
        let block = thread::block_idx_x();
        if t == 0 {
            out.add(block as usize).write(block);
        }
        thread::sync_threads();
        if t == 0 && block == 0 {
            let mut sum = 0;
            for i in 0..thread::grid_dim_x() {
                sum += out.add(i as usize).read();
            }
            out.write(sum);
        }
        thread::sync_threads();
    }

    /// data-race/intragroup_hidden_race: read by all, a barrier, then written by one; global memory.
    global_behind_a_barrier(_S, t, _b, out) {
        let value = out.read();
        out.add(1 + t).write(value);
        thread::sync_threads();
        if t == 0 {
            out.write(7);
        }
    }

    /// data-race/{local_only_fence,global_fence}: all write global memory, one sums behind the barrier.
    global_scratch(_S, t, b, out) {
        out.add(1 + t).write(t as u32);
        thread::sync_threads();
        if t == 0 {
            let mut sum = 0;
            for i in 0..b {
                sum += out.add(1 + i).read();
            }
            out.write(sum);
        }
    }

    /// data-race/global_only_fence: the same in shared memory.
    shared_scratch(S, t, b, out) {
        S[t].write(t as u32);
        thread::sync_threads();
        if t == 0 {
            let mut sum = 0;
            for i in 0..b {
                sum += S[i].assume_init();
            }
            out.write(sum);
        }
    }

    /// data-race/local_read_write_race: written again behind the barrier, and summed without one.
    written_again(S, t, b, out) {
        S[t].write(0);
        thread::sync_threads();
        S[t].write(t as u32);
        if t == 0 {
            let mut sum = 0;
            for i in 0..b {
                sum += S[i].assume_init();
            }
            out.write(sum);
        }
    }

    /// data-race/local_write_write_race.
    one_cell(S, t, _b, out) {
        S[0].write(t as u32);
        thread::sync_threads();
        out.add(t).write(S[0].assume_init());
    }

    /// data-race/uniform_write_race: all write 0 to one element.
    uniform_write(_S, _t, _b, out) {
        out.write(0);
    }

    /// data-race/global_read_write_race: each reads its left neighbour's element.
    left_neighbour(_S, t, _b, out) {
        if t > 0 {
            let value = out.add(t - 1).read();
            out.add(t).write(value);
        }
    }

    /// data-race/global_write_write_race: blocks of one thread write one element.
    one_element(_S, _t, _b, out) {
        out.write(thread::block_idx_x());
    }

    /// barrier/barrier_different_instructions: one barrier in each arm.
    different_calls(_S, t, _b, out) {
        if t == 0 {
            out.write(42);
            thread::sync_threads();
        } else {
            thread::sync_threads();
            let value = out.read();
            out.add(t).write(t as u32 + value);
        }
    }

    /// barrier/barrier_divergence: one thread goes past.
    one_goes_past(_S, t, _b, out) {
        if t != 0 {
            thread::sync_threads();
        }
        out.add(t).write(t as u32);
    }

    /// The same with a return, which OpenCL does not allow and CUDA does.
    one_returns(_S, t, _b, out) {
        if t == 0 {
            return;
        }
        thread::sync_threads();
        out.add(t).write(t as u32);
    }

    /// uninitialized/uninitialized_local_array: all cells but one are written.
    all_but_one(S, t, b, out) {
        if t != b / 2 {
            S[t].write(t as u32);
        }
        out.add(t).write(S[t].assume_init());
    }

    /// misc/reduce: a tree of sums with the barrier at the head of the loop.
    reduce(S, t, b, out) {
        S[t].write(t as u32);
        let mut half = b / 2;
        while half > 0 {
            thread::sync_threads();
            if t < half {
                let sum = S[t].assume_init() + S[t + half].assume_init();
                S[t].write(sum);
            }
            half /= 2;
        }
        if t == 0 {
            out.add(thread::block_idx_x() as usize).write(S[0].assume_init());
        }
    }
}

#[test]
fn verdicts() {
    use Kind::{Raw, War, Waw};
    use Level::{Error, Info, Warning};
    let race = Verdict::race;
    let table: [(&str, Kernel, u32, u32, Verdict); 18] = [
        ("broadcast", broadcast, 4, 1, Verdict::clean()),
        ("increment", increment, 4, 1, Verdict::clean()),
        ("intergroup_hidden_race", hidden_between_blocks, 2, 1, race(&[War], Error)),
        ("intergroup_race", sum_over_blocks, 2, 4, race(&[Raw], Error)),
        // OpenCL's barrier has a local fence here: a race there, none with CUDA's.
        ("intragroup_hidden_race", global_behind_a_barrier, 1, 2, Verdict::clean()),
        ("local_only_fence", global_scratch, 1, 4, Verdict::clean()),
        ("global_fence", global_scratch, 1, 64, Verdict::clean()),
        ("global_only_fence", shared_scratch, 1, 4, Verdict::clean()),
        // Four work-items are one warp, which OpenCL does not know: a warning.
        ("local_read_write_race", written_again, 1, 4, race(&[Raw], Warning)),
        ("local_write_write_race", one_cell, 1, 4, race(&[Waw], Error)),
        ("uniform_write_race", uniform_write, 1, 4, race(&[Waw], Info)),
        ("global_read_write_race", left_neighbour, 1, 4, race(&[War], Warning)),
        ("global_write_write_race", one_element, 4, 1, race(&[Waw], Error)),
        ("barrier_different_instructions", different_calls, 1, 4, Verdict::divergent()),
        ("barrier_divergence", one_goes_past, 1, 4, Verdict::divergent()),
        ("a return instead", one_returns, 1, 4, Verdict::clean()),
        (
            "uninitialized_local_array",
            all_but_one,
            1,
            16,
            Verdict { uninitialised: true, ..Verdict::clean() },
        ),
        ("reduce", reduce, 16, 4, Verdict::clean()),
    ];
    for (name, kernel, grid, block, expected) in table {
        assert_eq!(judge(grid, block, kernel), expected, "{name}");
    }
}
