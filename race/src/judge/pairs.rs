//! Rows compared with rows: what the lanes of two warps did to neighbouring elements, without a look at each element.

use super::access::LANES;
use super::row::{Row, Rows};

/// Bytes of a line: rows are compared only where they touch one.
const LINE: u64 = 128;

/// The rows that write to each line, in a table of open addressing. Entries of an earlier use are as good as none.
#[derive(Debug, Default)]
pub(super) struct LineTable {
    /// Line, use, and the last row in the list of nodes.
    slots: Vec<(u64, u32, u32)>,
    /// Row, and the node before it.
    nodes: Vec<(u32, u32)>,
    uses: u32,
}

const NONE: u32 = u32::MAX;

impl LineTable {
    fn begin(&mut self, lines: usize) {
        self.nodes.clear();
        let slots = (2 * lines).next_power_of_two().max(1024);
        if self.slots.len() < slots || self.uses == u32::MAX {
            self.slots = vec![(0, 0, NONE); slots];
            self.uses = 0;
        }
        self.uses += 1;
    }

    #[inline]
    fn slot(&self, line: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & mask;
        while self.slots[at].1 == self.uses && self.slots[at].0 != line {
            at = (at + 1) & mask;
        }
        at
    }

    #[inline]
    fn head(&self, slot: usize) -> u32 {
        if self.slots[slot].1 == self.uses { self.slots[slot].2 } else { NONE }
    }

    #[inline]
    fn add(&mut self, slot: usize, line: u64, row: u32) {
        let node = self.nodes.len() as u32;
        self.nodes.push((row, self.head(slot)));
        self.slots[slot] = (line, self.uses, node);
    }
}

/// Two intervals that conflict: `row` is the later one in the run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    pub(super) earlier: usize,
    pub(super) row: usize,
    /// A lane of each, and the element that they share: of all such pairs, that of the lowest lane of `row`.
    pub(super) lanes: (u32, u32),
    pub(super) address: u64,
    /// How many pairs of different threads count.
    pub(super) pairs: u64,
    /// The lanes of `row` in them.
    pub(super) of_row: u32,
    /// Both wrote the same, wherever they meet; with all others the values differ.
    pub(super) same_value: bool,
}

/// Finds where intervals of one object meet: all have one element size. The rows are those of these numbers.
pub(super) fn meetings(table: &mut LineTable, rows: &Rows, numbers: &[u32], found: &mut Vec<Meeting>) {
    table.begin(
        numbers.len()
            * (2 + LANES * numbers.first().map_or(4, |&n| rows.all[n as usize].size as usize) / 128),
    );
    for writes in [true, false] {
        for &number in numbers {
            let row = &rows.all[number as usize];
            if row.how.writes != writes {
                continue;
            }
            let (from, to) = row.extent();
            // The lanes of a write that are counted: once against all earlier writes.
            let mut counted = 0;
            for line in from / LINE..=(to - 1) / LINE {
                let slot = table.slot(line);
                let mut at = table.head(slot);
                let within = (from.max(line * LINE), to.min(line * LINE + LINE));
                while at != NONE {
                    let (other, before) = table.nodes[at as usize];
                    at = before;
                    let earlier = &rows.all[other as usize];
                    let ordered = earlier.warp == row.warp && earlier.clock != row.clock;
                    if ordered || earlier.how.are_strong(row.how, true) {
                        continue;
                    }
                    let (a, b) = earlier.extent();
                    let shared = (within.0.max(a), within.1.min(b));
                    if shared.0 < shared.1 {
                        meet(rows, (other as usize, number as usize), shared, &mut counted, found);
                    }
                }
                if writes {
                    table.add(slot, line, number);
                }
            }
        }
    }
}

/// Two rows share these bytes.
#[inline]
fn meet(
    rows: &Rows,
    (earlier, row): (usize, usize),
    (from, to): (u64, u64),
    counted: &mut u32,
    found: &mut Vec<Meeting>,
) {
    let (a, b) = (&rows.all[earlier], &rows.all[row]);
    let size = u64::from(b.size);
    let elements = (to - from) / size;
    if b.how.writes {
        return write_meets(rows, (earlier, row), (from, to), counted, found);
    }
    if b.stride == 0 {
        // All lanes read one element, which one lane writes.
        let writer = a.lane_at(from);
        let own = if a.warp == b.warp { 1 << writer } else { 0 };
        let of_row = b.mask & !own;
        if of_row != 0 {
            let lanes = (writer, of_row.trailing_zeros());
            let pairs = u64::from(of_row.count_ones());
            found.push(Meeting { earlier, row, lanes, address: from, pairs, of_row, same_value: false });
        }
        return;
    }
    let (low, high) = (b.lane_at(from), b.lane_at(to - size));
    let (low, high) = (low.min(high), low.max(high));
    let mut of_row = (u32::MAX >> (31 - (high - low))) << low;
    let mut pairs = elements;
    if a.warp == b.warp {
        for lane in low..=high {
            if a.lane_at(at(b, lane)) == lane {
                of_row &= !(1 << lane);
                pairs -= 1;
            }
        }
        if of_row == 0 {
            return;
        }
    }
    let lane = of_row.trailing_zeros();
    let address = at(b, lane);
    found.push(Meeting {
        earlier,
        row,
        lanes: (a.lane_at(address), lane),
        address,
        pairs,
        of_row,
        same_value: false,
    });
}

fn at(row: &Row, lane: u32) -> u64 {
    row.base.wrapping_add_signed(row.stride * i64::from(lane))
}

/// Two writes: they are told apart by what they write.
#[cold]
fn write_meets(
    rows: &Rows,
    (earlier, row): (usize, usize),
    (from, to): (u64, u64),
    counted: &mut u32,
    found: &mut Vec<Meeting>,
) {
    let (a, b) = (&rows.all[earlier], &rows.all[row]);
    let mut kinds: [Option<Meeting>; 2] = [None; 2];
    let mut address = from;
    while address < to {
        let lanes = (a.lane_at(address), b.lane_at(address));
        if a.thread(lanes.0) != b.thread(lanes.1) {
            let unused = 64 - 8 * b.size.min(8);
            let same_value = (rows.value(a, lanes.0) ^ rows.value(b, lanes.1)) << unused == 0;
            let new = Meeting { earlier, row, lanes, address, pairs: 0, of_row: 0, same_value };
            let kind = kinds[usize::from(same_value)].get_or_insert(new);
            kind.pairs += u64::from(*counted >> lanes.1 & 1 == 0);
            kind.of_row |= 1 << lanes.1;
            *counted |= 1 << lanes.1;
            if lanes.1 < kind.lanes.1 {
                (kind.lanes, kind.address) = (lanes, address);
            }
        }
        address += u64::from(b.size);
    }
    found.extend(kinds.into_iter().flatten());
}
