//! One kernel under many schedules.
//!
//! A run sees the control flow and the addresses that it took. Where neither depends on racy data the
//! verdict of one run holds for every schedule; this is how to look rather than to trust it.

mod subject;

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use anyhow::Result;
use cuda_std::emulator::{Explorer, Policy, Report, Schedule};

use crate::args::Engine;

pub use subject::{Ran, Size, Subject, subject, subjects};

/// A schedule that shows something.
#[derive(Clone, Debug)]
pub struct Shown {
    /// How to see it again.
    pub schedule: Schedule,
    /// What the checks found under it.
    pub report: Report,
    /// How many elements were wrong, if there is a right answer.
    pub mismatches: Option<usize>,
}

/// What an exploration saw.
#[derive(Clone, Debug, Default)]
pub struct Explored {
    /// How often the kernel ran.
    pub runs: usize,
    /// How many different interleavings that were.
    pub interleavings: usize,
    /// Every interleaving there is was tried.
    pub complete: bool,
    /// How many different outputs came out.
    pub outputs: usize,
    /// In how many runs the checks found something.
    pub findings: usize,
    /// The first of them.
    pub first_finding: Option<Shown>,
    /// In how many runs the answer was wrong, if there is a right one.
    pub wrong: Option<usize>,
    /// The first of them.
    pub first_wrong: Option<Shown>,
}

impl Explored {
    fn take(&mut self, schedule: &Schedule, ran: Ran) {
        let finding = !ran.report.is_clean();
        let wrong = ran.mismatches.is_some_and(|mismatches| mismatches > 0);
        self.runs += 1;
        self.findings += usize::from(finding);
        if ran.mismatches.is_some() {
            *self.wrong.get_or_insert(0) += usize::from(wrong);
        }
        let shown = Shown { schedule: schedule.clone(), report: ran.report, mismatches: ran.mismatches };
        if wrong && self.first_wrong.is_none() {
            self.first_wrong = Some(shown.clone());
        }
        if finding && self.first_finding.is_none() {
            self.first_finding = Some(shown);
        }
    }
}

/// Runs `subject` until it has seen this many different interleavings, or all there are, or as many runs
/// again without a new one.
///
/// # Errors
///
/// If a launch cannot be made.
pub fn explore(
    subject: &dyn Subject,
    engine: Engine,
    size: Size,
    policy: Policy,
    seed: u64,
    interleavings: usize,
) -> Result<Explored> {
    let mut explorer = Explorer::new(policy, seed);
    let mut explored = Explored::default();
    let (mut orders, mut outputs) = (HashSet::new(), HashSet::new());
    let mut since_new = 0;
    while orders.len() < interleavings && since_new < interleavings.max(100) {
        let Some(schedule) = explorer.schedule().cloned() else {
            explored.complete = true;
            break;
        };
        let ran = subject.run(engine, size, &schedule)?;
        explorer.ran(&ran.trace);
        since_new = if orders.insert(ran.trace.interleaving) { 0 } else { since_new + 1 };
        outputs.insert(fingerprint(&ran.output));
        explored.take(&schedule, ran);
    }
    explored.complete |= explorer.schedule().is_none();
    explored.interleavings = orders.len();
    explored.outputs = outputs.len();
    Ok(explored)
}

/// A number that stands for an output, the same on every machine.
#[must_use]
pub fn fingerprint(output: &[u32]) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(output)
}
