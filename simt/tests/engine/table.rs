//! The shapes of shared memory and barriers that every check has to judge right, at several block sizes.

use crate::support::judged;

const SIZES: [u32; 4] = [32, 64, 96, 256];

/// Checks a body at every size.
#[track_caller]
fn check(body: &str, expected: impl Fn(u32) -> &'static str) {
    for threads in SIZES {
        assert_eq!(judged(body, 1, threads), expected(threads), "{threads} threads of\n{body}");
    }
}

/// A read of what the mirrored thread has written: the middle warp of three reads its own.
fn mirrored_raw(threads: u32) -> &'static str {
    match threads {
        32 => "RAW warning",
        96 => "RAW error, RAW warning",
        _ => "RAW error",
    }
}

fn mirrored_war(threads: u32) -> &'static str {
    match threads {
        32 => "WAR warning",
        96 => "WAR error, WAR warning",
        _ => "WAR error",
    }
}

const STORE: &str = "st.shared.u32 [%own], %t;";
const LOAD: &str = "ld.shared.u32 %w0, [%other];";
/// `%p0`: the thread is in the upper half of the block.
const UPPER: &str = "shr.u32 %w1, %n, 1; setp.ge.u32 %p0, %t, %w1;";

#[test]
fn no_barrier() {
    check(&format!("{STORE} {LOAD} ret;"), mirrored_raw);
}

#[test]
fn a_barrier_between() {
    check(&format!("{STORE} bar.sync 0; {LOAD} ret;"), |_| "clean");
}

#[test]
fn a_barrier_too_late() {
    check(&format!("{STORE} {LOAD} bar.sync 0; ret;"), mirrored_raw);
}

#[test]
fn a_return_above_the_barrier() {
    let body = format!(
        "{UPPER} @%p0 ret; {STORE} bar.sync 0; sub.u32 %w2, %w1, %t; sub.u32 %w2, %w2, 1;
        mul.wide.u32 %d0, %w2, 4; add.u64 %d0, %d0, %s; ld.shared.u32 %w0, [%d0]; ret;"
    );
    check(&body, |_| "clean");
}

#[test]
fn writes_of_threads_that_have_exited() {
    check(&format!("{STORE} {UPPER} @%p0 ret; bar.sync 0; {LOAD} ret;"), mirrored_raw);
}

#[test]
fn a_barrier_skipped() {
    let more = "mul.wide.u32 %d0, %t, 4; add.u64 %d0, %d0, %out; st.global.u32 [%d0], %t; ret;";
    check(&format!("{STORE} {UPPER} @%p0 bra L; bar.sync 0; {LOAD} L: {more}"), |_| "divergent");
}

#[test]
fn a_barrier_skipped_for_a_decision() {
    // No more than a decision stands behind: one thread or another may yet do something.
    let more = "setp.eq.u32 %p1, %t, 3; @%p1 bra M; ret; M: st.global.u32 [%out], %t; ret;";
    check(&format!("{UPPER} @%p0 bra L; bar.sync 0; L: {more}"), |_| "divergent");
}

#[test]
fn a_barrier_skipped_with_a_return_behind_it() {
    let arm = "bar.sync 0; setp.eq.u32 %p1, %t, 3; @%p1 ret;";
    let more = "mul.wide.u32 %d0, %t, 4; add.u64 %d0, %d0, %out; st.global.u32 [%d0], %t; ret;";
    check(&format!("{UPPER} @%p0 bra L; {arm} L: {more}"), |_| "divergent");
}

#[test]
fn a_branch_to_the_end_is_a_return() {
    check(&format!("{UPPER} @%p0 bra L; bar.sync 0; st.shared.u32 [%own], %t; L: ret;"), |_| "clean");
}

#[test]
fn barriers_in_both_arms() {
    check(&format!("{UPPER} @%p0 bra L; bar.sync 0; bra M; L: bar.sync 0; M: ret;"), |_| "divergent");
    let even = "and.b32 %w1, %t, 1; setp.eq.u32 %p0, %w1, 0;";
    check(&format!("{even} @%p0 bra L; bar.sync 0; bra M; L: bar.sync 0; M: ret;"), |_| "divergent");
}

#[test]
fn a_barrier_in_some_blocks() {
    let body = "and.b32 %w1, %b, 1; setp.eq.u32 %p0, %w1, 0; @%p0 bra L;
        st.shared.u32 [%own], %t; bar.sync 0; ld.shared.u32 %w0, [%other]; L: ret;";
    for threads in SIZES {
        assert_eq!(judged(body, 4, threads), "clean");
    }
}

