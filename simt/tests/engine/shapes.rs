//! The shapes whose verdicts the project's rules fix, at blocks of one warp, of several, and of half a warp more.
//!
//! `t` is the thread, `B` the size of the block, `S` a shared array, `bar` the block's barrier.

use crate::support::judged;

const WRITE: &str = "st.shared.u32 [%own], %t;\n";
const READ: &str = "ld.shared.u32 %w1, [%other];\n";
const BAR: &str = "bar.sync 0;\n";
/// Lives on.
const OUT: &str = "mul.wide.u32 %d30, %t, 4; add.u64 %d30, %d30, %out; st.global.u32 [%d30], %w1;\n";
const LOWER_HALF: &str = "shr.u32 %w30, %n, 1; setp.lt.u32 %p1, %t, %w30;\n";

/// The verdicts at 32, 64, 96 and 256 threads.
#[track_caller]
fn holds(parts: &[&str], verdicts: [&str; 4]) {
    let body = parts.concat();
    for (threads, verdict) in [32, 64, 96, 256].into_iter().zip(verdicts) {
        assert_eq!(judged(&body, 1, threads), verdict, "{threads} threads\n{body}");
    }
}

const RAW: [&str; 4] = ["RAW warning", "RAW error", "RAW error, RAW warning", "RAW error"];

#[test]
fn row_1_to_4_barriers_and_early_returns() {
    holds(&[WRITE, READ, OUT], RAW);
    holds(&[WRITE, BAR, READ, OUT], ["clean"; 4]);
    holds(&[WRITE, READ, BAR, OUT], RAW);
    let keep = "sub.u32 %w2, %n, 11; setp.ge.u32 %p1, %t, %w2; @%p1 ret;\n";
    let read = "sub.u32 %w3, %w2, %t; sub.u32 %w3, %w3, 1; mul.wide.u32 %d1, %w3, 4; add.u64 %d1, %d1, %s;
        ld.shared.u32 %w1, [%d1];\n";
    holds(&[keep, WRITE, BAR, read, OUT], ["clean"; 4]);
}

#[test]
fn row_5_an_exited_writer() {
    let verdicts = ["RAW warning", "RAW error", "RAW error, RAW warning", "RAW error"];
    holds(&[WRITE, LOWER_HALF, "@!%p1 ret;\n", BAR, READ, OUT], verdicts);
    // Known to who met the writer before it left.
    let met = "bar.warp.sync 0xffffffff;\n";
    let verdicts = ["clean", "RAW error", "RAW error", "RAW error"];
    holds(&[WRITE, met, LOWER_HALF, "@!%p1 ret;\n", BAR, READ, OUT], verdicts);
}

#[test]
fn row_6_to_9_conditional_barriers() {
    holds(&[WRITE, LOWER_HALF, "@!%p1 bra L;\n", BAR, "L:\n", OUT], ["divergent"; 4]);
    // Predicated instead of branched around.
    holds(&[WRITE, LOWER_HALF, "@%p1 bar.sync 0;\n", OUT], ["divergent"; 4]);
    let arms = [LOWER_HALF, "@!%p1 bra L;\n", BAR, "bra M;\nL:\n", BAR, "M:\n", OUT];
    holds(&arms, ["divergent"; 4]);
    let parity = "and.b32 %w5, %t, 1; setp.eq.u32 %p1, %w5, 0;\n";
    let arms = [parity, "@!%p1 bra L;\n", BAR, "bra M;\nL:\n", BAR, "M:\n", OUT];
    holds(&arms, ["divergent"; 4]);
    let block = "and.b32 %w5, %b, 1; setp.eq.u32 %p1, %w5, 0; @!%p1 bra L;\n";
    holds(&[block, BAR, "L:\n"], ["clean"; 4]);
    // A return in the other arm is legal, whatever it does before.
    let other = "@!%p1 bra L;\nbar.sync 0;\nbra M;\nL:\nst.shared.u32 [%own], %t; ret;\nM:\n";
    holds(&[LOWER_HALF, other, OUT], ["clean"; 4]);
}

