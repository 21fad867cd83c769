//! Calls, jumps through tables, blocks of other shapes, and what kernels print.

use simt::Launch;

use crate::support::{POLICIES, Run, judged_run, kernel};
use race::schedule::Schedule;

const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// Runs the kernel `k` of this text under every policy; what it leaves in its buffer.
#[track_caller]
fn left(text: &str, launch: &Launch, words: usize) -> Vec<u32> {
    let kernel = kernel(&format!("{HEAD}{text}"));
    let mut first: Option<Vec<u32>> = None;
    for policy in POLICIES {
        for seed in 0..2 {
            let launch = launch.clone().schedule(Schedule::seeded(policy, seed));
            let done = Run::new(&kernel, launch, &[vec![0; 4 * words]]).go();
            assert!(done.outcome.report.is_clean(), "{:?}", done.outcome.report);
            let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            let now: Vec<u32> = done.buffers[0].chunks_exact(4).map(word).collect();
            assert_eq!(first.get_or_insert_with(|| now.clone()), &now, "{}", policy.name());
        }
    }
    first.unwrap_or_default()
}

const KERNEL: &str = ".visible .entry k(.param .u64 g) { .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<9>;
    ld.param.u64 %d1, [g]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;\n";

#[test]
fn recursion() {
    let text = format!(
        ".func (.param .b32 out) fib(.param .b32 n) {{ .reg .b32 %r<9>; .reg .pred %p<2>; ld.param.u32 %r1, [n];
        setp.lt.u32 %p1, %r1, 2; @%p1 bra END;
        sub.u32 %r2, %r1, 1; {{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call (b), fib, (a); ld.param.b32 %r3, [b]; }}
        sub.u32 %r2, %r1, 2; {{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call (b), fib, (a); ld.param.b32 %r4, [b]; }}
        add.u32 %r1, %r3, %r4;\nEND: st.param.b32 [out], %r1; ret; }}
        {KERNEL} and.b32 %r2, %r1, 7;
        {{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call (b), fib, (a); ld.param.b32 %r3, [b]; }}
        st.global.u32 [%d1], %r3; ret; }}"
    );
    let fibonacci = [0, 1, 1, 2, 3, 5, 8, 13];
    let expected: Vec<u32> = (0..40).map(|thread| fibonacci[thread % 8]).collect();
    assert_eq!(left(&text, &Launch::new(1, 40), 40), expected);
}

#[test]
fn recursion_without_end() {
    let text = format!("{HEAD}.func f() {{ call f; ret; }}\n.visible .entry k() {{ call f; ret; }}");
    assert_eq!(judged_run(Run::new(&kernel(&text), Launch::new(1, 2), &[])), "call depth");
}

#[test]
fn calls_through_a_register() {
    let text = format!(
        ".func (.param .b32 out) one(.param .b32 n) {{ .reg .b32 %r<3>; ld.param.u32 %r1, [n]; add.u32 %r1, %r1, 1;
        st.param.b32 [out], %r1; ret; }}
        .func (.param .b32 out) two(.param .b32 n) {{ .reg .b32 %r<3>; ld.param.u32 %r1, [n]; mul.lo.u32 %r1, %r1, 2;
        st.param.b32 [out], %r1; ret; }}
        {KERNEL} mov.u64 %d3, one; mov.u64 %d4, two; and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0;
        selp.b64 %d3, %d3, %d4, %p1;
        {{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1;
        P: .callprototype (.param .b32 _) _ (.param .b32 _);
        call (b), %d3, (a), P; ld.param.b32 %r3, [b]; }}
        st.global.u32 [%d1], %r3; ret; }}"
    );
    let expected: Vec<u32> = (0..40).map(|t| if t % 2 == 0 { t + 1 } else { 2 * t }).collect();
    assert_eq!(left(&text, &Launch::new(1, 40), 40), expected);
}

#[test]
fn jumps_through_a_table() {
    let text = format!(
        "{KERNEL} rem.u32 %r2, %r1, 3; mov.u32 %r3, 9;\nT: .branchtargets A, B, C;\nbrx.idx %r2, T;\nA: add.u32 %r3, %r3, 1;
        bra END;\nB: add.u32 %r3, %r3, 10;\nC: add.u32 %r3, %r3, 100;\nEND: bar.sync 0; st.global.u32 [%d1], %r3; ret; }}"
    );
    let expected: Vec<u32> = (0..40).map(|t| [10, 119, 109][t % 3]).collect();
    assert_eq!(left(&text, &Launch::new(1, 40), 40), expected);
}

#[test]
fn blocks_of_two_dimensions() {
    let text = ".visible .entry k(.param .u64 g) { .reg .b32 %r<9>; .reg .b64 %d<9>; .shared .align 4 .b8 S[1024];
        ld.param.u64 %d1, [g]; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
        mul.wide.u32 %d2, %r4, 4; mov.u64 %d3, S; add.u64 %d3, %d3, %d2; mul.lo.u32 %r5, %r2, 100; add.u32 %r5, %r5, %r1;
        st.shared.u32 [%d3], %r5; bar.sync 0;
        mov.u32 %r6, %ntid.y; sub.u32 %r6, %r6, %r2; sub.u32 %r6, %r6, 1; mad.lo.u32 %r6, %r6, %r3, %r1;
        mul.wide.u32 %d4, %r6, 4; mov.u64 %d3, S; add.u64 %d3, %d3, %d4; ld.shared.u32 %r7, [%d3];
        add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r7; ret; }";
    let expected: Vec<u32> = (0..50).map(|t| (4 - t / 10) * 100 + t % 10).collect();
    assert_eq!(left(text, &Launch::new(1, (10, 5)), 50), expected);
}

#[test]
fn what_threads_print() {
    let text = format!(
        "{HEAD}.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
        .global .align 1 .b8 F[9] = {{37, 100, 32, 37, 115, 33, 10, 0, 0}};
        .global .align 1 .b8 W[3] = {{104, 105, 0}};
        .visible .entry k() {{ .local .align 8 .b8 L[16]; .reg .b32 %r<9>; .reg .b64 %d<9>;
        mov.u32 %r1, %tid.x; mov.u64 %d1, L; st.local.u32 [%d1], %r1; mov.u64 %d3, W; cvta.global.u64 %d3, %d3;
        st.local.u64 [%d1+8], %d3; cvta.local.u64 %d1, %d1; mov.u64 %d2, F; cvta.global.u64 %d2, %d2;
        {{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %d2; st.param.b64 [b], %d1;
        call (r), vprintf, (a, b); }} ret; }}"
    );
    let done = Run::new(&kernel(&text), Launch::new(1, 3), &[]).go();
    assert!(done.outcome.report.is_clean());
    assert_eq!(String::from_utf8_lossy(&done.outcome.printed), "0 hi!\n1 hi!\n2 hi!\n");
}