fn looped(before: &str, behind: &str) -> String {
    format!(
        "mov.u32 %w5, 0; L: {STORE} bar.sync 0; {before} {LOAD} {behind}
        add.u32 %w5, %w5, 1; setp.lt.u32 %p5, %w5, 3; @%p5 bra L; ret;"
    )
}

#[test]
fn loops() {
    check(&looped("", ""), mirrored_war);
    check(&looped("", "bar.sync 0;"), |_| "clean");
}

#[test]
fn neighbours_in_a_warp() {
    let load =
        "xor.b32 %w1, %t, 1; mul.wide.u32 %d0, %w1, 4; add.u64 %d0, %d0, %s; ld.shared.u32 %w0, [%d0]; ret;";
    check(&format!("{STORE} {load}"), |_| "RAW warning");
    check(&format!("{STORE} bar.warp.sync 0xffffffff; {load}"), |_| "clean");
}

#[test]
fn one_cell_for_all() {
    check("st.shared.u32 [%s], %t; bar.sync 0; ld.shared.u32 %w0, [%s]; ret;", |_| "WAW error");
    check(
        "mov.u32 %w1, 7; st.shared.u32 [%s], %w1; bar.sync 0; ld.shared.u32 %w0, [%s]; ret;",
        |_| "WAW info",
    );
}

#[test]
fn half_of_it_written() {
    let body = format!("{UPPER} @%p0 bra L; {STORE} L: bar.sync 0; {LOAD} ret;");
    check(&body, |_| "uninitialised");
}

#[test]
fn trips_that_differ() {
    let body = format!(
        "{UPPER} selp.u32 %w2, 3, 2, %p0; mov.u32 %w5, 0; L: {STORE} bar.sync 0; {LOAD} bar.sync 0;
        add.u32 %w5, %w5, 1; setp.lt.u32 %p5, %w5, %w2; @%p5 bra L;
        mul.wide.u32 %d0, %t, 4; add.u64 %d0, %d0, %out; st.global.u32 [%d0], %t; ret;"
    );
    check(&body, |_| "divergent");
}

#[test]
fn butterfly() {
    let body = format!(
        "{STORE} bar.sync 0; mov.u32 %w5, 1;
        L: xor.b32 %w1, %t, %w5; mul.wide.u32 %d0, %w1, 4; add.u64 %d0, %d0, %s;
        ld.shared.u32 %w2, [%own]; ld.shared.u32 %w3, [%d0]; add.u32 %w2, %w2, %w3; bar.sync 0;
        st.shared.u32 [%own], %w2; bar.sync 0;
        shl.b32 %w5, %w5, 1; setp.lt.u32 %p5, %w5, %n; @%p5 bra L; ret;"
    );
    for threads in [32, 64, 256] {
        assert_eq!(judged(&body, 1, threads), "clean");
    }
}

#[test]
fn a_partial_last_block() {
    let body = format!(
        "mad.lo.u32 %w1, %b, %n, %t; shr.u32 %w2, %n, 1; add.u32 %w2, %w2, %n; setp.ge.u32 %p0, %w1, %w2;
        @%p0 ret; {STORE} bar.sync 0; {LOAD} ret;"
    );
    for threads in SIZES {
        assert_eq!(judged(&body, 2, threads), "uninitialised");
    }
}

#[test]
fn blocks_that_write_one_element() {
    for threads in SIZES {
        let body = "setp.ne.u32 %p0, %t, 0; @%p0 ret; st.global.u32 [%out], %b; ret;";
        assert_eq!(judged(body, 2, threads), "WAW error");
        assert_eq!(judged(body, 1, threads), "clean");
    }
}

#[test]
fn blocks_that_read_each_other() {
    let body = "mad.lo.u32 %w1, %b, %n, %t; mul.wide.u32 %d0, %w1, 4; add.u64 %d0, %d0, %out;
        st.global.u32 [%d0], %t; bar.sync 0; ld.global.u32 %w0, [%d0+OFFSET]; ret;";
    assert_eq!(judged(&body.replace("OFFSET", "0"), 3, 64), "clean");
    assert!(judged(&body.replace("OFFSET", "256"), 3, 64).contains("error"));
}

#[test]
fn a_barrier_in_a_function() {
    let held = ".func f() { bar.sync 0; ret; }";
    let run = |body: &str, threads: u32| {
        crate::support::judged_run(crate::support::launch(held, body, simt::Launch::new(1, threads)))
    };
    for threads in SIZES {
        assert_eq!(run(&format!("{STORE} call f; {LOAD} ret;"), threads), "clean");
        // Two calls are two barriers.
        let both = format!("{UPPER} @%p0 bra L; call f; bra M; L: call f; M: ret;");
        assert_eq!(run(&both, threads), "divergent");
    }
}
