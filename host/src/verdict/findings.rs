//! Findings as aligned blocks: what, where, who, why, and what to do.

use command::text::wrapped;
use cuda_std::emulator::{
    Divergence, EarlyExit, Fault, FaultKind, Hazard, Kind, Level, LostWrite, Party, Place, Report, Site,
    Space, Uninitialised, WARP, Waiting, WarpMisuse, Whereabouts,
};

/// Everything in a report, a block of lines each, worst first.
#[must_use]
pub fn findings(report: &Report) -> Vec<String> {
    let mut all = Vec::new();
    all.extend(report.fault.iter().map(fault));
    all.extend(report.divergence.iter().map(divergence));
    all.extend(report.warp_misuse.iter().map(warp_misuse));
    all.extend(report.hazards.iter().map(hazard));
    all.extend(report.lost_writes.iter().map(lost_write));
    all.extend(report.uninitialised.iter().map(uninitialised));
    all.extend(report.early_exit.iter().map(early_exit));
    all
}

/// Rows of a block: a label, and lines of text that stand under each other.
struct Block(String);

impl Block {
    fn what(what: impl AsRef<str>) -> Self {
        Self(String::new()).row("what", what)
    }

    fn row(mut self, label: &str, text: impl AsRef<str>) -> Self {
        for (number, line) in text.as_ref().lines().enumerate() {
            if !self.0.is_empty() {
                self.0.push('\n');
            }
            let label = if number == 0 { label } else { "" };
            self.0 += &wrapped(&format!("{label:<7}"), line);
        }
        self
    }

    fn end(self, why: impl AsRef<str>, to_do: impl AsRef<str>) -> String {
        self.row("why", why).row("to do", to_do).0
    }
}

fn hazard(hazard: &Hazard) -> String {
    let Hazard { kind, level, bytes, place, first, second, .. } = hazard;
    Block::what(format!("{} hazard, {}: {}; {bytes} bytes in all", kind.name(), level.name(), cell(place)))
        .row("where", format!("{} {}\n{} {}", first.site, does(first), second.site, does(second)))
        .row("who", format!("{}\n{}", thread(first), thread(second)))
        .end(why(hazard), to_do(hazard))
}

fn why(hazard: &Hazard) -> String {
    let Hazard { level, first, second, exited_above, .. } = hazard;
    if let Some(barrier) = exited_above {
        return format!(
            "one of them exited above the barrier at {barrier}: it took no part, and nothing orders what it wrote"
        );
    }
    let text = if first.block != second.block {
        "two blocks of one launch: no barrier reaches from one to the other"
    } else {
        match level {
            Level::Info => "nothing orders the two writes; both write the same value",
            Level::Warning => {
                "nothing orders the two; they are in one warp, but its lanes may run apart since compute \
                 capability 7.0"
            }
            Level::Error => {
                "nothing orders the two: no barrier that both threads took part in stands between them"
            }
        }
    };
    text.to_owned()
}

fn to_do(hazard: &Hazard) -> &'static str {
    let Hazard { kind, level, first, second, exited_above, .. } = hazard;
    if exited_above.is_some() {
        return "let every thread whose writes others read come to the barrier, and return below it";
    }
    if first.block != second.block {
        return "give each block elements of its own, or make it two launches";
    }
    if *kind == Kind::Waw && first.site == second.site {
        return "let one thread write it, or give every thread a cell of its own";
    }
    if first.trips != second.trips && first.trips.len() == second.trips.len() {
        return "the barrier has to sit between these two lines: below the first, above the second of the \
                next trip";
    }
    match level {
        Level::Warning => {
            "the barrier has to sit between these two lines; inside one warp sync_warp(mask) is enough"
        }
        _ => "the barrier has to sit between these two lines",
    }
}

fn does(party: &Party) -> &'static str {
    if party.writes { "writes it" } else { "reads it" }
}

fn thread(party: &Party) -> String {
    format!("thread {} (warp {}, block {}){}", party.thread, party.warp(), party.block, in_trip(&party.trips))
}

fn in_trip(trips: &[u32]) -> String {
    match trips {
        [] => String::new(),
        trips => format!(", in trip {}", trips.iter().map(u32::to_string).collect::<Vec<_>>().join(".")),
    }
}

fn cell(place: &Place) -> String {
    let space = match place.space {
        Space::Shared => "shared",
        Space::Global => "global",
    };
    format!("{space} {}[{}], byte {:#x}", place.name, place.index, place.index * u64::from(place.size))
}

