//! Shadow memory: what is known of the accesses to each cell of four bytes that no barrier has settled yet.

use rustc_hash::FxHashMap;

use super::access::{At, Epoch, How, LANES};
use super::row::lanes;

const NONE: u32 = u32::MAX;

/// Of what one thread does again and again from one instruction, so many accesses are kept, and the last.
const KEPT: u32 = 8;
/// So many entries of a cell are looked at for one that a new access can go into.
const LOOKED_AT: u32 = 64;

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
}

impl Cells {
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
        // A write counts once against all earlier writes, so that N writers of a cell make N - 1 hazards.
        for cell in first..=last {
            let new = self.entry(by, cell);
            let [mut write, mut read] = self.heads.get(&cell).copied().unwrap_or([NONE; 2]);
            let heads = [write, read];
            let mut uncounted = new.bytes;
            while write != NONE {
                let earlier = &self.entries[write as usize];
                write = earlier.next;
                let hit = hit(earlier, &new);
                if hit == 0 {
                    continue;
                }
                let plain = earlier.how.strong.is_none() && new.how.strong.is_none();
                let same_value = new.how.writes && plain && (new.value ^ earlier.value) & spread(hit) == 0;
                let (block, early) = (earlier.block, (earlier.early != NONE).then_some(earlier.early));
                for earlier in unordered(earlier, by, &before) {
                    let counted = if new.how.writes { hit & uncounted } else { hit };
                    uncounted &= !hit;
                    found.push(Found {
                        earlier,
                        block,
                        address: cell * 4,
                        bytes: counted.count_ones(),
                        same_value,
                        early,
                    });
                }
            }
            while new.how.writes && read != NONE {
                let earlier = &self.entries[read as usize];
                read = earlier.next;
                let hit = hit(earlier, &new);
                if hit == 0 {
                    continue;
                }
                let (block, early) = (earlier.block, (earlier.early != NONE).then_some(earlier.early));
                found.extend(unordered(earlier, by, &before).map(|earlier| Found {
                    earlier,
                    block,
                    address: cell * 4,
                    bytes: hit.count_ones(),
                    same_value: false,
                    early,
                }));
            }
            self.record(new, cell, heads);
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
            let number = self.entries.len() as u32;
            self.entries.push(Entry { next: heads[list], ..new });
            self.heads.entry(cell).or_insert([NONE; 2])[list] = number;
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
