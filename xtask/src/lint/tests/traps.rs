//! Where a value or the control flow differs in a less obvious way, or only seems to.

use super::expect_bodies;

#[test]
fn uniform_conditions() {
    expect_bodies(&[
        (
            "arguments, constants and lengths",
            "if n > 4 && (keep as usize) < HALF || input.len() == 7 {
                thread::sync_threads(); // uniform
            }",
        ),
        (
            "grid",
            "let last = thread::grid_dim_x() - 1;
            if thread::block_idx().x == last { thread::sync_threads(); } // uniform",
        ),
        (
            "nested uniform loops",
            "for i in 0..n { for j in (i..n).step_by(2) {
                if i + j > 3 { continue; }
                thread::sync_threads(); // uniform
            } }",
        ),
        (
            "vote",
            "while thread::sync_threads_or(t as u32 & 1) != 0 { // uniform
                thread::sync_threads(); // uniform
            }",
        ),
        (
            "shadowing a thread index",
            "let t = n;
            if t > 3 { thread::sync_threads(); } // uniform",
        ),
        (
            "shadowing ends with its block",
            "let t = n; { let t = thread::lane_id(); }
            if t > 3 { thread::sync_threads(); } // uniform",
        ),
        (
            "tuple parts",
            "let (i, m) = (t, n); let pair = (i, m);
            if m > 3 { thread::sync_threads(); } // uniform
            if pair.1 > 3 { thread::sync_threads(); } // uniform
            if pair.0 > 3 { thread::sync_threads(); } // non-uniform",
        ),
        (
            "continue above, barrier at the loop's head",
            "for k in 0..n {
                thread::sync_threads(); // uniform
                if t < 5 { continue; }
                *out.add(t) = 1.0;
            }",
        ),
        (
            "return in a loop",
            "for k in 0..n {
                if t == k { return; }
                thread::sync_threads(); // uniform
            }",
        ),
        (
            "selects do not branch around the barrier",
            "let x = if t < n { 1.0 } else { 0.0 };
            S[t].write(x);
            thread::sync_threads(); // uniform",
        ),
        (
            "a loop of the thread's own, before",
            "let mut acc = 0.0;
            for k in 0..t { acc += 1.0; if acc > 3.0 { break; } }
            thread::sync_threads(); // uniform",
        ),
        (
            "output written through a slice",
            "let mut sum = [0.0; 4]; sum[1] = n as f32;
            if sum[1] > 2.0 { thread::sync_threads(); } // uniform",
        ),
        ("match with one arm", "match t { i => thread::sync_threads(), } // uniform"),
        (
            "match on a uniform",
            "match n { 0 => {}, 1 | 2 => thread::sync_threads(), m if m > b => {}, // uniform
                _ => thread::sync_threads(), // uniform
            }",
        ),
        (
            "asserts",
            "assert!(t < 1024, \"{t}\"); debug_assert_eq!(n, 3);
            thread::sync_threads(); // uniform",
        ),
        (
            "closure called by all",
            "let sync = || thread::sync_threads(); // uniform
            sync(); if n > 3 { sync(); }",
        ),
        ("closure over a range", "(0..n).for_each(|k| { if k > 2 { thread::sync_threads(); } }); // uniform"),
        (
            "let else on an argument",
            "for k in 0..n { let Some(m) = n.checked_sub(k) else { break; };
                thread::sync_threads(); // uniform
            }",
        ),
        (
            "then-branch leaves, else-branch has the barrier",
            "for k in 0..n {
                if n > 3 { if t < 5 { continue; } } else {
                    thread::sync_threads(); // uniform
                }
                thread::sync_threads(); // non-uniform
            }",
        ),
        (
            "break out of an inner loop only",
            "for k in 0..n {
                loop { if t < k { break; } if n > 3 { break; } }
                thread::sync_threads(); // uniform
            }",
        ),
        (
            "unsafe block and casts",
            "let d = unsafe { thread::block_dim_x() } as i32 as usize;
            if d == HALF { unsafe { thread::sync_threads() }; } // uniform",
        ),
    ]);
}

