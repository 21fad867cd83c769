//! Helpers: barriers in them, their arguments, and what they return.

use super::{expect, kernel};

#[test]
fn helpers_are_followed() {
    for (name, body, items) in [
        (
            "uniform helper",
            "helper(n);",
            "fn helper(n: usize) { if n > 3 { thread::sync_threads(); } } // uniform",
        ),
        (
            "argument by thread",
            "helper(t);",
            "fn helper(n: usize) { if n > 3 { thread::sync_threads(); } } // non-uniform",
        ),
        (
            "called under a condition",
            "if t < 5 { helper(); }",
            "fn helper() { thread::sync_threads(); } // non-uniform",
        ),
        (
            "two levels",
            "if t < 5 { outer(); }",
            "fn outer() { helper() }
            fn helper() { thread::sync_threads(); } // non-uniform",
        ),
        (
            "return of a helper is no exit",
            "helper(t);",
            "fn helper(t: usize) { if t < 5 { return; }
            thread::sync_threads(); } // non-uniform",
        ),
        (
            "? of a helper is no exit",
            "helper(t);",
            "fn helper(t: usize) -> Option<()> { t.checked_sub(5)?;
            thread::sync_threads(); Some(()) } // non-uniform",
        ),
        (
            "back from a helper that some left early",
            "helper(t);
            thread::sync_threads(); // uniform",
            "fn helper(t: usize) { if t < 5 { return; } }",
        ),
        (
            "result by thread",
            "if rank() > 3 { thread::sync_threads(); } // non-uniform",
            "fn rank() -> usize { thread::thread_idx_x() as usize }",
        ),
        (
            "result by an early return",
            "if pick(t) > 3 { thread::sync_threads(); } // non-uniform",
            "fn pick(t: usize) -> usize { if t < 5 { return 1; } 2 }",
        ),
        (
            "result by block",
            "if rank() > 3 { thread::sync_threads(); } // uniform",
            "fn rank() -> usize { thread::block_idx_x() as usize + 1 }",
        ),
        (
            "parts of a result",
            "let (i, m) = both(t, n);
            if m > 3 { thread::sync_threads(); } // uniform
            if i > 3 { thread::sync_threads(); } // non-uniform",
            "fn both(t: usize, n: usize) -> (usize, usize) { (t, n) }",
        ),
        (
            "written through an argument",
            "let mut x = 0; set(&mut x, t);
            if x > 3 { thread::sync_threads(); } // non-uniform",
            "fn set(x: &mut usize, t: usize) { *x = t; }",
        ),
        (
            "one call each way",
            "let m = same(n); let i = same(t);
            if m > 3 { thread::sync_threads(); } // uniform",
            "fn same(x: usize) -> usize { x }",
        ),
        (
            "method",
            "let tile = Tile { n };
            if t < 5 { tile.sync(); }",
            "struct Tile { n: usize }
            impl Tile { fn sync(&self) { thread::sync_threads(); } } // non-uniform",
        ),
        (
            "method that changes its receiver",
            "let mut tile = Tile { n }; tile.set(t);
            if tile.n > 3 { thread::sync_threads(); } // non-uniform",
            "struct Tile { n: usize }
            impl Tile { fn set(&mut self, t: usize) { self.n = t; } }",
        ),
        (
            "renamed barrier",
            "if t < 5 { bar(); } // non-uniform",
            "use cuda_std::thread::sync_threads as bar;",
        ),
        (
            "bare and long paths",
            "if t < 5 { sync_threads(); } // non-uniform
            if t < 5 { ::cuda_std::thread::sync_threads(); } // non-uniform",
            "",
        ),
        (
            "barriers with a vote",
            "if t < 5 { thread::sync_threads_count(1); } // non-uniform
            if t < 5 { thread::sync_threads_and(1); } // non-uniform",
            "",
        ),
        (
            "closure given to a helper",
            "run(|| thread::sync_threads(), n); // uniform",
            "fn run(f: impl Fn(), n: usize) { if n > 3 { f() } }",
        ),
        (
            "closure given to a helper that is choosy",
            "run(|| thread::sync_threads(), t); // non-uniform",
            "fn run(f: impl Fn(), n: usize) { if n > 3 { f() } }",
        ),
        (
            "barrier as a value",
            "let f = thread::sync_threads; // lost
            f(); thread::sync_threads(); // uniform",
            "",
        ),
        (
            "recursion",
            "deep(n);",
            "fn deep(n: usize) { if n > 3 { deep(n - 1); } // lost
            thread::sync_threads(); } // uniform",
        ),
        (
            "barrier in a macro",
            "bar!(); thread::sync_threads(); // uniform",
            "macro_rules! bar { () => {
            thread::sync_threads() // lost
            } }",
        ),
        (
            "struct argument",
            "",
            "struct Params { n: usize, data: *const f32 }
            #[kernel] pub unsafe fn other(p: Params) { if p.n > 3 { thread::sync_threads(); } // uniform
            if *p.data > 3.0 { thread::sync_threads(); } } // unknown",
        ),
        (
            "a function nobody calls",
            "",
            "pub fn lonely(n: usize) { thread::sync_threads(); // uniform
            if n > 3 { thread::sync_threads(); } } // non-uniform",
        ),
    ] {
        expect(name, &kernel(body, items));
    }
}