#[test]
fn a_thread_that_goes_past_a_barrier() {
    // By way of a branch with an early return within.
    let nested = "setp.eq.u32 %p2, %t, 0; @!%p1 bra L;\n@%p2 bra END;\nbar.sync 0;\nL:\n";
    holds(&[LOWER_HALF, nested, OUT, "END: ret;\n"], ["divergent"; 4]);
    // Past two of them, and only then something else.
    let two = "setp.gt.u32 %p2, %t, %n; @!%p1 bra L;\nbar.sync 0;\nL:\n@!%p2 bra M;\nbar.sync 0;\nM:\n";
    holds(&[LOWER_HALF, two, OUT], ["divergent"; 4]);
    // Skipped in the first trip, and returned in the second.
    let looping = "mov.u32 %w6, 0;\nHEAD:\nst.shared.u32 [%own], %t;\n@%p1 bra GO;\nsetp.gt.u32 %p3, %w6, 0;
        @%p3 ret;\nbra NEXT;\nGO: bar.sync 0;\nNEXT: add.u32 %w6, %w6, 1; setp.lt.u32 %p4, %w6, 3; @%p4 bra HEAD;\n";
    holds(&[LOWER_HALF, looping], ["divergent"; 4]);
}

#[test]
fn row_10_and_11_loops() {
    let begin = "mov.u32 %w6, 0;\nHEAD:\n";
    let end = "add.u32 %w6, %w6, 1; setp.lt.u32 %p4, %w6, 2; @%p4 bra HEAD;\n";
    let war = ["WAR warning", "WAR error", "WAR error, WAR warning", "WAR error"];
    holds(&[begin, WRITE, BAR, READ, end, OUT], war);
    holds(&[begin, WRITE, BAR, READ, BAR, end, OUT], ["clean"; 4]);
}

#[test]
fn row_12_and_13_neighbours() {
    let read =
        "xor.b32 %w3, %t, 1; mul.wide.u32 %d1, %w3, 4; add.u64 %d1, %d1, %s; ld.shared.u32 %w1, [%d1];\n";
    holds(&[WRITE, read, OUT], ["RAW warning"; 4]);
    holds(&[WRITE, "bar.warp.sync 0xffffffff;\n", read, OUT], ["clean"; 4]);
    // Pairs that meet, and pairs that do not.
    let pairs = "mov.u32 %w7, 3; and.b32 %w8, %t, 30; shl.b32 %w7, %w7, %w8; bar.warp.sync %w7;\n";
    holds(&[WRITE, pairs, read, OUT], ["clean"; 4]);
    let odd = "and.b32 %w8, %t, 1; mov.u32 %w7, 0x55555555; shl.b32 %w7, %w7, %w8; bar.warp.sync %w7;\n";
    holds(&[WRITE, odd, read, OUT], ["RAW warning"; 4]);
    // Neither a shuffle nor a vote orders memory.
    let shuffle = "shfl.sync.bfly.b32 %w9, %t, 1, 0x1f, 0xffffffff;\n";
    holds(&[WRITE, shuffle, read, OUT], ["RAW warning"; 4]);
    holds(
        &[WRITE, "setp.eq.u32 %p1, %t, 0; vote.sync.any.pred %p2, %p1, 0xffffffff;\n", read, OUT],
        ["RAW warning"; 4],
    );
}

#[test]
fn a_warp_that_meets_without_a_lane_that_has_left() {
    let left = "and.b32 %w8, %t, 31; setp.eq.u32 %p1, %w8, 31; @%p1 ret;\nbar.warp.sync 0x7fffffff;\n";
    let read =
        "or.b32 %w3, %t, 31; mul.wide.u32 %d1, %w3, 4; add.u64 %d1, %d1, %s; ld.shared.u32 %w1, [%d1];\n";
    holds(&[WRITE, left, read, OUT], ["RAW warning"; 4]);
}

#[test]
fn row_14_and_15_one_cell() {
    holds(&["st.shared.u32 [S], %t;\n", BAR, "ld.shared.u32 %w1, [S];\n", OUT], ["WAW error"; 4]);
    holds(&["st.shared.u32 [S], 7;\n", BAR, "ld.shared.u32 %w1, [S];\n", OUT], ["WAW info"; 4]);
    // The same as far as it is stored.
    let bytes = "mul.lo.u32 %w2, %t, 256; cvt.u16.u32 %h1, %w2; st.shared.u8 [S], %h1;\n";
    holds(&[bytes], ["WAW info"; 4]);
    // An atomic does not write the same.
    let atomic =
        "setp.eq.u32 %p1, %t, 0; @%p1 st.shared.u32 [S], 0; @!%p1 atom.shared.add.u32 %w1, [S], 0;\n";
    holds(&[atomic], ["WAW error"; 4]);
}

