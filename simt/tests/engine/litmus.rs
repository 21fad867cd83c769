//! Orders between threads that no barrier makes: releases, acquires, fences, atomics and their scopes; and kinds of
//! memory and of accesses.

use simt::Launch;

use crate::support::{judged, judged_run, launch};

/// Block 0 hands data to block 1 by way of a flag.
fn message(write: &str, read: &str) -> String {
    judged(
        &format!(
            "setp.ne.u32 %p0, %t, 0; @%p0 ret; setp.ne.u32 %p1, %b, 0; @%p1 bra L; mov.u32 %w1, 1;
            st.global.u32 [%out], %w1; {write} ret;
            L: {read} setp.ne.u32 %p2, %w2, 1; @%p2 ret; ld.global.u32 %w0, [%out]; ret;"
        ),
        2,
        32,
    )
}

#[test]
fn messages_between_blocks() {
    let (write, read) = ("st.ORDER.global.u32 [%out+64], %w1;", "ld.ORDER.global.u32 %w2, [%out+64];");
    let (write, read) =
        (|order: &str| write.replace("ORDER", order), |order: &str| read.replace("ORDER", order));
    assert_eq!(message(&write("release.gpu"), &read("acquire.gpu")), "clean");
    assert_eq!(message(&write("release.sys"), &read("acquire.gpu")), "clean");
    assert_eq!(message(&write("relaxed.gpu"), &read("relaxed.gpu")), "RAW error");
    assert_eq!(message(&write("release.gpu"), &read("relaxed.gpu")), "RAW error");
    assert_eq!(message(&write("relaxed.gpu"), &read("acquire.gpu")), "RAW error");
    assert_eq!(message(&write("release.cta"), &read("acquire.cta")), "RAW error");
    assert_eq!(message(&write("release.cta"), &read("acquire.gpu")), "RAW error");
    let fenced = |fence: &str, order: &str| {
        message(&format!("{fence} {}", write(order)), &format!("{} {fence}", read(order)))
    };
    assert_eq!(fenced("fence.acq_rel.gpu;", "relaxed.gpu"), "clean");
    assert_eq!(fenced("fence.sc.sys;", "relaxed.gpu"), "clean");
    assert_eq!(fenced("membar.gl;", "relaxed.gpu"), "clean");
    assert_eq!(fenced("fence.acq_rel.cta;", "relaxed.gpu"), "RAW error");
    assert_eq!(fenced("membar.cta;", "relaxed.gpu"), "RAW error");
}

#[test]
fn messages_within_a_block() {
    // Thread 32 waits until the flag is set.
    let run = |write: &str, read: &str| {
        judged(
            &format!(
                "mov.u32 %w1, 0; setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [%s+64], %w1; bar.sync 0;
                mov.u32 %w1, 1; @!%p0 bra L; st.shared.u32 [%s], %t; st.{write}.shared.u32 [%s+64], %w1; ret;
                L: setp.ne.u32 %p1, %t, 32; @%p1 ret;
                M: ld.{read}.shared.u32 %w2, [%s+64]; setp.ne.u32 %p2, %w2, 1; @%p2 bra M;
                ld.shared.u32 %w0, [%s]; ret;"
            ),
            1,
            64,
        )
    };
    assert_eq!(run("release.cta", "acquire.cta"), "clean");
    assert_eq!(run("release.gpu", "acquire.cta"), "clean");
    assert_eq!(run("relaxed.cta", "relaxed.cta"), "RAW error");
    assert_eq!(run("relaxed.cta", "acquire.cta"), "RAW error");
}

/// Each block leaves a sum; the last to come, by a counter, adds them.
fn last_block(fence: &str, order: &str) -> String {
    judged(
        &format!(
            "setp.ne.u32 %p0, %t, 0; @%p0 ret;
            mul.wide.u32 %d0, %b, 4; add.u64 %d0, %d0, %out; st.global.u32 [%d0+64], %b; {fence}
            atom{order}.global.add.u32 %w0, [%out], 1; setp.ne.u32 %p1, %w0, 3; @%p1 ret; {fence}
            ld.global.u32 %w1, [%out+64]; ld.global.u32 %w2, [%out+68]; ld.global.u32 %w3, [%out+72]; ret;"
        ),
        4,
        32,
    )
}

#[test]
fn last_block_reduction() {
    assert_eq!(last_block("membar.gl;", ""), "clean");
    assert_eq!(last_block("fence.acq_rel.gpu;", ".relaxed.gpu"), "clean");
    assert_eq!(last_block("", ".acq_rel.gpu"), "clean");
    assert_eq!(last_block("", ""), "RAW error");
    assert_eq!(last_block("", ".relaxed.gpu"), "RAW error");
    assert_eq!(last_block("membar.cta;", ""), "RAW error");
}

