//! Verdicts of the checks in words, and the schedule that they hold for. The answer is not among them: it
//! proves nothing.

mod findings;

use command::text::wrapped;
use cuda_std::emulator::{Divergence, Fault, FaultKind, Hazard, Party, Policy, Report, Space, Whereabouts};

pub use findings::findings;

/// How the emulator interleaves the threads.
#[must_use]
pub fn schedule(policy: Policy, seed: u64) -> String {
    let how = match policy {
        Policy::Lockstep => "lockstep: a warp's lanes step together, warps in random order",
        Policy::Independent => "independent: some lanes of a random warp step, the others wait",
        Policy::Random => "random: one thread steps at a time",
        Policy::Exhaustive => "exhaustive: one thread steps at a time, the lowest that can",
    };
    format!("{how}, seed {seed}")
}

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

/// A hazard in one sentence: who against whom.
#[must_use]
pub fn hazard(hazard: &Hazard) -> String {
    let [what, first, second] = hazard_parts(hazard);
    format!("{what} {first}, and {second}")
}

/// The same for a terminal, below the line that says where it was found.
#[must_use]
pub fn hazard_lines(hazard: &Hazard) -> String {
    let [what, first, second] = hazard_parts(hazard);
    [wrapped("    ", &what), wrapped("      ", &first), wrapped("      ", &second)].join("\n")
}

/// Whether two hazards are one to a reader: between the same two lines, and as bad.
#[must_use]
pub fn alike(a: &Hazard, b: &Hazard) -> bool {
    (a.level, a.first.site, a.second.site) == (b.level, b.first.site, b.second.site)
}

fn hazard_parts(hazard: &Hazard) -> [String; 3] {
    let space = match hazard.place.space {
        Space::Shared => "shared",
        Space::Global => "global",
    };
    let (kind, place) = (hazard.kind.name(), &hazard.place);
    let what = format!("{kind} of {space} {}[{}], which nothing orders:", place.name, place.index);
    [what, party(&hazard.first), party(&hazard.second)]
}

fn party(party: &Party) -> String {
    let does = if party.writes { "writes" } else { "reads" };
    format!(
        "thread {} (warp {}, block {}) {does} it{} at {}",
        party.thread,
        party.warp(),
        party.block,
        trips(&party.trips),
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
        FaultKind::Null { address } => format!("access to address {address:#x}, through a null pointer"),
        FaultKind::Misaligned { address, size } => {
            format!("access of {size} bytes to address {address:#x}, which is no multiple of {size}")
        }
        FaultKind::ReadOnly { name, address } => {
            format!("write to {name}, which can only be read, at address {address:#x}")
        }
        FaultKind::Trap => "trap, which a panic ends in".into(),
        FaultKind::Assert(message) => format!("assertion failed: {message}"),
        FaultKind::CallDepth(limit) => {
            format!("more than {limit} calls within each other: endless recursion?")
        }
        FaultKind::CopyRead => {
            "a read through a copy of a cell, which the emulator cannot follow; write `TILE[i].assume_init()`"
                .into()
        }
        FaultKind::Panic(message) => format!("panic: {message}"),
        FaultKind::TickLimit(limit) => format!("still going round a loop after {limit} trips: endless?"),
        FaultKind::TurnLimit(limit) => format!("still at it after {limit} accesses in a helper: endless?"),
        FaultKind::Stuck(waiting) => format!("no thread can go on; {} wait", waiting.len()),
        FaultKind::HiddenBarrier => {
            "a barrier in an operator or a `Drop`, which the emulator does not see; call it in a function"
                .into()
        }
        FaultKind::SharedMemory { bytes } => format!(
            "{bytes} bytes of static shared memory; a block has {}",
            cuda_std::emulator::MAX_STATIC_SHARED
        ),
    };
    let at = fault.site.map(|site| format!(" at {site}")).unwrap_or_default();
    format!("block {}, thread {}{at}: {what}", fault.block, fault.thread)
}

/// The barrier verdict in a word.
#[must_use]
pub fn barrier(divergent: bool) -> &'static str {
    if divergent { "divergent" } else { "ok" }
}

/// What became of the cells, in a few words.
#[must_use]
pub fn memory(uninitialised: bool, lost: bool) -> &'static str {
    match (uninitialised, lost) {
        (false, false) => "ok",
        (true, false) => "uninitialised",
        (false, true) => "write lost",
        (true, true) => "write lost, uninitialised",
    }
}

/// Everything that was found beside races, a line each.
#[must_use]
pub fn others(report: &Report) -> Vec<String> {
    let mut lines: Vec<String> = report.divergence.iter().map(divergence).collect();
    lines.extend(report.warp_misuse.iter().map(|misuse| {
        format!(
            "block {}, thread {} calls sync_warp at {} with mask {:#010x}, which breaks its contract",
            misuse.block, misuse.thread, misuse.site, misuse.mask
        )
    }));
    lines.extend(report.lost_writes.iter().map(|lost| {
        format!("{} writes at {} go to a copy of a cell and are lost", lost.writes, lost.by.site)
    }));
    lines.extend(report.uninitialised.iter().map(|read| {
        format!(
            "{} reads at {} find a cell that nothing has written, first thread {} of block {}: {}[{}]",
            read.reads, read.by.site, read.by.thread, read.by.block, read.place.name, read.place.index
        )
    }));
    lines.extend(report.fault.iter().map(fault));
    lines
}

/// Who waits where, by source line, and how many went past.
fn divergence(divergence: &Divergence) -> String {
    let mut waiting = vec![(divergence.site, &divergence.trips[..], divergence.waiting.len())];
    let mut skipped = 0;
    for (_, whereabouts) in &divergence.elsewhere {
        match whereabouts {
            Whereabouts::Skipped => skipped += 1,
            Whereabouts::Waits { site, trips } => {
                match waiting.iter_mut().find(|(known, at, _)| (known, at) == (site, &&trips[..])) {
                    Some((.., count)) => *count += 1,
                    None => waiting.push((*site, trips, 1)),
                }
            }
        }
    }
    waiting.sort_by_key(|&(site, trips, _)| (site.line(), site.column(), trips));
    let mut parts: Vec<String> = waiting
        .iter()
        .map(|(site, at, count)| format!("{count} threads wait at {site}{}", trips(at)))
        .collect();
    if skipped > 0 {
        parts.push(format!("{skipped} went past it"));
    }
    format!("block {}: {}", divergence.block, parts.join(", "))
}

fn trips(trips: &[u32]) -> String {
    match trips {
        [] => String::new(),
        trips => format!(" in trip {}", trips.iter().map(u32::to_string).collect::<Vec<_>>().join(".")),
    }
}