#[test]
fn values_that_differ() {
    expect_bodies(&[
        (
            "a chain",
            "let half = t / 2; let late = half > 3;
            if late { thread::sync_threads(); } // non-uniform",
        ),
        (
            "compound assignment",
            "let mut x = 0; x += t;
            if x > 3 { thread::sync_threads(); } // non-uniform",
        ),
        (
            "shadowing a uniform",
            "let n = t;
            if n > 3 { thread::sync_threads(); } // non-uniform",
        ),
        (
            "assigned under a condition",
            "let mut trips = 2; if t < 64 { trips = 3 }
            for _ in 0..trips { thread::sync_threads(); } // non-uniform",
        ),
        (
            "declared, then assigned",
            "let trips; if t < 64 { trips = 3 } else { trips = 2 }
            for _ in 0..trips { thread::sync_threads(); } // non-uniform",
        ),
        (
            "modified in a loop of unequal trips",
            "let mut c = 0; for _ in 0..t { c += 1; }
            if c > 3 { thread::sync_threads(); } // non-uniform",
        ),
        (
            "modified after an unequal break",
            "let mut c = 0; loop { c += 1; if c > t { break; } }
            if c > 3 { thread::sync_threads(); } // non-uniform",
        ),
        (
            "modified after an unequal continue",
            "let mut c = 0; for k in 0..n { if k == t { continue; } c += 1; }
            if c > 3 { thread::sync_threads(); } // non-uniform",
        ),
        (
            "learnt in the second trip",
            "let (mut a, mut b2) = (0, 0);
            for _ in 0..n {
                if b2 > 3 { thread::sync_threads(); } // non-uniform
                b2 = a; a = t;
            }",
        ),
        ("slices", "if input[n] > 1.0 { thread::sync_threads(); } // unknown"),
        ("elements", "for x in input { if *x > 1.0 { thread::sync_threads(); } } // unknown"),
        ("every element, all the same", "for x in input.iter() { thread::sync_threads(); } // uniform"),
        (
            "pointers",
            "if unsafe { *out.add(n) } > 1.0 { thread::sync_threads(); } // unknown
            if out.is_null() { thread::sync_threads(); } // uniform",
        ),
        ("shared slots", "if unsafe { S[0].assume_init() } > 1.0 { thread::sync_threads(); } // unknown"),
        ("a shared flag", "if unsafe { FLAG.assume_init() } == 1 { thread::sync_threads(); } // unknown"),
        (
            "a local array",
            "let mut a = [0; 4]; a[t] = 1;
            if a[0] == 1 { thread::sync_threads(); } // non-uniform",
        ),
        (
            "indexed by the thread",
            "let a = [1, 2, 3];
            if a[t] == 1 { thread::sync_threads(); } // non-uniform",
        ),
        (
            "a field of the thread index",
            "if thread::thread_idx().y == 0 { thread::sync_threads(); } // non-uniform",
        ),
        (
            "a slot by dereference",
            "let r = unsafe { &S[n] }; if r.assume_init() > 1.0 { thread::sync_threads(); } // unknown",
        ),
        ("a static array of another file", "if OTHER[0] > 1.0 { thread::sync_threads(); } // unknown"),
        (
            "an iterator advanced by some",
            "let mut it = 0..9; if t < 5 { it.next(); }
            while let Some(k) = it.next() { thread::sync_threads(); } // non-uniform",
        ),
        (
            "a raw pointer to a local",
            "let mut x = 0; let p = &raw mut x; unsafe { *p = t };
            if x > 3 { thread::sync_threads(); } // non-uniform",
        ),
        (
            "a written pointer to a local",
            "let mut x = 0; let p = &raw mut x; unsafe { p.write(t) };
            if x > 3 { thread::sync_threads(); } // non-uniform",
        ),
        ("lanes", "if warp::lane_id() == 0 { thread::sync_threads(); } // non-uniform"),
        ("global index", "let i = thread::index_1d(); if i < 9 { thread::sync_threads(); } // non-uniform"),
        ("votes of one warp", "if warp::warp_vote_all(n > 3) { thread::sync_threads(); } // non-uniform"),
        (
            "through a reference",
            "let mut x = 0; { let p = &mut x; *p = t; }
            if x > 3 { thread::sync_threads(); } // non-uniform",
        ),
        (
            "through a moved reference",
            "let mut x = 0; let p = &mut x; let q = p; *q = t;
            if x > 3 { thread::sync_threads(); } // non-uniform",
        ),
        (
            "through ref mut",
            "let mut x = Some(0); match x { Some(ref mut v) => *v = t, None => {} }
            if x.is_some() { thread::sync_threads(); } // non-uniform",
        ),
        (
            "swap",
            "let (mut x, mut y) = (0, t); core::mem::swap(&mut x, &mut y);
            if x > 3 { thread::sync_threads(); } // non-uniform",
        ),
        (
            "elements lent out",
            "let mut a = [0; 4]; for x in a.iter_mut() { *x = t; }
            if a[0] == 1 { thread::sync_threads(); } // non-uniform",
        ),
        (
            "destructuring assignment",
            "let (mut x, mut y) = (0, 0); (x, y) = (n, t);
            if x > 3 { thread::sync_threads(); } // uniform
            if y > 3 { thread::sync_threads(); } // non-uniform",
        ),
        (
            "the value of a loop",
            "let mut c = 0; let r = loop { c += 1; if t < c { break 1; } if c > 9 { break 2; } };
            if r == 1 { thread::sync_threads(); } // non-uniform",
        ),
        (
            "the value of a labelled block",
            "let r = 'a: { if t < 5 { break 'a 1; } 2 };
            if r == 1 { thread::sync_threads(); } // non-uniform",
        ),
        (
            "the value of match",
            "let r = match t { 0 => 1, _ => 2 };
            if r == 1 { thread::sync_threads(); } // non-uniform",
        ),
        ("the value of matches!", "if matches!(t, 0 | 1) { thread::sync_threads(); } // non-uniform"),
        (
            "an unknown macro",
            "let mut x = 0; set!(x, 5);
            if x > 3 { thread::sync_threads(); } // non-uniform",
        ),
        (
            "a captured variable",
            "let mut x = 0; let mut set = || x = t; set();
            if x > 3 { thread::sync_threads(); } // non-uniform",
        ),
    ]);
}

