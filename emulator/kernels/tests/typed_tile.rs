//! What does not compile, with the error that a learner sees: without the typed tile's barriers, and outside of
//! Rust.

#[test]
fn a_barrier_that_is_missing_or_misplaced_does_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/typed_tile/both_barriers.rs");
    for case in ["missing_barrier", "barrier_below_the_read", "loop_one_barrier", "loop_reads_too_late"] {
        cases.compile_fail(format!("tests/typed_tile/{case}.rs"));
    }
    // The emulator has a loop around every kernel.
    cases.compile_fail("tests/control_flow/break_outside_a_loop.rs");
}
