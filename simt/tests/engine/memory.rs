//! Where accesses go, and what of it is wrong.

use simt::Launch;

use crate::support::{Run, judged, judged_run, kernel, module};

#[test]
fn bytes_that_nothing_wrote() {
    assert_eq!(judged("ld.shared.u32 %w1, [%own];", 1, 33), "uninitialised");
    assert_eq!(judged("st.shared.u16 [%own], %h1; ld.shared.u16 %h2, [%own];", 1, 33), "clean");
    assert_eq!(judged("st.shared.u16 [%own], %h1; ld.shared.u16 %h2, [%own+2];", 1, 33), "uninitialised");
    assert_eq!(judged("st.shared.u16 [%own], %h1; ld.shared.u32 %w2, [%own];", 1, 33), "uninitialised");
    assert_eq!(judged("st.shared.u8 [%own+3], %h1; ld.shared.u8 %h2, [%own+3];", 1, 33), "clean");
    assert_eq!(judged("red.shared.add.u32 [%own], 1;", 1, 33), "uninitialised");
    let wide = "mul.wide.u32 %d1, %t, 16; add.u64 %d1, %d1, %s; ";
    assert_eq!(
        judged(&[wide, "st.shared.v2.u32 [%d1], {%t, %n}; ld.shared.u64 %d2, [%d1];"].concat(), 1, 33),
        "clean"
    );
    assert_eq!(
        judged(
            &[wide, "st.shared.v2.u32 [%d1], {%t, %n}; ld.shared.v4.u32 {%w1, %w2, %w3, %w4}, [%d1];"]
                .concat(),
            1,
            33
        ),
        "uninitialised"
    );
}

#[test]
fn narrow_accesses_side_by_side() {
    let bytes = "cvt.u64.u32 %d1, %t; add.u64 %d1, %d1, %s; cvt.u16.u32 %h1, %t; st.shared.u8 [%d1], %h1; bar.sync 0; ";
    assert_eq!(
        judged(
            &[bytes, "cvt.u64.u32 %d2, %r; add.u64 %d2, %d2, %s; ld.shared.u8 %h2, [%d2];"].concat(),
            1,
            64
        ),
        "clean"
    );
    let halves = "mul.wide.u32 %d1, %t, 2; add.u64 %d1, %d1, %s; st.shared.u16 [%d1], %h1; ";
    assert_eq!(judged(halves, 1, 64), "clean");
    // A word over another lane's half.
    let over =
        "shr.u32 %w1, %t, 1; mul.wide.u32 %d2, %w1, 4; add.u64 %d2, %d2, %s; ld.shared.u32 %w2, [%d2];";
    assert_eq!(judged(&[halves, over].concat(), 1, 64), "RAW warning");
    let doubles = "mul.wide.u32 %d1, %t, 8; add.u64 %d1, %d1, %s; st.shared.u64 [%d1], %d1; ";
    assert_eq!(judged(doubles, 1, 64), "clean");
    assert_eq!(judged(&[doubles, "bar.warp.sync -1; ld.shared.u32 %w1, [%own];"].concat(), 1, 32), "clean");
    assert_eq!(judged(&[doubles, "ld.shared.u32 %w1, [%own];"].concat(), 1, 32), "RAW warning");
}