#[test]
fn row_16_and_19_uninitialised() {
    holds(&[LOWER_HALF, "@%p1 st.shared.u32 [%own], %t;\n", BAR, READ, OUT], ["uninitialised"; 4]);
    let returns = "sub.u32 %w2, %n, 5; setp.ge.u32 %p1, %t, %w2; @%p1 ret;\n";
    holds(&[returns, WRITE, BAR, READ, OUT], ["uninitialised"; 4]);
    // If a write races with it, the race is what is said: also one behind a barrier that the reader did not come to.
    let late = "setp.eq.u32 %p1, %t, 0; @!%p1 bra L;\nld.shared.u32 %w1, [S]; ret;\nL: bar.sync 0;\nst.shared.u32 [%own], %t;
        setp.eq.u32 %p2, %t, 1; @%p2 st.shared.u32 [S], 1;\n";
    holds(&[late], ["WAR warning"; 4]);
}

#[test]
fn row_17_trips_that_differ() {
    let begin = "selp.u32 %w7, 2, 3, %p1; mov.u32 %w6, 0;\nHEAD:\n";
    let end = "add.u32 %w6, %w6, 1; setp.lt.u32 %p4, %w6, %w7; @%p4 bra HEAD;\n";
    holds(&[LOWER_HALF, begin, WRITE, BAR, READ, BAR, end, OUT], ["divergent"; 4]);
}

#[test]
fn row_18_butterfly() {
    let body = "st.shared.u32 [%own], %t; bar.sync 0; shr.u32 %w2, %n, 1;\nHEAD:
        xor.b32 %w3, %t, %w2; mul.wide.u32 %d1, %w3, 4; add.u64 %d1, %d1, %s;
        ld.shared.u32 %w4, [%own]; ld.shared.u32 %w5, [%d1]; add.u32 %w4, %w4, %w5; bar.sync 0;
        st.shared.u32 [%own], %w4; bar.sync 0;
        shr.u32 %w2, %w2, 1; setp.gt.u32 %p1, %w2, 0; @%p1 bra HEAD;\nmov.u32 %w1, %w4;\n";
    for threads in [32, 64, 256] {
        assert_eq!(judged(&[body, OUT].concat(), 1, threads), "clean");
    }
}

#[test]
fn row_20_two_blocks() {
    assert_eq!(judged("st.global.u32 [%out], %b;", 2, 32), "WAW error, WAW info");
    assert_eq!(judged("setp.eq.u32 %p1, %t, 0; @%p1 st.global.u32 [%out], %b;", 2, 32), "WAW error");
    assert_eq!(judged("setp.eq.u32 %p1, %t, 0; @%p1 st.global.u32 [%out], 7;", 3, 32), "WAW info");
    assert_eq!(judged("setp.eq.u32 %p1, %t, %b; @%p1 st.global.u32 [%out], 7;", 1, 32), "clean");
}

#[test]
fn functions_and_their_barriers() {
    let text = |helper: &str, body: &str| {
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.shared .align 4 .b8 S[4096];
            .func helper(.param .b32 x) {{ .reg .pred %p<3>; .reg .b32 %r<3>;\nld.param.u32 %r1, [x];\n{helper}\n}}
            .visible .entry k(.param .u64 g) {{ .reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %d<9>;
            mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; mov.u64 %d2, S; add.u64 %d1, %d1, %d2;
            .param .b32 a; st.param.b32 [a], %r1;\n{body}\nret;\n}}"
        )
    };
    let verdict = |helper: &str, body: &str| {
        let kernel = crate::support::kernel(&text(helper, body));
        let launch = simt::Launch::new(1, 64);
        crate::support::judged_run(crate::support::Run::new(&kernel, launch, &[vec![0; 64]]))
    };
    let call = "call helper, (a);";
    let (write, read) = (
        "st.shared.u32 [%d1], %r1;",
        "xor.b32 %r2, %r1, 63; mul.wide.u32 %d3, %r2, 4;
        add.u64 %d3, %d3, %d2; ld.shared.u32 %r3, [%d3];",
    );
    assert_eq!(verdict("bar.sync 0; ret;", &[write, call, read].concat()), "clean");
    assert_eq!(verdict("ret;", &[write, call, read].concat()), "RAW error");
    // Two calls are two barriers.
    let arms = format!("setp.lt.u32 %p1, %r1, 32; @%p1 bra L;\n{call}\nbra M;\nL: {call}\nM: {write}");
    assert_eq!(verdict("bar.sync 0; ret;", &arms), "divergent");
    // Who returns above the barrier of a helper, and lives on in the kernel, has gone past it.
    let returns = "setp.ge.u32 %p1, %r1, 16; @%p1 ret; bar.sync 0; ret;";
    assert_eq!(verdict(returns, &[call, write].concat()), "divergent");
    assert_eq!(verdict(returns, call), "clean");
    assert_eq!(
        verdict("setp.ge.u32 %p1, %r1, 16; @%p1 exit; bar.sync 0; ret;", &[call, write].concat()),
        "clean"
    );
}
