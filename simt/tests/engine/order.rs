//! Atomics, scopes, fences, releases and acquires; barriers that count.

use simt::Launch;

use crate::support::{Run, judged, kernel, module, verdict};

/// Message passing: the first thread writes data and raises a flag, the last one reads the flag until it is up, and the
/// data.
#[track_caller]
fn passes(raise: &str, look: &str, blocks: u32, threads: u32, verdict: &str) {
    let body = format!(
        "add.u64 %d1, %out, 128; add.u64 %d2, %out, 256; setp.eq.u32 %p1, %t, 0; setp.eq.u32 %p2, %b, 0;
        sub.u32 %w1, %n, 1; setp.eq.u32 %p3, %t, %w1; mov.u32 %w2, %nctaid.x; sub.u32 %w2, %w2, 1;
        setp.eq.u32 %p4, %b, %w2; and.pred %p1, %p1, %p2; and.pred %p3, %p3, %p4; mov.u32 %w9, 1;
        @!%p1 bra LOOK;\nst.global.u32 [%d1], 42;\n{raise}\nLOOK: @!%p3 bra END;\nmov.u32 %w8, 0;\nAGAIN: {look}
        add.u32 %w8, %w8, 1; setp.lt.u32 %p5, %w8, 200; setp.eq.u32 %p6, %w3, 0; and.pred %p5, %p5, %p6; @%p5 bra AGAIN;
        @%p6 bra END;\nld.global.u32 %w4, [%d1];\nEND: ret;"
    );
    assert_eq!(judged(&body, blocks, threads), verdict, "{raise} and {look}");
}

#[test]
fn releases_and_acquires() {
    for (blocks, threads) in [(1, 64), (1, 32), (2, 32)] {
        let passes = |raise: &str, look: &str, verdict: &str| passes(raise, look, blocks, threads, verdict);
        let race = if blocks == 1 && threads == 32 { "RAW warning" } else { "RAW error" };
        passes("st.release.gpu.global.u32 [%d2], 1;", "ld.acquire.gpu.global.u32 %w3, [%d2];", "clean");
        passes("st.release.sys.global.u32 [%d2], 1;", "ld.acquire.gpu.global.u32 %w3, [%d2];", "clean");
        let fenced = "fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%d2], 1;";
        passes(fenced, "ld.relaxed.gpu.global.u32 %w3, [%d2]; fence.acq_rel.gpu;", "clean");
        passes(
            "membar.gl; st.volatile.global.u32 [%d2], 1;",
            "ld.volatile.global.u32 %w3, [%d2]; membar.gl;",
            "clean",
        );
        passes(fenced, "ld.acquire.gpu.global.u32 %w3, [%d2];", "clean");
        passes(
            "atom.release.gpu.global.exch.b32 %w5, [%d2], 1;",
            "atom.acquire.gpu.global.or.b32 %w3, [%d2], 0;",
            "clean",
        );
        passes("red.release.gpu.global.add.u32 [%d2], 1;", "ld.acquire.gpu.global.u32 %w3, [%d2];", "clean");
        // A release followed by a strong write to the same place.
        passes(
            "st.release.gpu.global.u32 [%d2], 1; st.relaxed.gpu.global.u32 [%d2], 2;",
            "ld.acquire.gpu.global.u32 %w3, [%d2];",
            "clean",
        );
        // Relaxed orders nothing, and half of a pair neither.
        passes("st.relaxed.gpu.global.u32 [%d2], 1;", "ld.relaxed.gpu.global.u32 %w3, [%d2];", race);
        passes("st.release.gpu.global.u32 [%d2], 1;", "ld.relaxed.gpu.global.u32 %w3, [%d2];", race);
        passes("st.relaxed.gpu.global.u32 [%d2], 1;", "ld.acquire.gpu.global.u32 %w3, [%d2];", race);
        passes(
            "fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%d2], 1;",
            "ld.relaxed.gpu.global.u32 %w3, [%d2];",
            race,
        );
        // A plain flag races itself.
        let plain = "fence.acq_rel.gpu; st.global.u32 [%d2], 1;";
        passes(plain, "ld.global.u32 %w3, [%d2]; fence.acq_rel.gpu;", race);
        // The scope of a fence.
        let small = if blocks == 1 { "clean" } else { "RAW error" };
        let fenced = "fence.acq_rel.cta; st.relaxed.gpu.global.u32 [%d2], 1;";
        passes(fenced, "ld.acquire.gpu.global.u32 %w3, [%d2];", small);
        passes(
            "st.release.gpu.global.u32 [%d2], 1;",
            "ld.relaxed.gpu.global.u32 %w3, [%d2]; fence.acq_rel.cta;",
            small,
        );
        passes("st.release.cta.global.u32 [%d2], 1;", "ld.acquire.gpu.global.u32 %w3, [%d2];", small);
        // A wider fence is not undone by a narrow one.
        let both = "fence.acq_rel.gpu; fence.acq_rel.cta; st.relaxed.gpu.global.u32 [%d2], 1;";
        passes(both, "ld.acquire.gpu.global.u32 %w3, [%d2];", "clean");
    }
}

