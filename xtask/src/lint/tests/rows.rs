//! The shapes that the project's table of verdicts numbers, as far as they concern a barrier.

use super::{expect_bodies, kernel, lint};

#[test]
fn rows_of_the_table() {
    expect_bodies(&[
        (
            "2 synced",
            "S[t].write(x);
            thread::sync_threads(); // uniform
            let y = S[b - 1 - t].assume_init();",
        ),
        (
            "4 return above",
            "if t >= keep as usize { return; }
            S[t].write(x);
            thread::sync_threads(); // uniform
            y = S[keep - 1 - t].assume_init();",
        ),
        (
            "5 write, then return above",
            "S[t].write(x);
            if t >= b / 2 { return; }
            thread::sync_threads(); // uniform
            y = S[b - 1 - t].assume_init();",
        ),
        (
            "6 skipped by half",
            "S[t].write(x);
            if t < b / 2 {
                thread::sync_threads(); // non-uniform
                *out.add(t) = S[b - 1 - t].assume_init();
            }
            *out = 1.0;",
        ),
        (
            "7 two barriers, by half",
            "if t < b / 2 {
                thread::sync_threads(); // non-uniform
            } else {
                thread::sync_threads(); // non-uniform
            }",
        ),
        (
            "8 two barriers, by parity",
            "if t % 2 == 0 {
                thread::sync_threads(); // non-uniform
            } else {
                thread::sync_threads(); // non-uniform
            }",
        ),
        (
            "9 by block",
            "if block % 2 == 0 {
                thread::sync_threads(); // uniform
            }",
        ),
        (
            "10 loop, one barrier",
            "let mut acc = 0.0;
            for _ in 0..keep {
                S[t].write(acc);
                thread::sync_threads(); // uniform
                acc += S[b - 1 - t].assume_init();
            }",
        ),
        (
            "11 loop, two barriers",
            "let mut acc = 0.0;
            loop {
                S[t].write(acc);
                thread::sync_threads(); // uniform
                acc += S[b - 1 - t].assume_init();
                thread::sync_threads(); // uniform
                if n > 3 { break; }
            }",
        ),
        (
            "14, 15 one slot",
            "S[0].write(7.0);
            thread::sync_threads(); // uniform
            y = S[0].assume_init();",
        ),
        (
            "16 half writes",
            "if t < b / 2 { S[t].write(x); }
            thread::sync_threads(); // uniform
            y = S[b - 1 - t].assume_init();",
        ),
        (
            "17 trips by half",
            "let trips = if t < b / 2 { 2 } else { 3 };
            let mut acc = 0.0;
            for r in 0..trips {
                S[t].write(r as f32);
                thread::sync_threads(); // non-uniform
                acc += S[b - 1 - t].assume_init();
                thread::sync_threads(); // non-uniform
            }
            *out.add(t) = acc;",
        ),
        (
            "18 butterfly",
            "S[t].write(x);
            thread::sync_threads(); // uniform
            let mut d = b / 2;
            while d > 0 {
                let r = S[t].assume_init() + S[t ^ d].assume_init();
                thread::sync_threads(); // uniform
                S[t].write(r);
                thread::sync_threads(); // uniform
                d /= 2;
            }",
        ),
        (
            "19 return in the last block",
            "let i = block * b + t;
            if i >= input.len() { return; }
            S[t].write(x);
            thread::sync_threads(); // uniform
            y = S[b - 1 - t].assume_init();",
        ),
    ]);
}

#[test]
fn a_return_above_the_barrier_is_noted() {
    let report = lint(&kernel("if t >= n { return; } thread::sync_threads();", ""));
    assert!(report.findings.is_empty());
    assert_eq!(report.notes.len(), 1, "{report}");
    assert!(report.notes[0].what.starts_with("threads that return here do not take part"));

    let uniform = lint(&kernel("if n == 0 { return; } thread::sync_threads();", ""));
    assert!(uniform.notes.is_empty(), "all threads return together: {uniform}");
}