#[test]
fn control_that_differs() {
    expect_bodies(&[
        ("else if", "if n > 3 {} else if t < 5 { thread::sync_threads(); } // non-uniform"),
        ("if let", "if let Some(m) = t.checked_sub(3) { thread::sync_threads(); } // non-uniform"),
        ("while let", "while let Some(m) = t.checked_sub(3) { thread::sync_threads(); } // non-uniform"),
        ("while", "let mut k = t; while k < n { thread::sync_threads(); k += b; } // non-uniform"),
        (
            "let else, then live on",
            "for k in 0..n { let Some(m) = t.checked_sub(k) else { continue; };
                thread::sync_threads(); // non-uniform
            }",
        ),
        (
            "let else, return",
            "let Some(m) = t.checked_sub(3) else { return; };
            thread::sync_threads(); // uniform",
        ),
        (
            "match arms",
            "match t { 0 => thread::sync_threads(), // non-uniform
                _ => {} }",
        ),
        (
            "match guards",
            "match n { 0 if t < 5 => {}
                _ => thread::sync_threads(), // non-uniform
            }",
        ),
        ("guarded by &&", "let _ = t < 5 && thread::sync_threads_or(1) != 0; // non-uniform"),
        ("guarded by ||", "let _ = t < 5 || thread::sync_threads_or(1) != 0; // non-uniform"),
        ("to the left of &&", "let _ = thread::sync_threads_or(1) != 0 && t < 5; // uniform"),
        ("grid stride", "for i in (t..n).step_by(b) { thread::sync_threads(); } // non-uniform"),
        (
            "break below the barrier",
            "loop {
                thread::sync_threads(); // non-uniform
                if t < 5 { break; }
            }
            thread::sync_threads(); // uniform",
        ),
        (
            "continue above the barrier",
            "for k in 0..n { if t < k { continue; }
                thread::sync_threads(); // non-uniform
            }",
        ),
        (
            "continue that skips the step",
            "let mut k = 0; while k < n {
                thread::sync_threads(); // non-uniform
                if t < 5 { continue; }
                k += 1;
            }",
        ),
        (
            "labelled continue",
            "'outer: for i in 0..n {
                thread::sync_threads(); // uniform
                for j in 0..n {
                    thread::sync_threads(); // non-uniform
                    if t == j { continue 'outer; }
                }
                thread::sync_threads(); // non-uniform
            }",
        ),
        (
            "labelled break",
            "'outer: for i in 0..n {
                thread::sync_threads(); // non-uniform
                for j in 0..n { if t == j { break 'outer; } }
            }
            thread::sync_threads(); // uniform",
        ),
        (
            "labelled block",
            "'a: { if t < 5 { break 'a; }
                thread::sync_threads(); // non-uniform
            }
            thread::sync_threads(); // uniform",
        ),
        (
            "threads that never come",
            "if t < 5 { loop {} }
            thread::sync_threads(); // non-uniform",
        ),
        (
            "closure under a condition",
            "let sync = || thread::sync_threads(); // non-uniform
            if t < 5 { sync(); }",
        ),
        (
            "return of a closure is no exit",
            "let f = || { if t < 5 { return; }
                thread::sync_threads(); // non-uniform
            };
            f();
            thread::sync_threads(); // uniform",
        ),
        ("closure over an unequal range", "(0..t).for_each(|k| thread::sync_threads()); // non-uniform"),
        (
            "closure over a filtered range",
            "(0..n).filter(|k| *k > t)
                .for_each(|k| thread::sync_threads()); // non-uniform",
        ),
        ("closure given away", "apply(|| thread::sync_threads()); // non-uniform"),
        (
            "which closure",
            "let mut f = a; f = || thread::sync_threads(); // non-uniform
            if t < 5 { f(); }",
        ),
        (
            "a macro that may continue",
            "for k in 0..n { skip!();
                thread::sync_threads(); // non-uniform
            }",
        ),
        (
            "inner condition is uniform, the outer is not",
            "if t < 5 { if n > 3 {
                thread::sync_threads(); // non-uniform
            } }",
        ),
    ]);
}