#[test]
fn what_is_wrong_with_an_address() {
    for (access, verdict) in [
        ("ld.global.u32 %w1, [%out+8192];", "out of bounds"),
        ("ld.global.u32 %w1, [%out+-4];", "out of bounds"),
        ("ld.global.u32 %w1, [%out+8188];", "clean"),
        ("st.global.u64 [%out+8188], %d1;", "misaligned"),
        ("ld.global.v2.u32 {%w1, %w2}, [%out+4];", "misaligned"),
        ("ld.global.u32 %w1, [%out+2];", "misaligned"),
        ("mov.u64 %d1, 0; ld.global.u32 %w1, [%d1];", "null"),
        ("mov.u64 %d1, 0; st.u32 [%d1+64], %t;", "null"),
        ("mov.u64 %d1, 0x123400000000; ld.global.u32 %w1, [%d1];", "unknown pointer"),
        ("st.shared.u32 [%s+4096], %t;", "out of bounds"),
        ("st.shared.u32 [%s+4092], 7;", "WAW info"),
        ("cvta.shared.u64 %d1, %s; st.u32 [%d1+4096], %t;", "out of bounds"),
        ("cvta.shared.u64 %d1, %s; st.u32 [%d1+4092], 7;", "WAW info"),
        ("st.shared.u32 [%s+-4], %t;", "out of bounds"),
        ("trap;", "trap"),
        ("HEAD: bra HEAD;", "endless"),
    ] {
        let run = Run::new(
            &kernel(&module(".param .u64 g", &format!("ld.param.u64 %out, [g];\n{access}"))),
            Launch::new(1, 40).budget(100),
            &[vec![0; 8192]],
        );
        assert_eq!(judged_run(run), verdict, "{access}");
    }
}

#[test]
fn constant_memory_is_not_written() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.const .align 4 .b32 C[4] = {1, 2, 3, 4};
        .global .align 4 .b32 G[4] = {5, 6, 7, 8};
        .visible .entry k() { .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>;
        ld.const.u32 %r1, [C+4]; ld.global.u32 %r2, [G+8]; add.u32 %r1, %r1, %r2; setp.ne.u32 %p1, %r1, 9; @%p1 trap;
        BODY\nret; }";
    let verdict =
        |body: &str| judged_run(Run::new(&kernel(&text.replace("BODY", body)), Launch::new(1, 1), &[]));
    assert_eq!(verdict(""), "clean");
    assert_eq!(verdict("mov.u64 %d1, C; cvta.const.u64 %d1, %d1; st.u32 [%d1], %r1;"), "read only");
    assert_eq!(verdict("st.global.u32 [G], %r1;"), "clean");
    assert_eq!(verdict("st.global.u32 [G+16], %r1;"), "out of bounds");
}

#[test]
fn dynamic_shared_memory() {
    let body =
        "mov.u64 %d1, dynamic; mul.wide.u32 %d2, %t, 4; add.u64 %d1, %d1, %d2; st.shared.u32 [%d1], %t;";
    let kernel = kernel(&module("", body));
    let verdict = |bytes| judged_run(Run::new(&kernel, Launch::new(1, 64).dynamic_shared(bytes), &[]));
    assert_eq!(verdict(256), "clean");
    assert_eq!(verdict(252), "out of bounds");
    assert_eq!(verdict(0), "out of bounds");
}

#[test]
fn local_memory_is_a_lanes_own() {
    let text = |body: &str| {
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {{ .local .align 8 .b8 L[32];
            .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>; mov.u32 %r1, %tid.x; mov.u64 %d1, L;\n{body}\nret; }}"
        )
    };
    let verdict = |body: &str| judged_run(Run::new(&kernel(&text(body)), Launch::new(1, 64), &[]));
    let back = "setp.ne.u32 %p1, %r2, %r1; @%p1 trap;";
    assert_eq!(verdict(&format!("st.local.u32 [%d1+8], %r1; ld.local.u32 %r2, [%d1+8]; {back}")), "clean");
    assert_eq!(
        verdict(&format!("cvta.local.u64 %d2, %d1; st.u32 [%d2+8], %r1; ld.local.u32 %r2, [%d1+8]; {back}")),
        "clean"
    );
    assert_eq!(verdict("st.local.u32 [%d1+6], %r1;"), "misaligned");
    assert_eq!(verdict("st.local.u32 [%d1+4096], %r1;"), "out of bounds");
    // Each lane elsewhere.
    let each =
        "and.b32 %r3, %r1, 7; mul.wide.u32 %d2, %r3, 4; add.u64 %d2, %d2, %d1; st.local.u32 [%d2], %r1;
        ld.local.u32 %r2, [%d2];";
    assert_eq!(verdict(&format!("{each} {back}")), "clean");
}
