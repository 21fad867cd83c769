//! Shadow memory: what is known of the accesses to each cell of four bytes that no barrier has settled yet.

use rustc_hash::FxHashMap;

use super::access::{At, Epoch, How, LANES};
use crate::schedule::lanes;

const NONE: u32 = u32::MAX;

/// Of what one thread does again and again from one instruction, so many accesses are kept, and the last.
const KEPT: u32 = 8;
/// So many entries of a cell are looked at for one that a new access can go into.
const LOOKED_AT: u32 = 64;
/// Where any number of blocks may come to one cell, an access is told to conflict with no more than so many others: at
/// first, and once so many have been told. Of so many accesses to a cell, the later half is kept. Else the time would rise
/// with the square of the blocks.
const TOLD: [usize; 2] = [1024, 16];
const MANY: u64 = 1 << 21;
const ACCESSES: u32 = 4096;

/// An access by lanes of one warp to some bytes of a cell.
#[derive(Clone, Copy, Debug)]
struct Entry {
    at: At,
    how: How,
    clock: u32,
    /// The first thread of the warp, and the lanes.
    warp: u16,
    lanes: u32,
    block: u64,
    /// The row of a read that nothing had written for, or `NONE`.
    early: u32,
    /// What was written, each byte where it lies in the cell.
    value: u32,
    /// The bytes accessed here, and the size of the whole access.
    bytes: u8,
    size: u8,
    /// Rises from entry to entry.
    age: u32,
    next: u32,
}

impl Entry {
    fn epoch(&self, lane: u32) -> Epoch {
        Epoch { thread: self.warp + lane as u16, clock: self.clock, at: self.at, how: self.how }
    }

    /// Is it the same access but for lanes, trips of loops and time?
    fn is_like(&self, other: &Self) -> bool {
        let values = !self.how.writes || self.how.strong.is_some() || self.value == other.value;
        (self.block, self.warp, self.at.instruction, self.how, self.bytes, self.size)
            == (other.block, other.warp, other.at.instruction, other.how, other.bytes, other.size)
            && values
            && self.early == NONE
    }
}

/// A lane's access.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellAccess {
    pub(super) epoch: Epoch,
    pub(super) block: u64,
    pub(super) address: u64,
    pub(super) size: u32,
    pub(super) value: u64,
    pub(super) early: Option<u32>,
}

/// An earlier access that nothing orders before the present one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) earlier: Epoch,
    pub(super) block: u64,
    pub(super) address: u64,
    /// The bytes of the cell, and how many count.
    hit: u8,
    pub(super) bytes: u32,
    pub(super) same_value: bool,
    /// The row of the earlier access, if it read what nothing had written.
    pub(super) early: Option<u32>,
}

/// Accesses by cell.
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// Of each cell the last write and the last read.
    heads: FxHashMap<u64, [u32; 2]>,
    entries: Vec<Entry>,
    age: u32,
    /// Where accesses of many blocks are kept: how many entries each list has, and entries that are not used any more.
    lengths: Option<FxHashMap<(u64, usize), u32>>,
    unused: Vec<u32>,
    told: u64,
}

impl Cells {
    /// For accesses of any number of blocks.
    pub(super) fn of_many_blocks() -> Self {
        Self { lengths: Some(FxHashMap::default()), ..Self::default() }
    }

    pub(super) fn clear(&mut self) {
        self.heads.clear();
        self.entries.clear();
    }

    /// All that is recorded, of this block.
    pub(super) fn iter(&self, block: u64) -> impl Iterator<Item = CellAccess> {
        let lists = self.heads.iter().flat_map(|(&cell, heads)| heads.map(|head| (cell, head)));
        let entries = lists.flat_map(|(cell, head)| {
            let entry = |at: u32| self.entries.get(at as usize);
            std::iter::successors(entry(head), move |last| entry(last.next)).map(move |entry| (cell, entry))
        });
        entries.filter(move |(_, entry)| entry.block == block).flat_map(|(cell, entry)| {
            let inside = entry.bytes.trailing_zeros();
            lanes(entry.lanes).map(move |lane| CellAccess {
                epoch: entry.epoch(lane),
                block: entry.block,
                address: cell * 4 + u64::from(inside),
                size: entry.bytes.count_ones(),
                value: u64::from(entry.value >> (8 * inside)),
                early: None,
            })
        })
    }