fn divergence(divergence: &Divergence) -> String {
    let Divergence { block, site, trips, waiting, elsewhere, blocks } = divergence;
    let live = waiting.len() + elsewhere.len();
    let mut who = format!("{} here", threads(waiting));
    let mut groups: Vec<(&Whereabouts, Vec<u32>)> = Vec::new();
    for (thread, whereabouts) in elsewhere {
        match groups.iter_mut().find(|(known, _)| *known == whereabouts) {
            Some((_, group)) => group.push(*thread),
            None => groups.push((whereabouts, vec![*thread])),
        }
    }
    for (whereabouts, group) in &groups {
        who += "\n";
        who += &match whereabouts {
            Whereabouts::Waits { site, trips } => {
                format!("{} at {site}{}", threads(group), in_trip(trips))
            }
            Whereabouts::Skipped => format!("{} went past it and lived on", threads(group)),
        };
    }
    let split = elsewhere.iter().any(|(other, _)| waiting.iter().any(|here| warp(*here) == warp(*other)));
    let mut why =
        "a block barrier waits for every thread of the block that has not exited, at the same call in \
                   the same trip"
            .to_owned();
    if split {
        why += "\ninside one warp it is worse: bar.sync is undefined if lanes come by different paths";
    }
    why += "\nfrom here on nothing is ordered in any documented way, and races are not judged";
    Block::what(format!(
        "divergent barrier: {} of {live} threads of block {block} wait at it{}{}",
        waiting.len(),
        in_trip(trips),
        if *blocks > 1 { format!("; {blocks} blocks have it") } else { String::new() }
    ))
    .row("where", site.to_string())
    .row("who", who)
    .end(
        why,
        "put the barrier where every thread comes: below the branch, in a loop with one number of trips",
    )
}

fn warp_misuse(misuse: &WarpMisuse) -> String {
    let WarpMisuse { block, thread, site, mask } = misuse;
    Block::what(format!("sync_warp by a lane that its mask {mask:#010x} leaves out"))
        .row("where", site.to_string())
        .row("who", format!("thread {thread} (lane {}, block {block})", thread % WARP as u32))
        .end(
            "the caller has to be in its own mask; it does not wait, and nothing is ordered for it",
            "name every lane that calls, and let no other call",
        )
}

fn uninitialised(found: &Uninitialised) -> String {
    Block::what(format!("uninitialised: {} is read, {} reads on this line", cell(&found.place), found.reads))
        .row("where", found.by.site.to_string())
        .row("who", thread(&found.by))
        .end(
            "no write precedes the read and none races with it; shared memory starts with unspecified contents",
            "write the cell before a barrier that stands above the read",
        )
}

fn lost_write(found: &LostWrite) -> String {
    Block::what(format!("lost write: it goes to a copy of a cell, {} times on this line", found.writes))
        .row("where", found.by.site.to_string())
        .row("who", thread(&found.by))
        .end(
            "`{ TILE[t] }` and `let slot = TILE[t]` copy the cell, and the copy is dropped",
            "write to the cell in place: `TILE[t].write(x)`",
        )
}

fn early_exit(exit: &EarlyExit) -> String {
    let EarlyExit { threads, site } = exit;
    Block::what(format!("early return, which is legal: {threads} threads exited before this barrier"))
        .row("where", site.to_string())
        .end(
            "it goes on without them, and nothing orders their writes",
            "nothing, unless others read what they wrote",
        )
}

