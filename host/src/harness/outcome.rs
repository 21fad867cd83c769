//! What came of one launch, as rows and lines.

use cuda_std::emulator::{
    Divergence, FaultKind, Level, LostWrite, Report, Uninitialised, WarpMisuse, Whereabouts,
};
use serde::Serialize;

use crate::verdict;

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

/// One launch in the words of the report: a row of the table, and a line for each finding.
#[derive(Debug, Serialize)]
pub(super) struct Launched {
    pub(super) block: u32,
    pub(super) seed: u64,
    pub(super) mismatches: Option<usize>,
    pub(super) race: String,
    pub(super) level: Option<&'static str>,
    pub(super) byte_hazards: u64,
    pub(super) barrier: &'static str,
    pub(super) init: &'static str,
    pub(super) access: &'static str,
    pub(super) clean: bool,
    pub(super) findings: Vec<Finding>,
    pub(super) note: Option<String>,
}

/// Something found, in one line.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    pub(super) what: &'static str,
    /// The places in the source, which tell one finding from another.
    pub(super) at: String,
    pub(super) text: String,
}

impl Launched {
    pub(super) fn new(block: u32, seed: u64, outcome: &Outcome) -> Self {
        let report = &outcome.report;
        Self {
            block,
            seed,
            mismatches: outcome.mismatches,
            race: verdict::race(report),
            level: report.race().map(Level::name),
            byte_hazards: report.hazard_bytes(),
            barrier: barrier(report),
            init: if report.uninitialised.is_empty() { "ok" } else { "uninitialised" },
            access: access(report),
            clean: report.is_clean(),
            findings: findings(report),
            note: report.early_exit.map(|exit| {
                format!(
                    "{} threads had exited when the others went on from {}: legal; nothing orders what they wrote",
                    exit.threads, exit.site
                )
            }),
        }
    }
}

fn barrier(report: &Report) -> &'static str {
    match (&report.divergence, report.warp_misuse.is_empty()) {
        (Some(_), _) => "divergent",
        (None, false) => "sync_warp misused",
        (None, true) => "ok",
    }
}

fn access(report: &Report) -> &'static str {
    match report.fault.as_ref().map(|fault| &fault.what) {
        Some(FaultKind::OutOfBounds { .. } | FaultKind::UnknownPointer) => "out of bounds",
        Some(FaultKind::Panic(_)) => "panic",
        Some(FaultKind::TickLimit(_)) => "endless",
        Some(FaultKind::Stuck(_)) => "stuck",
        Some(FaultKind::SharedMemory { .. }) => "too much shared memory",
        None if !report.lost_writes.is_empty() => "lost write",
        None => "ok",
    }
}

fn findings(report: &Report) -> Vec<Finding> {
    let mut all: Vec<Finding> = report
        .hazards
        .iter()
        .map(|hazard| Finding {
            what: hazard.level.name(),
            at: format!("{} {} {}", hazard.kind.name(), hazard.first.site, hazard.second.site),
            text: verdict::hazard(hazard),
        })
        .collect();
    all.extend(report.divergence.as_ref().map(divergence));
    all.extend(report.warp_misuse.iter().map(warp_misuse));
    all.extend(report.uninitialised.iter().map(uninitialised));
    all.extend(report.lost_writes.iter().map(lost_write));
    all.extend(report.fault.as_ref().map(|fault| Finding {
        what: "fault",
        at: fault.site.map(|site| site.to_string()).unwrap_or_default(),
        text: verdict::fault(fault),
    }));
    all
}

fn divergence(found: &Divergence) -> Finding {
    let waiting = found.waiting.len();
    let first = found.elsewhere.first().map(|(thread, whereabouts)| match whereabouts {
        Whereabouts::Waits { site, .. } => format!(": thread {thread} waits at {site}"),
        Whereabouts::Skipped => format!(": thread {thread} went past it"),
    });
    Finding {
        what: "divergent barrier",
        at: found.site.to_string(),
        text: format!(
            "block {}: {waiting} threads wait at {}, {} do not come to it{}; undefined, not judged from there on",
            found.block,
            found.site,
            found.elsewhere.len(),
            first.unwrap_or_default(),
        ),
    }
}

fn warp_misuse(found: &WarpMisuse) -> Finding {
    Finding {
        what: "sync_warp",
        at: found.site.to_string(),
        text: format!(
            "block {}, thread {}: the mask 0x{:08x} at {} does not name the lanes that come",
            found.block, found.thread, found.mask, found.site
        ),
    }
}

fn uninitialised(found: &Uninitialised) -> Finding {
    Finding {
        what: "uninitialised",
        at: found.by.site.to_string(),
        text: format!(
            "thread {} (block {}) reads {}[{}] at {}, and nothing has written it; {} such reads",
            found.by.thread, found.by.block, found.place.name, found.place.index, found.by.site, found.reads
        ),
    }
}

fn lost_write(found: &LostWrite) -> Finding {
    Finding {
        what: "lost write",
        at: found.by.site.to_string(),
        text: format!(
            "thread {} (block {}) writes to a copy of a cell at {}: `{{ TILE[t] }}.write(x)` copies first",
            found.by.thread, found.by.block, found.by.site
        ),
    }
}
