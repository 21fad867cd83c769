//! Barriers of some threads only, barriers that compute, and instructions that lanes of a warp do together.

use simt::Launch;

use crate::support::{judged, judged_run, launch};

/// Warp 0 writes, warp 1 reads what it wrote.
fn handed_over(there: &str, here: &str) -> String {
    judged(
        &format!(
            "setp.ge.u32 %p0, %t, 32; @%p0 bra L; st.shared.u32 [%own], %t; {there} ret;
            L: {here} ld.shared.u32 %w0, [%own+-128]; ret;"
        ),
        1,
        64,
    )
}

#[test]
fn counted_barriers() {
    assert_eq!(handed_over("bar.arrive 1, 64;", "bar.sync 1, 64;"), "clean");
    assert_eq!(handed_over("bar.sync 1, 64;", "bar.sync 1, 64;"), "clean");
    assert_eq!(handed_over("barrier.sync 1, 64;", "barrier.sync 1, 64;"), "clean");
    // Each warp for itself.
    assert_eq!(handed_over("bar.sync 1, 32;", "bar.sync 1, 32;"), "RAW error");
    assert_eq!(handed_over("bar.sync 1, 32;", "bar.sync 2, 32;"), "RAW error");
    assert_eq!(handed_over("", ""), "RAW error");
    // Who waits for threads that never come waits for ever.
    assert!(handed_over("", "bar.sync 1, 64;").contains("stuck"));
    assert!(handed_over("bar.arrive 2, 64;", "bar.sync 1, 64;").contains("stuck"));
}

#[test]
fn a_warp_whose_other_lanes_have_exited_counts_as_one() {
    let body = "and.b32 %w1, %t, 1; setp.eq.u32 %p0, %w1, 1; @%p0 ret; bar.sync 3, 64; ret;";
    assert_eq!(judged(body, 1, 64), "clean");
}

#[test]
fn nothing_behind_an_arrival_is_ordered() {
    assert_eq!(handed_over("bar.arrive 1, 64; st.shared.u32 [%own], %t;", "bar.sync 1, 64;"), "RAW error");
}

#[test]
fn barriers_that_compute() {
    let body = "setp.lt.u32 %p0, %t, 5; st.shared.u32 [%own], %t;
        bar.red.popc.u32 %w1, 0, %p0; ld.shared.u32 %w0, [%other]; bar.red.and.pred %p1, 0, %p0;
        bar.red.or.pred %p2, 0, %p0; selp.u32 %w2, 1, 0, %p1; selp.u32 %w3, 1, 0, %p2;
        setp.ne.u32 %p3, %t, 7; @%p3 ret;
        st.global.u32 [%out], %w1; st.global.u32 [%out+4], %w2; st.global.u32 [%out+8], %w3; ret;";
    for threads in [32_u32, 64, 96, 256] {
        let run = launch("", body, Launch::new(1, threads));
        assert_eq!(run.go().buffers[0][..12], [5, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(judged_run(run), "clean");
    }
}

#[test]
fn shuffles_order_no_memory() {
    let body = "st.shared.u32 [%own], %t; shfl.sync.bfly.b32 %w1, %t, 1, 31, 0xffffffff;
        xor.b32 %w2, %t, 1; mul.wide.u32 %d0, %w2, 4; add.u64 %d0, %d0, %s; ld.shared.u32 %w0, [%d0]; ret;";
    assert_eq!(judged(body, 1, 64), "RAW warning");
}

#[test]
fn lanes_that_never_come() {
    let skipped = |what: &str| {
        format!(
            "setp.ge.u32 %p0, %t, 16; @%p0 bra L; {what}
            L: mul.wide.u32 %d0, %t, 4; add.u64 %d0, %d0, %out; st.global.u32 [%d0], %t; ret;"
        )
    };
    for what in [
        "shfl.sync.idx.b32 %w0, %t, 0, 31, MASK;",
        "vote.sync.ballot.b32 %w0, %p0, MASK;",
        "bar.warp.sync MASK;",
        "match.any.sync.b32 %w0, %t, MASK;",
    ] {
        assert_eq!(judged(&skipped(&what.replace("MASK", "0xffffffff")), 1, 32), "misuse", "{what}");
        assert_eq!(judged(&skipped(&what.replace("MASK", "0xffff")), 1, 32), "clean", "{what}");
        // Who does not name itself.
        assert_eq!(judged(&skipped(&what.replace("MASK", "0xff")), 1, 32), "misuse", "{what}");
        // Who has returned above is not waited for.
        let returned =
            format!("setp.ge.u32 %p0, %t, 16; @%p0 ret; {} ret;", what.replace("MASK", "0xffffffff"));
        assert_eq!(judged(&returned, 1, 32), "clean", "{what}");
    }
}

#[test]
fn half_warps_that_meet_apart() {
    // Lanes 0 to 15 meet, and so do the others; what the other half wrote is not ordered.
    let body = "shr.u32 %w1, %t, 4; and.b32 %w1, %w1, 1; setp.eq.u32 %p0, %w1, 0;
        selp.b32 %w2, 0xffff, 0xffff0000, %p0; st.shared.u32 [%own], %t; bar.warp.sync %w2;
        xor.b32 %w3, %t, WITH; mul.wide.u32 %d0, %w3, 4; add.u64 %d0, %d0, %s; ld.shared.u32 %w0, [%d0]; ret;";
    assert_eq!(judged(&body.replace("WITH", "1"), 1, 64), "clean");
    assert_eq!(judged(&body.replace("WITH", "16"), 1, 64), "RAW warning");
}