#[test]
fn a_fence_holds_beyond_a_barrier() {
    let body = "add.u64 %d1, %out, 128; add.u64 %d2, %out, 256; setp.eq.u32 %p1, %t, 0;
        setp.eq.u32 %p2, %b, 0; and.pred %p3, %p1, %p2; @%p3 st.global.u32 [%d1], 42; fence.acq_rel.gpu; bar.sync 0;
        @%p3 st.relaxed.gpu.global.u32 [%d2], 1; @%p2 bra END;
        @!%p1 bra L;\nAGAIN: ld.acquire.gpu.global.u32 %w3, [%d2]; setp.eq.u32 %p4, %w3, 0; @%p4 bra AGAIN;\nL: bar.sync 0;
        ld.global.u32 %w4, [%d1];\nEND: ret;";
    assert_eq!(judged(body, 2, 64), "clean");
}

#[test]
fn atomics_and_their_scopes() {
    assert_eq!(judged("red.global.add.u32 [%out], 1;", 2, 64), "clean");
    assert_eq!(judged("red.relaxed.cta.global.add.u32 [%out], 1;", 1, 64), "clean");
    assert_eq!(judged("red.relaxed.cta.global.add.u32 [%out], 1;", 2, 64), "WAW error");
    assert_eq!(
        judged("atom.global.add.u32 %w1, [%out], 1; ld.global.u32 %w2, [%out];", 1, 32),
        "RAW warning"
    );
    assert_eq!(
        judged("atom.global.add.u32 %w1, [%out], 1; ld.global.u32 %w2, [%out];", 1, 64),
        "RAW error, RAW warning"
    );
    assert_eq!(
        judged("atom.global.add.u32 %w1, [%out], 1; ld.volatile.global.u32 %w2, [%out];", 2, 64),
        "clean"
    );
    assert_eq!(
        judged("atom.global.add.u32 %w1, [%out], 1; bar.sync 0; ld.global.u32 %w2, [%out];", 1, 64),
        "clean"
    );
    // Of two sizes.
    let sizes = "atom.global.add.u32 %w1, [%out], 1; atom.global.add.u64 %d1, [%out], 1;";
    assert_eq!(judged(sizes, 1, 32), "WAW error");
    let sizes = "setp.eq.u32 %p1, %b, 0; @%p1 atom.global.add.u32 %w1, [%out], 1; @!%p1 atom.global.add.u64 %d1, [%out], 1;";
    assert_eq!(judged(sizes, 2, 1), "WAW error");
}

/// The last block to come adds up what all have written. A relaxed atomic acquires nothing, so that a fence has to stand on
/// either side of it.
fn last_block(fence: &str, after: &str) -> String {
    let body = format!(
        "add.u64 %d1, %out, 1024; mul.wide.u32 %d2, %b, 4; add.u64 %d2, %d2, %out; setp.eq.u32 %p1, %t, 0;
        @!%p1 bra JOIN;\nst.global.u32 [%d2], 5; {fence} atom.global.inc.u32 %w1, [%d1], 100; {after} mov.u32 %w2, %nctaid.x;
        sub.u32 %w2, %w2, 1; setp.eq.u32 %p2, %w1, %w2; selp.u32 %w3, 1, 0, %p2; st.shared.u32 [S], %w3;
        JOIN: bar.sync 0; ld.shared.u32 %w3, [S]; setp.eq.u32 %p2, %w3, 0; @%p2 ret;
        mov.u32 %w4, %nctaid.x; setp.ge.u32 %p3, %t, %w4; @%p3 ret;
        mul.wide.u32 %d3, %t, 4; add.u64 %d3, %d3, %out; ld.global.u32 %w5, [%d3];"
    );
    judged(&body, 4, 64)
}

