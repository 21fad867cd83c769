//! Shadow memory: what is known of the accesses to each cell of four bytes that no barrier has settled yet.

use rustc_hash::FxHashMap;

use super::access::Epoch;

const NONE: u32 = u32::MAX;

/// An access to some bytes of a cell.
#[derive(Clone, Copy, Debug)]
struct Entry {
    epoch: Epoch,
    block: u64,
    /// The row of a read that nothing had written for, or `NONE`.
    early: u32,
    /// What was written, each byte where it lies in the cell.
    value: u32,
    /// The bytes accessed.
    bytes: u8,
    next: u32,
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
        entries.filter(move |(_, entry)| entry.block == block).map(|(cell, entry)| {
            let inside = entry.bytes.trailing_zeros();
            CellAccess {
                epoch: entry.epoch,
                block: entry.block,
                address: cell * 4 + u64::from(inside),
                size: entry.bytes.count_ones(),
                value: u64::from(entry.value >> (8 * inside)),
                early: None,
            }
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
            let (bytes, value) = part(by, cell);
            let [mut write, mut read] = self.heads.get(&cell).copied().unwrap_or([NONE; 2]);
            let (writes, reads) = (write, read);
            let mut uncounted = bytes;
            while write != NONE {
                let earlier = &self.entries[write as usize];
                write = earlier.next;
                let hit = self.hits(earlier, by, bytes, &before);
                if hit == 0 {
                    continue;
                }
                let counted = if by.epoch.how.writes { hit & uncounted } else { hit };
                uncounted &= !hit;
                found.push(Found {
                    earlier: earlier.epoch,
                    block: earlier.block,
                    address: cell * 4,
                    bytes: counted.count_ones(),
                    same_value: by.epoch.how.writes && (value ^ earlier.value) & spread(hit) == 0,
                    early: None,
                });
            }
            while by.epoch.how.writes && read != NONE {
                let earlier = &self.entries[read as usize];
                read = earlier.next;
                let hit = self.hits(earlier, by, bytes, &before);
                if hit != 0 {
                    found.push(Found {
                        earlier: earlier.epoch,
                        block: earlier.block,
                        address: cell * 4,
                        bytes: hit.count_ones(),
                        same_value: false,
                        early: (earlier.early != NONE).then_some(earlier.early),
                    });
                }
            }
            self.record(by, cell, bytes, value, [writes, reads]);
        }
    }

    /// The bytes of an earlier access that the present one conflicts with.
    fn hits(&self, earlier: &Entry, by: &CellAccess, bytes: u8, before: &impl Fn(&Epoch, u64) -> bool) -> u8 {
        let hit = earlier.bytes & bytes;
        let one_block = earlier.block == by.block;
        let own = one_block && earlier.epoch.thread == by.epoch.thread;
        if hit == 0
            || own
            || earlier.epoch.how.are_strong(by.epoch.how, one_block)
            || before(&earlier.epoch, earlier.block)
        {
            return 0;
        }
        hit
    }

    /// Records an access that conflicts with nothing yet.
    pub(super) fn insert(&mut self, by: &CellAccess) {
        let (first, last) = (by.address / 4, (by.address + u64::from(by.size) - 1) / 4);
        for cell in first..=last {
            let (bytes, value) = part(by, cell);
            let heads = self.heads.get(&cell).copied().unwrap_or([NONE; 2]);
            self.record(by, cell, bytes, value, heads);
        }
    }

    fn record(&mut self, by: &CellAccess, cell: u64, bytes: u8, value: u32, heads: [u32; 2]) {
        let list = usize::from(!by.epoch.how.writes);
        // What one thread does again from the same instruction conflicts with the same; of a loop the first trip and
        // the last are enough to know every kind of hazard. Of atomics, one a warp is.
        let mut at = heads[list];
        let mut alike = 0;
        let mut looked = 0;
        while at != NONE && looked < 64 {
            let entry = &mut self.entries[at as usize];
            let strong = by.epoch.how.strong.is_some();
            let same = entry.block == by.block
                && entry.epoch.at.instruction == by.epoch.at.instruction
                && entry.bytes == bytes
                && entry.epoch.how == by.epoch.how
                && (entry.epoch.thread == by.epoch.thread
                    || strong
                        && entry.epoch.warp() == by.epoch.warp()
                        && entry.epoch.clock == by.epoch.clock);
            if same && (entry.epoch == by.epoch && entry.value == value || alike == 1) && entry.early == NONE
            {
                if entry.epoch.thread == by.epoch.thread && entry.epoch.clock == by.epoch.clock {
                    entry.epoch = by.epoch;
                    entry.value = value;
                }
                if strong || entry.epoch == by.epoch {
                    return;
                }
            }
            alike += u32::from(same);
            at = entry.next;
            looked += 1;
        }
        let number = self.entries.len() as u32;
        self.entries.push(Entry {
            epoch: by.epoch,
            block: by.block,
            early: by.early.unwrap_or(NONE),
            value,
            bytes,
            next: heads[list],
        });
        self.heads.entry(cell).or_insert([NONE; 2])[list] = number;
    }
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
