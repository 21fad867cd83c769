//! Defined kernels in which every barrier can be left out, moved and doubled.
//!
//! `at` is a set of places where there is a barrier, the same for all threads: a condition that is the same
//! for every thread of the block is legal. Place k is bit k.

use cuda_std::{thread, warp};

use crate::common::shapes;

/// A barrier, if `at` names this place.
macro_rules! place {
    ($at:ident, $k:literal) => {
        if $at >> $k & 1 == 1 {
            thread::sync_threads();
        }
    };
}

shapes! {
    /// The lesson's: each block reverses its tile; the last tile is half. Written with the barrier at 1.
    reverse(S, t, b, out, at) {
        let n = b + b / 2;
        let i = thread::block_idx_x() as usize * b + t;
        place!(at, 0);
        S[t].write(if i < n { i as u32 } else { 0 });
        place!(at, 1);
        place!(at, 2);
        if i < n {
            place!(at, 3);
            out.add(i).write(S[b - 1 - t].assume_init());
        }
        place!(at, 4);
    }

    /// The lesson's: threads from `keep` on return above the barrier. Written with it at 2.
    prefix(S, t, b, out, at) {
        let keep = b / 2 + 8;
        place!(at, 0);
        if t >= keep {
            return;
        }
        place!(at, 1);
        S[t].write(t as u32);
        place!(at, 2);
        place!(at, 3);
        if t < keep / 2 {
            place!(at, 4);
        }
        out.add(t).write(S[keep - 1 - t].assume_init());
        place!(at, 5);
    }

    /// A tile used again in each trip. Written with barriers at 2 and 4.
    again(S, t, b, out, at) {
        let mut acc = 0;
        place!(at, 0);
        for trip in 0..3 {
            place!(at, 1);
            S[t].write(t as u32 + trip);
            place!(at, 2);
            place!(at, 3);
            acc += S[b - 1 - t].assume_init();
            place!(at, 4);
            place!(at, 5);
        }
        place!(at, 6);
        out.add(t).write(acc);
    }

    /// A butterfly: every thread ends with the sum. Written with barriers at 0, 2 and 3.
    butterfly(S, t, b, out, at) {
        S[t].write(t as u32);
        place!(at, 0);
        let mut d = 1;
        while d < b {
            place!(at, 1);
            let r = S[t].assume_init() + S[t ^ d].assume_init();
            place!(at, 2);
            S[t].write(r);
            place!(at, 3);
            place!(at, 4);
            d *= 2;
        }
        place!(at, 5);
        out.add(t).write(S[t].assume_init());
    }

    /// A tree of sums. Written with the barrier at 1.
    tree(S, t, b, out, at) {
        S[t].write(t as u32);
        place!(at, 0);
        let mut half = b / 2;
        while half > 0 {
            place!(at, 1);
            place!(at, 2);
            if t < half {
                let sum = S[t].assume_init() + S[t + half].assume_init();
                S[t].write(sum);
                place!(at, 3);
            }
            place!(at, 4);
            half /= 2;
        }
        place!(at, 5);
        if t == 0 {
            out.write(S[0].assume_init());
        }
    }

    /// A barrier in the blocks that need it. Written with it at 0.
    by_block(S, t, b, out, at) {
        S[t].write(t as u32);
        if thread::block_idx_x() == 0 {
            place!(at, 0);
            place!(at, 1);
            out.add(t).write(S[b - 1 - t].assume_init());
            place!(at, 2);
        }
        place!(at, 3);
    }

    /// Neighbours in a warp. Written with `sync_warp` at 1; places 3 and 4 have block barriers.
    neighbours(S, t, _b, out, at) {
        if at & 1 == 1 {
            warp::sync_warp(u32::MAX);
        }
        S[t].write(t as u32);
        if at >> 1 & 1 == 1 {
            warp::sync_warp(u32::MAX);
        }
        if at >> 2 & 1 == 1 {
            warp::sync_warp(u32::MAX);
        }
        place!(at, 3);
        out.add(t).write(S[t ^ 1].assume_init());
        place!(at, 4);
        if at >> 5 & 1 == 1 {
            warp::sync_warp(u32::MAX);
        }
    }
}