#[test]
fn last_block_reduction() {
    assert_eq!(last_block("membar.gl;", "membar.gl;"), "clean");
    assert_eq!(last_block("", ""), "RAW error");
    assert_eq!(last_block("membar.cta;", "membar.cta;"), "RAW error");
    assert_eq!(last_block("", "membar.gl;"), "RAW error");
}

#[test]
fn barriers_that_count() {
    let write = "st.shared.u32 [%own], %t;";
    let read = "ld.shared.u32 %w1, [%other];";
    let split = "setp.lt.u32 %p1, %t, 32; @!%p1 bra CONSUMER;";
    let body =
        |producer: &str, consumer: &str| format!("{split}\n{producer}\nret;\nCONSUMER: {consumer}\nret;");
    let arrive = body(&format!("{write} bar.arrive 1, 64;"), &format!("bar.sync 1, 64; {read}"));
    assert_eq!(judged(&arrive, 1, 64), "clean");
    let late = body(&format!("bar.arrive 1, 64; {write}"), &format!("bar.sync 1, 64; {read}"));
    assert_eq!(judged(&late, 1, 64), "RAW error");
    // Who only arrives learns nothing.
    let backwards = body(&format!("bar.arrive 1, 64; {read}"), &format!("{write} bar.sync 1, 64;"));
    assert_eq!(judged(&backwards, 1, 64), "WAR error");
    let both = body(&format!("{write} bar.sync 1, 64; {read}"), &format!("{write} bar.sync 1, 64; {read}"));
    assert_eq!(judged(&both, 1, 64), "clean");
    // A warp of a partial block counts as a whole one.
    assert_eq!(judged("bar.sync 1, 64;", 1, 48), "clean");
    assert_eq!(judged("bar.sync 1, 96;", 1, 64), "stuck");
    let exits = "setp.ge.u32 %p1, %t, 40; @%p1 ret; bar.sync 1, 64;";
    assert_eq!(judged(exits, 1, 64), "clean");
}

#[test]
fn reductions_of_barriers() {
    let body = "setp.lt.u32 %p1, %t, 5; bar.red.popc.u32 %w1, 0, %p1; setp.eq.u32 %p2, %w1, 5; bar.red.and.pred %p3, 0, %p2;
        bar.red.or.pred %p4, 0, !%p2; @!%p3 trap; @%p4 trap;";
    for threads in [32, 48, 96] {
        assert_eq!(judged(body, 1, threads), "clean");
    }
    let order = "st.shared.u32 [%own], %t; setp.lt.u32 %p1, %t, 5; bar.red.popc.u32 %w1, 0, %p1; ld.shared.u32 %w1, [%other];";
    assert_eq!(judged(order, 1, 64), "clean");
}

#[test]
fn lanes_that_never_come() {
    let half = "and.b32 %w1, %t, 31; setp.lt.u32 %p1, %w1, 16; @!%p1 bra L;\n";
    let live = "\nL: st.shared.u32 [%own], %t;";
    for wait in [
        "shfl.sync.bfly.b32 %w2, %t, 1, 0x1f, 0xffffffff;",
        "vote.sync.ballot.b32 %w2, %p1, 0xffffffff;",
        "match.any.sync.b32 %w2, %t, 0xffffffff;",
        "bar.warp.sync 0xffffffff;",
        "redux.sync.add.s32 %w2, %t, 0xffffffff;",
    ] {
        assert_eq!(judged(&[half, wait, live].concat(), 1, 64), "misuse", "{wait}");
        let named = wait.replace("0xffffffff", "0xffff");
        assert_eq!(judged(&[half, &named, live].concat(), 1, 64), "clean", "{named}");
        // Who has exited is not waited for.
        assert_eq!(judged(&[half, wait, "\nL: ret;"].concat(), 1, 64), "clean", "{wait}");
        // Lanes that leave themselves out.
        assert_eq!(judged(&named, 1, 64), "misuse", "{named}");
    }
}

/// Else a launch of many blocks would take the square of its time.
#[test]
fn many_blocks_race_for_one_cell() {
    let body = "ld.global.u32 %w1, [%out]; add.u32 %w1, %w1, %b; st.global.u32 [%out], %w1;";
    let text = module(".param .u64 g", &format!("ld.param.u64 %out, [g];\n{body}"));
    let run = Run::new(&kernel(&text), Launch::new(1000, 64), &[vec![0; 64]]);
    assert_eq!(verdict(&run.go().outcome.report), "WAR error, WAR warning, WAW error, WAW info");
}