    /// Records an access and finds what it conflicts with: `before` tells what is ordered before it.
    pub(super) fn access(
        &mut self,
        by: &CellAccess,
        before: impl Fn(&Epoch, u64) -> bool,
        found: &mut Vec<Found>,
    ) {
        let (first, last) = (by.address / 4, (by.address + u64::from(by.size) - 1) / 4);
        for cell in first..=last {
            let new = self.entry(by, cell);
            let heads = self.heads.get(&cell).copied().unwrap_or([NONE; 2]);
            let told = match self.lengths {
                Some(_) => TOLD[usize::from(self.told > MANY)],
                None => usize::MAX,
            };
            let start = found.len();
            self.conflicts(heads[0], (&new, by), cell, &before, (told, found));
            if new.how.writes {
                // A write counts once against all earlier writes, so that N writers of a cell make N - 1 hazards.
                let mut uncounted = new.bytes;
                for found in &mut found[start..] {
                    let counted = found.hit & uncounted;
                    uncounted &= !found.hit;
                    found.bytes = counted.count_ones();
                }
                self.conflicts(heads[1], (&new, by), cell, &before, (told, found));
            }
            self.told += (found.len() - start) as u64;
            self.record(new, cell, heads);
        }
    }

    /// What of a list a new access conflicts with, at most so many.
    fn conflicts(
        &self,
        head: u32,
        (new, by): (&Entry, &CellAccess),
        cell: u64,
        before: &impl Fn(&Epoch, u64) -> bool,
        (told, found): (usize, &mut Vec<Found>),
    ) {
        let mut at = head;
        let end = found.len().saturating_add(told);
        while at != NONE && found.len() < end {
            let earlier = &self.entries[at as usize];
            at = earlier.next;
            let hit = hit(earlier, new);
            if hit == 0 {
                continue;
            }
            let plain = earlier.how.strong.is_none() && new.how.strong.is_none();
            let both_write = earlier.how.writes && new.how.writes;
            let same_value = both_write && plain && (new.value ^ earlier.value) & spread(hit) == 0;
            let conflict = |epoch: Epoch, lanes: u32| Found {
                earlier: epoch,
                block: earlier.block,
                address: cell * 4,
                hit,
                bytes: hit.count_ones() * lanes,
                same_value,
                early: (earlier.early != NONE).then_some(earlier.early),
            };
            if self.lengths.is_none() {
                found.extend(unordered(earlier, by, before).map(|epoch| conflict(epoch, 1)));
                continue;
            }
            // Told as one, with the lowest lane. Of another block, what is ordered before mostly is so as a whole.
            if earlier.block != by.block {
                let mut lanes = unordered(earlier, by, before);
                if let Some(first) = lanes.next() {
                    found.push(conflict(first, 1 + lanes.count() as u32));
                }
            }
        }
    }

    /// Records an access that conflicts with nothing yet.
    pub(super) fn insert(&mut self, by: &CellAccess) {
        let (first, last) = (by.address / 4, (by.address + u64::from(by.size) - 1) / 4);
        for cell in first..=last {
            let heads = self.heads.get(&cell).copied().unwrap_or([NONE; 2]);
            let new = self.entry(by, cell);
            self.record(new, cell, heads);
        }
    }

    /// The part of an access that goes to a cell.
    fn entry(&mut self, by: &CellAccess, cell: u64) -> Entry {
        let (bytes, value) = part(by, cell);
        let lane = u32::from(by.epoch.thread) % LANES as u32;
        self.age = self.age.wrapping_add(1);
        Entry {
            at: by.epoch.at,
            how: by.epoch.how,
            clock: by.epoch.clock,
            warp: by.epoch.thread - lane as u16,
            lanes: 1 << lane,
            block: by.block,
            early: by.early.unwrap_or(NONE),
            value,
            bytes,
            size: by.size as u8,
            age: self.age,
            next: NONE,
        }
    }

