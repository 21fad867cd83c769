//! What the page says about a run: the answer, and, apart from it, the verdicts.

use cuda_std::emulator::{FaultKind, Report};
use serde::Serialize;

use crate::exhibits::Outcome;
use crate::verdict;

/// The answer and the verdicts of one run.
#[derive(Clone, Debug, Serialize)]
pub struct Said {
    /// Both in one line.
    pub headline: &'static str,
    /// Whether every element came out as a reader expects; `null` where there is nothing to expect.
    pub right: Option<bool>,
    /// That in words.
    pub answer: String,
    /// Whether CUDA defines what the kernel does.
    pub defined: bool,
    /// Race, barrier, memory, faults.
    pub verdicts: Vec<Verdict>,
    /// What was found, in whole sentences.
    pub found: Vec<String>,
}

/// One of the checks.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// What was checked.
    pub check: &'static str,
    /// Whether nothing was found.
    pub ok: bool,
    /// What was, in a few words.
    pub words: String,
}

/// Puts an outcome into words; `report` is its report as it shows in the block that is drawn.
#[must_use]
pub fn said(outcome: &Outcome, report: &Report, in_block: Option<usize>) -> Said {
    let defined = report.is_clean();
    let faulted = report.fault.is_some();
    let right = outcome.wrong.map(|wrong| wrong == 0 && !faulted);
    let headline = match (right, defined) {
        _ if faulted => "The launch ended early",
        (Some(true), true) => "Right answer, defined",
        (Some(true), false) => "Right answer, undefined",
        (Some(false), true) => "Wrong answer, defined",
        (Some(false), false) => "Wrong answer, undefined",
        (None, true) => "Defined",
        (None, false) => "Undefined",
    };
    let mut found: Vec<String> = report.hazards.iter().map(verdict::hazard).collect();
    found.extend(verdict::others(report));
    if let Some(exit) = report.early_exit {
        found.push(format!(
            "{} threads had exited when the barrier at {} went on; that is legal, and nothing orders what they wrote",
            exit.threads, exit.site
        ));
    }
    let found = found.into_iter().map(sentence).collect();
    Said {
        headline,
        right,
        answer: answer(outcome, faulted, in_block),
        defined,
        verdicts: verdicts(report),
        found,
    }
}

fn sentence(words: String) -> String {
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).chain(['.']).collect()).unwrap_or_default()
}

fn answer(outcome: &Outcome, faulted: bool, in_block: Option<usize>) -> String {
    match (outcome.wrong, in_block) {
        _ if faulted => "It was not all written.".into(),
        (None, _) => "This kernel computes nothing that could be compared.".into(),
        (Some(0), _) => format!("All {} elements are as they should be.", outcome.len),
        (Some(wrong), Some(here)) => {
            format!("{wrong} of {} elements are wrong, {here} of them in the block shown.", outcome.len)
        }
        (Some(wrong), None) => format!("{wrong} of {} elements are wrong.", outcome.len),
    }
}

fn verdicts(report: &Report) -> Vec<Verdict> {
    let divergent = report.divergence.is_some();
    let misused = !report.warp_misuse.is_empty();
    let (unwritten, lost) = (!report.uninitialised.is_empty(), !report.lost_writes.is_empty());
    let barrier = if misused { "sync_warp misused" } else { verdict::barrier(divergent) };
    let mut verdicts = vec![
        Verdict { check: "Race", ok: report.hazards.is_empty() && !divergent, words: verdict::race(report) },
        Verdict { check: "Barrier", ok: !divergent && !misused, words: barrier.into() },
        Verdict { check: "Memory", ok: !unwritten && !lost, words: verdict::memory(unwritten, lost).into() },
    ];
    let outside =
        |fault: &FaultKind| matches!(fault, FaultKind::OutOfBounds { .. } | FaultKind::UnknownPointer);
    let words = match &report.fault {
        None => "ok",
        Some(fault) if outside(&fault.what) => "outside",
        Some(_) => "fault",
    };
    verdicts.push(Verdict { check: "Bounds", ok: report.fault.is_none(), words: words.into() });
    verdicts
}
