//! What the page says about a run: the answer, and, apart from it, the verdicts.

use cuda_std::emulator::{FaultKind, Report};
use serde::Serialize;

use super::preset::Outcome;
use crate::verdict;

/// The answer and the verdicts of one run.
#[derive(Clone, Debug, Serialize)]
pub struct Said {
    /// Both in one line.
    pub headline: String,
    /// Whether every element came out as a reader expects.
    pub right: bool,
    /// The count in words.
    pub answer: String,
    /// Whether CUDA defines what the kernel does.
    pub defined: bool,
    /// Race, barrier, uninitialised, out of bounds.
    pub verdicts: Vec<Verdict>,
}

/// One of the checks.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// What was checked.
    pub check: &'static str,
    /// Whether nothing was found.
    pub ok: bool,
    /// What was, in a few words.
    pub short: String,
    /// In whole sentences, if there is more to say.
    pub long: Vec<String>,
}

/// Puts an outcome into words.
#[must_use]
pub fn said(outcome: &Outcome) -> Said {
    let Outcome { report, right, of } = outcome;
    let verdicts = vec![race(report), barrier(report), uninitialised(report), bounds(report)];
    let defined = verdicts.iter().all(|verdict| verdict.ok) && report.is_clean();
    let answered = report.fault.is_none();
    let all = right == of && answered;
    let headline = match (answered, all, defined) {
        (false, ..) => "No answer: the launch ended early",
        (_, true, true) => "Right answer, defined",
        (_, true, false) => "Right answer, undefined",
        (_, false, true) => "Wrong answer, defined",
        (_, false, false) => "Wrong answer, undefined",
    };
    let answer = match (answered, all) {
        (false, _) => "The launch ended before all of it was written.".into(),
        (_, true) => format!("All {of} elements are what the kernel is meant to compute."),
        (_, false) => format!("{} of {of} elements are wrong in this run.", of - right),
    };
    Said { headline: headline.into(), right: all, answer, defined, verdicts }
}

fn race(report: &Report) -> Verdict {
    Verdict {
        check: "Race",
        ok: report.hazards.is_empty() && report.divergence.is_none(),
        short: verdict::race(report),
        long: report.hazards.iter().map(verdict::hazard).collect(),
    }
}

fn barrier(report: &Report) -> Verdict {
    let mut long = Vec::new();
    let mut short = "ok".to_owned();
    if let Some(found) = &report.divergence {
        short = "divergent".into();
        long.push(format!(
            "{} threads wait at {}, {} are elsewhere. From there on nothing is ordered in a documented way.",
            found.waiting.len(),
            found.site,
            found.elsewhere.len()
        ));
    } else if let Some(misuse) = report.warp_misuse.first() {
        short = "sync_warp misused".into();
        long.push(format!("thread {} at {}: not in its own mask", misuse.thread, misuse.site));
    } else if let Some(exit) = report.early_exit {
        short = "ok, without exited threads".into();
        long.push(format!(
            "{} threads had exited when the barrier at {} went on. That is legal; nothing orders what they wrote.",
            exit.threads, exit.site
        ));
    }
    Verdict {
        check: "Barrier",
        ok: report.divergence.is_none() && report.warp_misuse.is_empty(),
        short,
        long,
    }
}

fn uninitialised(report: &Report) -> Verdict {
    let long = report
        .uninitialised
        .iter()
        .map(|found| {
            let (name, index) = (found.place.name, found.place.index);
            format!("{} reads of cells that nothing writes, the first of {name}[{index}]", found.reads)
        })
        .collect();
    let ok = report.uninitialised.is_empty();
    Verdict { check: "Uninitialised", ok, short: if ok { "none" } else { "found" }.into(), long }
}

fn bounds(report: &Report) -> Verdict {
    let Some(fault) = &report.fault else {
        return Verdict { check: "Out of bounds", ok: true, short: "none".into(), long: Vec::new() };
    };
    let outside = matches!(fault.what, FaultKind::OutOfBounds { .. } | FaultKind::UnknownPointer);
    let (check, short) = if outside { ("Out of bounds", "found") } else { ("Fault", "the launch ended") };
    Verdict { check, ok: false, short: short.into(), long: vec![verdict::fault(fault)] }
}