    /// Lanes of one warp that do the same at once share an entry. What one lane does again and again from one
    /// instruction conflicts with the same: of many trips of a loop, the first ones and the last are enough to know every
    /// kind of hazard.
    fn record(&mut self, new: Entry, cell: u64, heads: [u32; 2]) {
        let list = usize::from(!new.how.writes);
        let (mut at, mut looked) = (heads[list], 0);
        let (mut same, mut unused, mut latest, mut kept) = (None, None, None::<u32>, 0);
        while at != NONE && looked < LOOKED_AT && new.early == NONE {
            let entry = &self.entries[at as usize];
            if entry.is_like(&new) {
                if entry.lanes == 0 {
                    unused = Some(at);
                } else if entry.lanes & new.lanes != 0 {
                    kept += 1;
                    if latest.is_none_or(|latest| self.entries[latest as usize].age < entry.age) {
                        latest = Some(at);
                    }
                } else if entry.at == new.at && entry.clock == new.clock {
                    same = Some(at);
                }
            }
            at = entry.next;
            looked += 1;
        }
        if kept > KEPT
            && let Some(latest) = latest
        {
            self.entries[latest as usize].lanes &= !new.lanes;
        }
        if let Some(same) = same {
            self.entries[same as usize].lanes |= new.lanes;
        } else if let Some(unused) = unused {
            let entry = &mut self.entries[unused as usize];
            *entry = Entry { next: entry.next, ..new };
        } else {
            let new = Entry { next: heads[list], ..new };
            let number = match self.unused.pop() {
                Some(number) => {
                    self.entries[number as usize] = new;
                    number
                }
                None => {
                    self.entries.push(new);
                    self.entries.len() as u32 - 1
                }
            };
            self.heads.entry(cell).or_insert([NONE; 2])[list] = number;
            self.shorten(cell, list, number);
        }
    }

    /// Forgets the older half of a list that has become too long.
    fn shorten(&mut self, cell: u64, list: usize, head: u32) {
        let Some(lengths) = &mut self.lengths else { return };
        let length = lengths.entry((cell, list)).or_default();
        *length += 1;
        if *length < ACCESSES {
            return;
        }
        *length = ACCESSES / 2;
        let mut last = head;
        for _ in 1..ACCESSES / 2 {
            last = self.entries[last as usize].next;
        }
        let mut old = std::mem::replace(&mut self.entries[last as usize].next, NONE);
        while old != NONE {
            self.unused.push(old);
            old = self.entries[old as usize].next;
        }
    }
}

/// The bytes of an earlier access that the present one may conflict with. Two strong accesses do not, if they go to the
/// same bytes (PTX ISA, "Morally Strong Operations").
fn hit(earlier: &Entry, new: &Entry) -> u8 {
    let strong = earlier.size == new.size && earlier.how.are_strong(new.how, earlier.block == new.block);
    if strong { 0 } else { earlier.bytes & new.bytes }
}

/// Of an entry the lanes that nothing orders before an access of another thread.
fn unordered<'a>(
    earlier: &'a Entry,
    by: &'a CellAccess,
    before: &'a impl Fn(&Epoch, u64) -> bool,
) -> impl Iterator<Item = Epoch> + 'a {
    let epochs = lanes(earlier.lanes).map(|lane| earlier.epoch(lane));
    epochs.filter(|epoch| {
        let own = earlier.block == by.block && epoch.thread == by.epoch.thread;
        !(own || before(epoch, earlier.block))
    })
}

/// The bytes of a cell that an access goes to, and what of its value lies there.
fn part(by: &CellAccess, cell: u64) -> (u8, u32) {
    let start = cell * 4;
    if by.size >= 4 {
        let value = if by.size <= 8 { by.value >> (8 * (start - by.address)) } else { by.value };
        return (0xf, value as u32);
    }
    let inside = by.address - start;
    (((1 << by.size) - 1) << inside, (by.value as u32) << (8 * inside))
}

/// Each bit as a byte.
fn spread(bytes: u8) -> u32 {
    (0..4).filter(|byte| bytes >> byte & 1 == 1).map(|byte| 0xff << (8 * byte)).sum()
}
