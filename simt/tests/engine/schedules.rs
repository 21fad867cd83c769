//! What does not depend on the schedule, and what only on its seed.

use race::schedule::{Explorer, Policy, Schedule};
use simt::Launch;

use crate::support::{POLICIES, Run, kernel, module, verdict};

/// Racy within blocks and between them: the last writer wins.
const RACY: &str =
    "ld.param.u64 %out, [g]; and.b32 %w1, %t, 7; mul.wide.u32 %d1, %w1, 4; add.u64 %d1, %d1, %out;
    ld.global.u32 %w2, [%d1]; mad.lo.u32 %w2, %w2, 31, %t; add.u32 %w2, %w2, %b; st.global.u32 [%d1], %w2;
    ld.shared.u32 %w3, [%other]; red.shared.add.u32 [%own], 3; bar.sync 0; ld.shared.u32 %w4, [%other];
    add.u32 %w4, %w4, %w3; mad.lo.u32 %w5, %b, %n, %t; mul.wide.u32 %d2, %w5, 4; add.u64 %d2, %d2, %out;
    st.global.u32 [%d2+64], %w4;";

#[test]
fn one_seed_gives_one_output_whoever_runs_the_blocks() {
    let kernel = kernel(&module(".param .u64 g", RACY));
    for policy in POLICIES {
        for checks in [true, false] {
            let with = |workers| {
                let launch = Launch::new(40, 40).schedule(Schedule::seeded(policy, 5)).checks(checks);
                Run::new(&kernel, launch.workers(workers), &[vec![0; 64 + 4 * 40 * 40]]).go()
            };
            let one = with(1);
            for workers in [2, 3] {
                let other = with(workers);
                // Without checks nobody knows that blocks race.
                if checks {
                    assert_eq!(one.buffers, other.buffers, "{} with {workers}", policy.name());
                    assert_eq!(one.outcome.report, other.outcome.report, "{} with {workers}", policy.name());
                } else {
                    assert_eq!(
                        one.buffers[0][64..],
                        other.buffers[0][64..],
                        "{} with {workers}",
                        policy.name()
                    );
                }
                assert_eq!(one.outcome.trace, other.outcome.trace);
            }
        }
    }
}

#[test]
fn every_order_is_tried_and_can_be_run_again() {
    let body =
        "ld.param.u64 %out, [g]; ld.global.u32 %w1, [%out]; add.u32 %w1, %w1, 1; st.global.u32 [%out], %w1;";
    let kernel = kernel(&module(".param .u64 g", body));
    let run = |schedule: &Schedule| {
        let launch = Launch::new(1, 3).schedule(schedule.clone());
        Run::new(&kernel, launch, &[vec![0; 4]]).go()
    };
    let mut explorer = Explorer::new(Policy::Exhaustive, 0);
    let (mut results, mut orders, mut count) = (Vec::new(), Vec::new(), 0);
    while let Some(schedule) = explorer.schedule().cloned() {
        let done = run(&schedule);
        let again: Schedule = schedule.to_string().parse().expect("a schedule");
        let replayed = run(&again);
        assert_eq!(done.buffers, replayed.buffers, "{schedule}");
        assert_eq!(done.outcome.trace, replayed.outcome.trace, "{schedule}");
        assert!(verdict(&done.outcome.report).starts_with("WAR warning, WAW "), "{schedule}");
        results.push(done.buffers[0][0]);
        orders.push(done.outcome.trace.interleaving);
        explorer.ran(&done.outcome.trace);
        count += 1;
        assert!(count < 100_000);
    }
    results.sort_unstable();
    results.dedup();
    assert_eq!(results, [1, 2, 3]);
    orders.sort_unstable();
    let all = orders.len();
    orders.dedup();
    assert_eq!(orders.len(), all, "no order twice");
}
