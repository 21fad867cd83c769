//! What one worker has found so far, summed up by source line as it goes.

use std::cmp::Ordering;

use crate::hazard::{Hazard, Kind, Level, Party};
use crate::limits::WARP;
use crate::nest::{Nests, Step, Within};
use crate::order::{Access, Conflict};
use crate::place::Memory;
use crate::recorder::Recorder;
use crate::report::{Divergence, EarlyExit, Fault, LostWrite, Report, Uninitialised, WarpMisuse};
use crate::site::Site;

impl Conflict {
    fn bytes(&self, memory: Memory) -> u64 {
        u64::from(self.times) * u64::from(memory.size)
    }
}

/// What one worker has found so far.
#[derive(Debug, Default)]
pub struct Findings {
    /// The findings so far, in no particular order.
    pub report: Report,
    /// Present while a block runs that is to be traced.
    pub trace: Option<Box<Recorder>>,
    /// The conflict counted last: most come in rows.
    last: Option<Last>,
}

/// What decides which hazard a conflict belongs to, between two lines on one path; and the hazard's number.
#[derive(Clone, Copy, Debug)]
struct Last {
    earlier: Site,
    by: Site,
    /// Which of the two wrote, whether in one warp, whether the same value.
    how: [bool; 4],
    name: &'static str,
    exited_above: Option<Site>,
    number: usize,
}

fn how(earlier: &Access, by: &Access, same_value: bool) -> [bool; 4] {
    let warp = |access: &Access| usize::from(access.thread()) / WARP;
    [earlier.writes(), by.writes(), warp(earlier) == warp(by), same_value]
}

impl Findings {
    /// A conflict between an earlier access and `by`, in one block. The thread of the earlier one may have
    /// exited above a barrier that the other took part in.
    pub fn conflict(
        &mut self,
        nests: &Nests,
        block: u64,
        (memory, index): (Memory, usize),
        by: &Access,
        conflict: &Conflict,
        exited_above: Option<Site>,
    ) {
        let Conflict { earlier, same_value, .. } = conflict;
        let (bytes, how) = (conflict.bytes(memory), how(earlier, by, *same_value));
        let plain = self.trace.is_none() && earlier.nest() == by.nest();
        let alike = |last: &Last| {
            last.earlier.is(earlier.site)
                && last.by.is(by.site)
                && last.how == how
                && std::ptr::eq(last.name, memory.name)
                && last.exited_above == exited_above
        };
        if let Some(last) = self.last.filter(alike).filter(|_| plain) {
            self.report.hazards[last.number].bytes += bytes;
            return;
        }
        let (place, [.., same_warp, same_value]) = (memory.place(index as u64), how);
        let (first, second) = in_program_order(nests, earlier, by);
        let kind = match (first.writes(), second.writes()) {
            (true, false) => Kind::Raw,
            (false, _) => Kind::War,
            (true, true) => Kind::Waw,
        };
        let level = match kind {
            Kind::Waw if same_value => Level::Info,
            Kind::Raw | Kind::War if same_warp => Level::Warning,
            _ => Level::Error,
        };
        if let Some(trace) = &mut self.trace {
            trace.pair((kind, level), &place, (first, second));
        }
        let known = self.report.hazards.iter().position(|hazard| {
            hazard.kind == kind
                && hazard.level == level
                && hazard.first.site == first.site
                && hazard.second.site == second.site
                && std::ptr::eq(hazard.place.name, place.name)
        });
        if plain && earlier.site != by.site {
            let number = known.unwrap_or(self.report.hazards.len());
            let name = memory.name;
            self.last = Some(Last { earlier: earlier.site, by: by.site, how, name, exited_above, number });
        }
        if let Some(known) = known {
            let hazard = &mut self.report.hazards[known];
            hazard.bytes += bytes;
            hazard.exited_above = earliest(hazard.exited_above, exited_above);
            return;
        }
        self.report.hazards.push(Hazard {
            kind,
            level,
            bytes,
            place,
            first: party(nests, block, first),
            second: party(nests, block, second),
            exited_above,
        });
    }

    /// A read by this access of an element that nothing had written, and that no write raced with.
    pub fn uninitialised(&mut self, nests: &Nests, block: u64, memory: Memory, index: u64, access: Access) {
        let found = Uninitialised { place: memory.place(index), by: party(nests, block, &access), reads: 1 };
        add_uninitialised(&mut self.report.uninitialised, found);
    }

    /// A write to a copy of a slot.
    pub fn lost_write(&mut self, nests: &Nests, block: u64, access: Access) {
        let by = party(nests, block, &access);
        add_lost_write(&mut self.report.lost_writes, LostWrite { by, writes: 1 });
    }

    /// A divergent barrier.
    pub fn diverged(&mut self, divergence: Divergence) {
        add_divergence(&mut self.report.divergence, divergence);
    }

    /// A `sync_warp` that breaks its contract.
    pub fn warp_misuse(&mut self, misuse: WarpMisuse) {
        add_warp_misuse(&mut self.report.warp_misuse, misuse);
    }

    /// A barrier went on without threads that had exited.
    pub fn early_exit(&mut self, exit: EarlyExit) {
        add_early_exit(&mut self.report.early_exit, exit);
    }

