//! What came of one launch, as a row of verdicts.

use cuda_std::emulator::{FaultKind, Level, Report};
use race::extent::Extent;
use serde::{Serialize, Serializer};
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

/// What is not known of a launch.
const NOT_JUDGED: &str = "not judged";

/// One launch in the words of the report.
#[derive(Debug, Serialize)]
pub(crate) struct Launched {
    #[serde(serialize_with = "extent")]
    pub(crate) block: Extent,
    pub(super) seed: u64,
    pub(super) mismatches: Option<usize>,
    #[serde(flatten)]
    pub(super) verdicts: Verdicts,
    pub(crate) clean: bool,
    /// A block of lines each.
    pub(super) findings: Vec<String>,
    pub(super) checks: Value,
    /// What the kernel printed, where that is known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) printed: String,
    /// Of the race.
    #[serde(skip)]
    level: &'static str,
}

/// A number if there is one side only, else as on a command line.
fn extent<S: Serializer>(block: &Extent, serializer: S) -> Result<S::Ok, S::Error> {
    match (block.0.x, block.0.y, block.0.z) {
        (x, 1, 1) => serializer.serialize_u32(x),
        _ => serializer.collect_str(block),
    }
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
    pub(crate) fn new(block: Extent, seed: u64, outcome: &Outcome) -> Self {
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
            printed: String::new(),
            level: report.race().map_or("none", Level::name),
        }
    }

    /// The same of the emulator. It stops a block at a fault, and nobody knows what the rest of it would have done: no
    /// race that was not found yet is ruled out, and what was not written yet may have been going to be.
    pub(super) fn of_source(block: Extent, seed: u64, mut outcome: Outcome) -> Self {
        if outcome.report.fault.is_none() {
            return Self::new(block, seed, &outcome);
        }
        let unwritten = !std::mem::take(&mut outcome.report.uninitialised).is_empty();
        let mut launched = Self::new(block, seed, &outcome);
        if outcome.report.hazards.is_empty() {
            launched.verdicts.race = NOT_JUDGED.into();
        }
        if unwritten && outcome.report.lost_writes.is_empty() {
            launched.verdicts.memory = NOT_JUDGED;
        }
        launched
    }

    /// The kernel printed this.
    pub(crate) fn printing(self, printed: String) -> Self {
        Self { printed, ..self }
    }

    /// The verdicts without what an optimiser may change of a race that stays one: each with its name.
    pub(crate) fn summary(&self) -> [(&'static str, &'static str); 4] {
        let Verdicts { barrier, memory, access, .. } = self.verdicts;
        [("race", self.level), ("barrier", barrier), ("memory", memory), ("access", access)]
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
        Some(FaultKind::Null { .. }) => "null pointer",
        Some(FaultKind::Misaligned { .. }) => "misaligned",
        Some(FaultKind::ReadOnly { .. }) => "write to constant",
        Some(FaultKind::Trap) => "trap",
        Some(FaultKind::Assert(_)) => "assertion",
        Some(FaultKind::CallDepth(_)) => "endless recursion",
        Some(FaultKind::CopyRead) => "read of a copy",
        Some(FaultKind::Panic(_)) => "panic",
        Some(FaultKind::TickLimit(_) | FaultKind::TurnLimit(_)) => "endless",
        Some(FaultKind::Stuck(_)) => "stuck",
        Some(FaultKind::HiddenBarrier) => "hidden barrier",
        Some(FaultKind::SharedMemory { .. }) => "too much shared memory",
        None => "ok",
    }
}