#[test]
fn atomics() {
    assert_eq!(judged("atom.global.add.u32 %w0, [%out], 1; ret;", 3, 64), "clean");
    assert_eq!(judged("red.global.add.u32 [%out], 1; ret;", 3, 64), "clean");
    assert!(judged("atom.relaxed.cta.global.add.u32 %w0, [%out], 1; ret;", 2, 32).contains("error"));
    assert_eq!(judged("atom.relaxed.cta.global.add.u32 %w0, [%out], 1; ret;", 1, 64), "clean");
    let plain =
        "setp.eq.u32 %p0, %t, 40; @%p0 st.global.u32 [%out], %t; @!%p0 red.global.add.u32 [%out], 1; ret;";
    assert!(judged(plain, 1, 64).contains("WAW error"));
    // An atomic orders nothing else.
    let other =
        "st.shared.u32 [%own], %t; atom.global.add.u32 %w0, [%out], 1; ld.shared.u32 %w1, [%other]; ret;";
    assert_eq!(judged(other, 1, 64), "RAW error");
}

#[test]
fn bytes_and_vectors() {
    let at = |size: &str| format!("mul.wide.u32 %d0, %t, {size}; add.u64 %d0, %d0, %s;");
    // Neighbouring bytes of one word are different memory.
    assert_eq!(judged(&format!("{} st.shared.u8 [%d0], %t; ret;", at("1")), 1, 64), "clean");
    assert_eq!(judged(&format!("{} st.shared.u16 [%d0], %t; ret;", at("2")), 1, 64), "clean");
    assert!(
        judged(
            &format!(
                "{} mov.u64 %d1, 0; setp.lt.u32 %p0, %t, 32; @%p0 st.shared.u64 [%d0], %d1;
                setp.eq.u32 %p1, %t, 32; @%p1 st.shared.u8 [%s+15], %t; ret;",
                at("8")
            ),
            1,
            64
        )
        .contains("WAW error")
    );
    let vectors = "st.shared.v4.u32 [%d0], {%t, %t, %t, %t}; bar.sync 0;
        ld.shared.v2.u64 {%d1, %d2}, [%d0]; st.global.v2.u64 [%out], {%d1, %d2}; ret;";
    let one = "setp.ne.u32 %p0, %t, 5;";
    let body = format!("{} {one} {}", at("16"), vectors.replace("st.global", "@!%p0 st.global"));
    let run = launch("", &body, Launch::new(1, 64));
    let done = run.go();
    assert_eq!(done.buffers[0][..16], [5, 0, 0, 0].repeat(4));
    assert_eq!(judged_run(run), "clean");
    // Half of a vector that nobody has written.
    let half = format!(
        "{} st.shared.u64 [%d0], %s; bar.sync 0; ld.shared.v4.u32 {{%w1,%w2,%w3,%w4}}, [%d0]; ret;",
        at("16")
    );
    assert_eq!(judged(&half, 1, 64), "uninitialised");
}

#[test]
fn dynamic_shared_memory() {
    let body = "mov.u64 %s, dynamic; mul.wide.u32 %own, %t, 4; add.u64 %own, %own, %s;
        st.shared.u32 [%own], %t; ld.shared.u32 %w0, [%s+4]; ret;";
    let run = |bytes| judged_run(launch("", body, Launch::new(1, 64).dynamic_shared(bytes)));
    assert_eq!(run(256), "RAW error, RAW warning");
    assert!(run(128).contains("out of bounds"));
}

#[test]
fn local_memory() {
    let body = ".local .align 8 .b8 A[64]; mov.u64 %d0, A; cvta.local.u64 %d1, %d0;
        st.local.u32 [%d0+4], %t; ld.u32 %w0, [%d1+4]; add.u32 %w0, %w0, 1; st.u8 [%d1+9], %w0;
        ld.local.u8 %w1, [%d0+9];
        mul.wide.u32 %d2, %t, 4; add.u64 %d2, %d2, %out; st.global.u32 [%d2], %w1; ret;";
    let run = launch("", body, Launch::new(1, 64));
    let done = run.go();
    let expected: Vec<u8> = (1_u32..=64).flat_map(u32::to_le_bytes).collect();
    assert_eq!(done.buffers[0][..256], expected);
    assert_eq!(judged_run(run), "clean");
}

#[test]
fn two_dimensions() {
    // A transposed read of what a row of threads has written.
    let body = "mov.u32 %w1, %tid.y; mad.lo.u32 %w2, %w1, 8, %t; mad.lo.u32 %w3, %t, 8, %w1;
        mul.wide.u32 %d0, %w2, 4; add.u64 %d0, %d0, %s; mul.wide.u32 %d1, %w3, 4; add.u64 %d1, %d1, %s;
        st.shared.u32 [%d0], %w1; BARRIER ld.shared.u32 %w0, [%d1]; ret;";
    let run = |barrier: &str| {
        judged_run(launch(
            "",
            &body.replace("BARRIER", barrier),
            Launch::new(1, race::limits::Dim3 { x: 8, y: 8, z: 1 }),
        ))
    };
    assert_eq!(run("bar.sync 0;"), "clean");
    assert_eq!(run(""), "RAW error, RAW warning");
}
