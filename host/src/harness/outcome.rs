//! What came of one launch, as a row of verdicts.

use cuda_std::emulator::{FaultKind, Report};
use serde::Serialize;
use serde_json::Value;

use crate::{report, verdict};

/// What came of one launch.
#[derive(Debug)]
pub struct Outcome {
    /// What the emulator's checks say.
    pub report: Report,
    /// How many elements of the answer are wrong, if somebody knows the right one.
    pub mismatches: Option<usize>,
}

impl Outcome {
    /// A launch whose answer nobody knows.
    #[must_use]
    pub fn unknown(report: Report) -> Self {
        Self { report, mismatches: None }
    }

    /// A launch whose answer is compared, bit by bit.
    #[must_use]
    pub fn compared(report: Report, got: &[f32], wanted: &[f32]) -> Self {
        let wrong = got.iter().zip(wanted).filter(|(got, wanted)| got.to_bits() != wanted.to_bits());
        Self { report, mismatches: Some(wrong.count()) }
    }
}

/// One launch in the words of the report.
#[derive(Debug, Serialize)]
pub(super) struct Launched {
    pub(super) block: u32,
    pub(super) seed: u64,
    pub(super) mismatches: Option<usize>,
    #[serde(flatten)]
    pub(super) verdicts: Verdicts,
    pub(super) clean: bool,
    /// A block of lines each.
    pub(super) findings: Vec<String>,
    pub(super) checks: Value,
}

/// A row of the table.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Verdicts {
    pub(super) race: String,
    pub(super) barrier: &'static str,
    pub(super) memory: &'static str,
    pub(super) access: &'static str,
}

impl Launched {
    pub(super) fn new(block: u32, seed: u64, outcome: &Outcome) -> Self {
        let report = &outcome.report;
        Self {
            block,
            seed,
            mismatches: outcome.mismatches,
            verdicts: Verdicts {
                race: verdict::race(report),
                barrier: barrier(report),
                memory: verdict::memory(!report.uninitialised.is_empty(), !report.lost_writes.is_empty()),
                access: access(report),
            },
            clean: report.is_clean(),
            findings: verdict::findings(report),
            checks: report::report_json(report),
        }
    }
}

fn barrier(report: &Report) -> &'static str {
    if report.divergence.is_none() && !report.warp_misuse.is_empty() {
        return "sync_warp misused";
    }
    verdict::barrier(report.divergence.is_some())
}

fn access(report: &Report) -> &'static str {
    match report.fault.as_ref().map(|fault| &fault.what) {
        Some(FaultKind::OutOfBounds { .. } | FaultKind::UnknownPointer) => "out of bounds",
        Some(FaultKind::CopyRead) => "read of a copy",
        Some(FaultKind::Panic(_)) => "panic",
        Some(FaultKind::TickLimit(_) | FaultKind::TurnLimit(_)) => "endless",
        Some(FaultKind::Stuck(_)) => "stuck",
        Some(FaultKind::HiddenBarrier) => "hidden barrier",
        Some(FaultKind::SharedMemory { .. }) => "too much shared memory",
        None => "ok",
    }
}
