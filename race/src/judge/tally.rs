//! Conflicts, summed up by the lines of the source.

use std::cmp::Ordering;

use super::access::{At, Epoch, Program};
use crate::{Hazard, Kind, Level, Party, Place, Site, Uninitialised};

/// Two accesses to some bytes that nothing orders.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conflict {
    pub(super) a: Epoch,
    pub(super) b: Epoch,
    /// The block of each.
    pub(super) blocks: (u64, u64),
    pub(super) address: u64,
    /// Of an element.
    pub(super) size: u32,
    /// How many bytes it counts for.
    pub(super) bytes: u64,
    /// Both wrote the same.
    pub(super) same_value: bool,
    /// One of the two exited above this barrier, which the other took part in.
    pub(super) exited_above: Option<Site>,
}

/// What decides which hazard a conflict belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    a: At,
    b: At,
    writes: (bool, bool),
    same_warp: bool,
    same_value: bool,
    object: u32,
    exited_above: Option<Site>,
}

/// So many keys are remembered.
const RECENT: usize = 16;

/// The hazards found so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) hazards: Vec<Hazard>,
    pub(super) uninitialised: Vec<Uninitialised>,
    /// Of conflicts counted before, the last one first, their hazards: most come in rows.
    recent: Vec<(Key, usize)>,
}

impl Tally {
    pub(super) fn conflict(&mut self, program: &dyn Program, conflict: &Conflict, object: u32) {
        let Conflict { a, b, blocks, .. } = conflict;
        let same_warp = blocks.0 == blocks.1 && a.warp() == b.warp();
        let key = Key {
            a: a.at,
            b: b.at,
            writes: (a.how.writes, b.how.writes),
            same_warp,
            same_value: conflict.same_value,
            object,
            exited_above: conflict.exited_above,
        };
        let number = match self.recent.first() {
            Some(&(last, number)) if last == key => number,
            _ => self.recall(program, conflict, key),
        };
        let hazard = &mut self.hazards[number];
        hazard.bytes += conflict.bytes;
        // Of the lowest block, the pair of the lowest threads: whatever order the run took.
        let low = (blocks.0.min(blocks.1), blocks.0.max(blocks.1));
        let known = (hazard.first.block, hazard.second.block);
        if low <= (known.0.min(known.1), known.0.max(known.1)) {
            let (first, second) = in_program_order(program, conflict);
            let threads = (second.thread, first.thread);
            if low < (known.0.min(known.1), known.0.max(known.1))
                || threads < (hazard.second.thread as u16, hazard.first.thread as u16)
            {
                (hazard.first.thread, hazard.second.thread) = (first.thread.into(), second.thread.into());
                hazard.place = program.place(conflict.address, conflict.size);
            }
        }
    }

    /// The number of the hazard that a conflict of this key belongs to.
    fn recall(&mut self, program: &dyn Program, conflict: &Conflict, key: Key) -> usize {
        let recent = match self.recent.iter().position(|(known, _)| *known == key) {
            Some(at) => self.recent.remove(at),
            None => {
                self.recent.truncate(RECENT - 1);
                (key, self.find(program, conflict, key.same_warp))
            }
        };
        self.recent.insert(0, recent);
        recent.1
    }

    /// The number of the hazard that this conflict belongs to.
    #[cold]
    fn find(&mut self, program: &dyn Program, conflict: &Conflict, same_warp: bool) -> usize {
        let (first, second) = in_program_order(program, conflict);
        let kind = match (first.how.writes, second.how.writes) {
            (true, false) => Kind::Raw,
            (false, _) => Kind::War,
            (true, true) => Kind::Waw,
        };
        let level = match kind {
            Kind::Waw if conflict.same_value => Level::Info,
            Kind::Raw | Kind::War if same_warp => Level::Warning,
            _ => Level::Error,
        };
        let place = program.place(conflict.address, conflict.size);
        let block = |epoch: &Epoch| {
            if std::ptr::eq(epoch, &raw const conflict.a) { conflict.blocks.0 } else { conflict.blocks.1 }
        };
        let party = |epoch: &Epoch| Party {
            thread: epoch.thread.into(),
            block: block(epoch),
            trips: program.trips(epoch.at.path),
            site: program.site(epoch.at.instruction),
            writes: epoch.how.writes,
        };
        let hazard = Hazard {
            kind,
            level,
            bytes: 0,
            place,
            first: party(first),
            second: party(second),
            exited_above: conflict.exited_above,
        };
        let same = |known: &Hazard| {
            (known.kind, known.level) == (hazard.kind, hazard.level)
                && (known.first.site, known.second.site) == (hazard.first.site, hazard.second.site)
                && std::ptr::eq(known.place.name, hazard.place.name)
        };
        match self.hazards.iter().position(same) {
            Some(number) => {
                let known = &mut self.hazards[number];
                known.exited_above = known.exited_above.or(hazard.exited_above);
                number
            }
            None => {
                self.hazards.push(hazard);
                self.hazards.len() - 1
            }
        }
    }

    pub(super) fn uninitialised(&mut self, program: &dyn Program, place: Place, block: u64, by: &Epoch) {
        let site = program.site(by.at.instruction);
        let same =
            |known: &&mut Uninitialised| known.by.site == site && std::ptr::eq(known.place.name, place.name);
        match self.uninitialised.iter_mut().find(same) {
            Some(known) => {
                known.reads += 1;
                if known.by.block == block && u32::from(by.thread) < known.by.thread {
                    known.by.thread = by.thread.into();
                    known.place = place;
                }
            }
            None => {
                let trips = program.trips(by.at.path);
                let by = Party { thread: by.thread.into(), block, trips, site, writes: false };
                self.uninitialised.push(Uninitialised { place, by, reads: 1 });
            }
        }
    }
}

/// The two accesses, of which the first comes first in the program as written.
fn in_program_order<'a>(program: &dyn Program, conflict: &'a Conflict) -> (&'a Epoch, &'a Epoch) {
    let Conflict { a, b, blocks, .. } = conflict;
    let order = program.order(a.at, b.at).then(blocks.0.cmp(&blocks.1)).then(a.thread.cmp(&b.thread));
    match order {
        Ordering::Greater => (b, a),
        _ => (a, b),
    }
}