    /// Something ended the launch.
    pub fn fault(&mut self, fault: Fault) {
        add_fault(&mut self.report.fault, fault);
    }

    /// Takes in what another worker found. The result does not depend on which worker ran which block.
    pub fn merge(&mut self, other: Report) {
        let mine = &mut self.report;
        for hazard in other.hazards {
            add_hazard(&mut mine.hazards, hazard);
        }
        for found in other.uninitialised {
            add_uninitialised(&mut mine.uninitialised, found);
        }
        for found in other.lost_writes {
            add_lost_write(&mut mine.lost_writes, found);
        }
        for misuse in other.warp_misuse {
            add_warp_misuse(&mut mine.warp_misuse, misuse);
        }
        if let Some(divergence) = other.divergence {
            add_divergence(&mut mine.divergence, divergence);
        }
        if let Some(exit) = other.early_exit {
            add_early_exit(&mut mine.early_exit, exit);
        }
        if let Some(fault) = other.fault {
            add_fault(&mut mine.fault, fault);
        }
        if let Some(trace) = other.trace {
            mine.trace = Some(trace);
        }
    }

    /// The report, worst first and then by source line.
    pub fn finish(self) -> Report {
        let mut report = self.report;
        report.hazards.sort_by(|a, b| {
            let key =
                |h: &Hazard| (h.kind, h.place.clone(), h.first.site.position(), h.second.site.position());
            b.level.cmp(&a.level).then_with(|| key(a).cmp(&key(b)))
        });
        report.uninitialised.sort_by_key(|found| (found.by.site.position(), found.place.name));
        report.lost_writes.sort_by_key(|found| found.by.site.position());
        report.warp_misuse.sort_by_key(|found| (found.site.position(), found.mask));
        report
    }
}

fn party(nests: &Nests, block: u64, access: &Access) -> Party {
    Party {
        thread: u32::from(access.thread()),
        block,
        trips: nests.trips(access.nest()),
        site: access.site,
        writes: access.writes(),
    }
}

/// The two accesses, of which the first comes first in the program as written.
fn in_program_order<'a>(nests: &Nests, a: &'a Access, b: &'a Access) -> (&'a Access, &'a Access) {
    let step = |access: &Access| Step { parent: access.nest(), site: access.site, within: Within::Place };
    let order = if a.nest() == b.nest() {
        a.site.position().cmp(&b.site.position())
    } else {
        nests.compare(step(a), step(b))
    };
    match order.then(a.thread().cmp(&b.thread())) {
        Ordering::Greater => (b, a),
        _ => (a, b),
    }
}

/// Of several barriers the first in the source, whichever was found first.
fn earliest(a: Option<Site>, b: Option<Site>) -> Option<Site> {
    a.into_iter().chain(b).min_by_key(|site| site.position())
}

fn add_hazard(all: &mut Vec<Hazard>, new: Hazard) {
    let same = |old: &&mut Hazard| {
        old.kind == new.kind
            && old.level == new.level
            && old.first.site == new.first.site
            && old.second.site == new.second.site
            && (old.place.space, old.place.name) == (new.place.space, new.place.name)
    };
    match all.iter_mut().find(same) {
        Some(old) => {
            let bytes = old.bytes + new.bytes;
            let exited_above = earliest(old.exited_above, new.exited_above);
            if new.first.block < old.first.block {
                *old = new;
            }
            old.bytes = bytes;
            old.exited_above = exited_above;
        }
        None => all.push(new),
    }
}

fn add_uninitialised(all: &mut Vec<Uninitialised>, new: Uninitialised) {
    match all.iter_mut().find(|old| old.by.site == new.by.site && old.place.name == new.place.name) {
        Some(old) => {
            let reads = old.reads + new.reads;
            if new.by.block < old.by.block {
                *old = new;
            }
            old.reads = reads;
        }
        None => all.push(new),
    }
}

fn add_lost_write(all: &mut Vec<LostWrite>, new: LostWrite) {
    match all.iter_mut().find(|old| old.by.site == new.by.site) {
        Some(old) => {
            let writes = old.writes + new.writes;
            if new.by.block < old.by.block {
                *old = new;
            }
            old.writes = writes;
        }
        None => all.push(new),
    }
}

fn add_warp_misuse(all: &mut Vec<WarpMisuse>, new: WarpMisuse) {
    match all.iter_mut().find(|old| old.site == new.site && old.mask == new.mask) {
        Some(old) if (new.block, new.thread) < (old.block, old.thread) => *old = new,
        Some(_) => {}
        None => all.push(new),
    }
}

fn add_divergence(slot: &mut Option<Divergence>, new: Divergence) {
    match slot {
        Some(old) => {
            let blocks = old.blocks + new.blocks;
            if new.block < old.block {
                *old = new;
            }
            old.blocks = blocks;
        }
        None => *slot = Some(new),
    }
}

fn add_early_exit(slot: &mut Option<EarlyExit>, new: EarlyExit) {
    let key = |exit: &EarlyExit| (exit.threads, std::cmp::Reverse(exit.site.position()));
    if slot.as_ref().is_none_or(|old| key(old) < key(&new)) {
        *slot = Some(new);
    }
}

fn add_fault(slot: &mut Option<Fault>, new: Fault) {
    if slot.as_ref().is_none_or(|old| new.block < old.block) {
        *slot = Some(new);
    }
}
