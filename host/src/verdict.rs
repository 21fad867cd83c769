//! Verdicts of the checks in words. The answer is not among them: it proves nothing.

mod findings;

use cuda_std::emulator::{Fault, FaultKind, Hazard, Party, Report, Space};

pub use findings::findings;

/// The race verdict of a launch in a few words.
#[must_use]
pub fn race(report: &Report) -> String {
    let judged = match report.race() {
        Some(level) => format!("{} hazard, {}", kinds(report), level.name()),
        None => "none".into(),
    };
    match (&report.divergence, report.race()) {
        (Some(_), None) => "not judged".into(),
        (Some(_), Some(_)) => format!("{judged}, then not judged"),
        (None, _) => judged,
    }
}

fn kinds(report: &Report) -> String {
    let mut kinds: Vec<_> = report.hazards.iter().map(|hazard| hazard.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let names: Vec<_> = kinds.iter().map(|kind| kind.name()).collect();
    names.join("+")
}

/// A hazard in two lines: who against whom.
#[must_use]
pub fn hazard(hazard: &Hazard) -> String {
    let space = match hazard.place.space {
        Space::Shared => "shared",
        Space::Global => "global",
    };
    format!(
        "{} of {space} {}[{}]: {}, and {}; nothing orders them",
        hazard.kind.name(),
        hazard.place.name,
        hazard.place.index,
        party(&hazard.first),
        party(&hazard.second),
    )
}

fn party(party: &Party) -> String {
    let does = if party.writes { "writes" } else { "reads" };
    let trips = match &party.trips[..] {
        [] => String::new(),
        trips => format!(" in trip {}", trips.iter().map(u32::to_string).collect::<Vec<_>>().join(".")),
    };
    format!(
        "thread {} (warp {}, block {}) {does} it{trips} at {}",
        party.thread,
        party.warp(),
        party.block,
        party.site
    )
}

/// A fault in one line.
#[must_use]
pub fn fault(fault: &Fault) -> String {
    let what = match &fault.what {
        FaultKind::OutOfBounds { name, index, len } => {
            format!("access to {name}[{index}], which has {len} elements")
        }
        FaultKind::UnknownPointer => "access through a pointer that is not in a buffer of the launch".into(),
        FaultKind::Panic(message) => format!("panic: {message}"),
        FaultKind::TickLimit(limit) => format!("still going round a loop after {limit} trips: endless?"),
        FaultKind::Stuck(waiting) => format!("no thread can go on; {} wait", waiting.len()),
        FaultKind::SharedMemory { bytes } => format!(
            "{bytes} bytes of static shared memory; a block has {}",
            cuda_std::emulator::MAX_STATIC_SHARED
        ),
    };
    let at = fault.site.map(|site| format!(" at {site}")).unwrap_or_default();
    format!("block {}, thread {}{at}: {what}", fault.block, fault.thread)
}