fn fault(fault: &Fault) -> String {
    let Fault { what, block, thread, site } = fault;
    if let FaultKind::Stuck(waiting) = what {
        return stuck(*block, waiting);
    }
    let (text, why, to_do) = match what {
        FaultKind::OutOfBounds { name, index, len } => (
            format!("out of bounds: {name}[{index}], which has {len} elements"),
            "found before it was made; on a GPU it may hit anything, or nothing that shows",
            "keep the index below the length, by a guard that no barrier stands in",
        ),
        FaultKind::UnknownPointer => (
            "access through a pointer that is not in a buffer of the launch".to_owned(),
            "a kernel sees only the memory that the host lends it",
            "pass a pointer to a lent buffer",
        ),
        FaultKind::Null { address } => (
            format!("access through a null pointer, to address {address:#x}"),
            "found before it was made; on a GPU it ends the launch",
            "pass a pointer to a buffer, or test it before it is used",
        ),
        FaultKind::Misaligned { address, size } => (
            format!("misaligned: an access of {size} bytes to address {address:#x}"),
            "an access has to be at a multiple of its size; on a GPU it ends the launch",
            "count in elements of the type that is accessed, from a pointer that is aligned for it",
        ),
        FaultKind::ReadOnly { name, address } => (
            format!("write to {name}, which can only be read, at address {address:#x}"),
            "found before it was made; constant memory is the same for a whole launch",
            "write to a buffer in global memory",
        ),
        FaultKind::Trap => (
            "trap".to_owned(),
            "it ends the launch; a panic, and what a compiler takes to be unreachable, become one",
            "see what leads to this line",
        ),
        FaultKind::Assert(message) => (
            format!("assertion failed: {message}"),
            "on a GPU a failed assertion ends the launch",
            "see the message",
        ),
        FaultKind::CallDepth(limit) => (
            format!("more than {limit} calls within each other"),
            "a recursion looks endless; on a GPU a thread's stack would overflow",
            "give the recursion an end",
        ),
        FaultKind::CopyRead => (
            "a read through a copy of a cell of shared memory".to_owned(),
            "the copy was the read, and the emulator could not follow it",
            "read the cell where it is: `TILE[i].assume_init()`",
        ),
        FaultKind::Panic(message) => (
            format!("panic: {message}"),
            "on a GPU a panic is a trap, which ends the launch",
            "see the message",
        ),
        FaultKind::TickLimit(limit) => (
            format!("still going round a loop after {limit} trips"),
            "the loop looks endless; if it waits for another thread, nothing makes that thread come",
            "give the loop an end, or the launch a higher tick limit",
        ),
        FaultKind::TurnLimit(limit) => (
            format!("still at it after {limit} accesses in a helper"),
            "a loop in a function that the kernel calls looks endless",
            "give the loop an end, or the launch a higher tick limit",
        ),
        FaultKind::HiddenBarrier => (
            "a barrier in an operator or in a `Drop`".to_owned(),
            "nobody who reads the kernel sees it, and the emulator does not either",
            "call the barrier in the kernel, or in a function that it calls",
        ),
        FaultKind::SharedMemory { bytes } => (
            format!("{bytes} bytes of static shared memory"),
            "a block has 48 KiB of it",
            "make the arrays smaller",
        ),
        FaultKind::Stuck(_) => unreachable!("told above"),
    };
    let mut rows = Block::what(text);
    if let Some(site) = site {
        rows = rows.row("where", site.to_string());
    }
    rows.row("who", format!("thread {thread} (warp {}, block {block})", warp(*thread))).end(why, to_do)
}

/// The warp of a thread, counted in its block.
fn warp(thread: u32) -> u32 {
    thread / WARP as u32
}

/// Threads wait for ever. A block barrier that waits for living threads is divergent or waits for a warp; so
/// it is told from the `sync_warp` calls.
fn stuck(block: u64, waiting: &[Waiting]) -> String {
    let mut groups: Vec<(Site, Option<u32>, u32, Vec<u32>)> = Vec::new();
    for &Waiting { thread, site, mask } in waiting {
        let warp = mask.map_or(u32::MAX, |_| warp(thread));
        match groups.iter_mut().find(|group| (group.0, group.1, group.2) == (site, mask, warp)) {
            Some(group) => group.3.push(thread),
            None => groups.push((site, mask, warp, vec![thread])),
        }
    }
    let lives = |thread: u32| waiting.iter().find(|other| other.thread == thread);
    let mut who = Vec::new();
    for (site, mask, warp, group) in &groups {
        let Some(mask) = mask else {
            who.push(format!("{} at the block barrier {site}", threads(group)));
            continue;
        };
        let named =
            (0..WARP as u32).filter(|lane| mask >> lane & 1 == 1).map(|lane| warp * WARP as u32 + lane);
        let here = |thread: u32| lives(thread).is_some_and(|other| other.mask == Some(*mask));
        let missing: Vec<_> = named.filter(|&thread| lives(thread).is_some() && !here(thread)).collect();
        who.push(format!("{} at {site} with mask {mask:#010x}, for {}", threads(group), threads(&missing)));
    }
    Block::what(format!("no thread of block {block} can go on: {} wait for ever", waiting.len()))
        .row("who", who.join("\n"))
        .end(
            "sync_warp waits for every lane in its mask that has not exited, and those have to come with the same \
             mask",
            "name exactly the lanes that come, and let all of them come",
        )
}

/// "threads 0-31, 40": runs of consecutive numbers.
fn threads(numbers: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let shown: Vec<_> = runs
        .iter()
        .take(8)
        .map(|&(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") })
        .collect();
    let more = if runs.len() > 8 { format!(", ... ({} in all)", numbers.len()) } else { String::new() };
    let noun = if numbers.len() == 1 { "thread" } else { "threads" };
    format!("{noun} {}{more}", shown.join(", "))
}
