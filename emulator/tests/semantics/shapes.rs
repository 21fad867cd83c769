//! One kernel for each row of the table, as close to the row's own words as Rust allows.
//!
//! t = thread, B = block size, S = shared array, bar = block barrier.

// The same call in both arms of a branch is the point of two rows.
#![allow(clippy::if_same_then_else)]

use std::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread, warp};

const CELLS: usize = 1024;

/// Declares a kernel over `S`, with `t` and `b` at hand; `out` takes what was read.
macro_rules! shape {
    ($(#[$doc:meta])* $name:ident($s:ident, $t:ident, $b:ident, $out:ident) $body:block) => {
        $(#[$doc])*
        #[kernel]
        pub(crate) unsafe fn $name($out: *mut u32) {
            #[address_space(shared)]
            static mut $s: [MaybeUninit<u32>; CELLS] = [const { MaybeUninit::uninit() }; CELLS];
            let $t = thread::thread_idx_x() as usize;
            let $b = thread::block_dim_x() as usize;
            // SAFETY: there is none: what these kernels get wrong is what the table is about.
            unsafe { $body }
        }
    };
}

shape! {
    /// 1: `S[t]=x; y=S[B-1-t]`
    no_barrier(S, t, b, out) {
        S[t].write(t as u32);
        out.add(t).write(S[b - 1 - t].assume_init());
    }
}

shape! {
    /// 2: `S[t]=x; bar; y=S[B-1-t]`
    one_barrier(S, t, b, out) {
        S[t].write(t as u32);
        thread::sync_threads();
        out.add(t).write(S[b - 1 - t].assume_init());
    }
}

shape! {
    /// 3: `S[t]=x; y=S[B-1-t]; bar`
    barrier_below(S, t, b, out) {
        S[t].write(t as u32);
        let y = S[b - 1 - t].assume_init();
        thread::sync_threads();
        out.add(t).write(y);
    }
}

shape! {
    /// 4: `if t>=keep {return}; S[t]=x; bar; y=S[keep-1-t]`
    early_return(S, t, b, out) {
        let keep = b / 2 + 5;
        if t >= keep {
            return;
        }
        S[t].write(t as u32);
        thread::sync_threads();
        out.add(t).write(S[keep - 1 - t].assume_init());
    }
}

shape! {
    /// 5: `S[t]=x; if t>=B/2 {return}; bar; y=S[B-1-t]`
    exited_writer(S, t, b, out) {
        S[t].write(t as u32);
        if t >= b / 2 {
            return;
        }
        thread::sync_threads();
        out.add(t).write(S[b - 1 - t].assume_init());
    }
}

shape! {
    /// 6: `if t<B/2 {bar; …}; …` (others live on, then exit)
    skipped(S, t, b, out) {
        S[t].write(t as u32);
        if t < b / 2 {
            thread::sync_threads();
            out.add(t).write(S[b - 1 - t].assume_init());
        }
        out.add(b + t).write(1);
    }
}

shape! {
    /// 7: `if t<B/2 {bar} else {bar}`
    both_arms_by_half(S, t, b, out) {
        S[t].write(t as u32);
        if t < b / 2 {
            thread::sync_threads();
        } else {
            thread::sync_threads();
        }
        out.add(t).write(S[b - 1 - t].assume_init());
    }
}

shape! {
    /// 8: `if t%2==0 {bar} else {bar}`
    both_arms_by_parity(S, t, b, out) {
        S[t].write(t as u32);
        if t.is_multiple_of(2) {
            thread::sync_threads();
        } else {
            thread::sync_threads();
        }
        out.add(t).write(S[b - 1 - t].assume_init());
    }
}

shape! {
    /// 9: `if block%2==0 {bar}`; what follows needs an order only where there is one.
    uniform_if(S, t, b, out) {
        S[t].write(t as u32);
        if thread::block_idx_x().is_multiple_of(2) {
            thread::sync_threads();
            out.add(t).write(S[b - 1 - t].assume_init());
        }
    }
}

shape! {
    /// 10: `loop {S[t]=x; bar; acc+=S[B-1-t]}`
    loop_one_barrier(S, t, b, out) {
        let mut acc = 0;
        for trip in 0..3 {
            S[t].write(t as u32 + trip);
            thread::sync_threads();
            acc += S[b - 1 - t].assume_init();
        }
        out.add(t).write(acc);
    }
}

shape! {
    /// 11: `loop {S[t]=x; bar; acc+=S[B-1-t]; bar}`
    loop_two_barriers(S, t, b, out) {
        let mut acc = 0;
        for trip in 0..3 {
            S[t].write(t as u32 + trip);
            thread::sync_threads();
            acc += S[b - 1 - t].assume_init();
            thread::sync_threads();
        }
        out.add(t).write(acc);
    }
}

shape! {
    /// 12: `S[t]=x; y=S[t^1]`
    neighbour(S, t, _b, out) {
        S[t].write(t as u32);
        out.add(t).write(S[t ^ 1].assume_init());
    }
}

shape! {
    /// 13: `S[t]=x; sync_warp(full); y=S[t^1]`
    neighbour_warp_synced(S, t, _b, out) {
        S[t].write(t as u32);
        warp::sync_warp(u32::MAX);
        out.add(t).write(S[t ^ 1].assume_init());
    }
}

shape! {
    /// 14: `S[0]=t; bar; y=S[0]`
    two_writers(S, t, _b, out) {
        S[0].write(t as u32);
        thread::sync_threads();
        out.add(t).write(S[0].assume_init());
    }
}

shape! {
    /// 15: `S[0]=7; bar; y=S[0]`
    same_value(S, t, _b, out) {
        S[0].write(7);
        thread::sync_threads();
        out.add(t).write(S[0].assume_init());
    }
}

shape! {
    /// 16: `if t<B/2 {S[t]=x}; bar; y=S[B-1-t]`
    half_written(S, t, b, out) {
        if t < b / 2 {
            S[t].write(t as u32);
        }
        thread::sync_threads();
        out.add(t).write(S[b - 1 - t].assume_init());
    }
}

shape! {
    /// 17: `trips = t<B/2 ? 2 : 3; for r in 0..trips {S[t]=r; bar; acc+=S[B-1-t]; bar}`, then live on
    ragged_loop(S, t, b, out) {
        let trips = if t < b / 2 { 2 } else { 3 };
        let mut acc = 0;
        for r in 0..trips {
            S[t].write(r);
            thread::sync_threads();
            acc += S[b - 1 - t].assume_init();
            thread::sync_threads();
        }
        out.add(t).write(acc);
    }
}

shape! {
    /// 18: butterfly: `S[t]=x; bar; for d {r=S[t]+S[t^d]; bar; S[t]=r; bar}`
    butterfly(S, t, b, out) {
        S[t].write(t as u32);
        thread::sync_threads();
        let mut d = 1;
        while d < b {
            let r = S[t].assume_init() + S[t ^ d].assume_init();
            thread::sync_threads();
            S[t].write(r);
            thread::sync_threads();
            d *= 2;
        }
        out.add(t).write(S[t].assume_init());
    }
}

shape! {
    /// 19: `if i>=n {return}; S[t]=x; bar; y=S[B-1-t]` in a partial last block
    guard_by_return(S, t, b, out) {
        let n = b + b / 2;
        let i = thread::block_idx_x() as usize * b + t;
        if i >= n {
            return;
        }
        S[t].write(t as u32);
        thread::sync_threads();
        out.add(i).write(S[b - 1 - t].assume_init());
    }
}

shape! {
    /// 20: `out[0]=block` from two blocks of one launch
    two_blocks(_S, t, _b, out) {
        if t == 0 {
            out.write(thread::block_idx_x());
        }
    }
}
