//! The judge of one block after the other: an engine tells it of accesses and synchronisations, warp by warp.
//!
//! Between two barriers of the whole block hardly anything orders two threads, so accesses are only collected, as rows
//! of a warp, and compared when the barrier comes (`pairs`). Rows that are no intervals, accesses of threads that have
//! exited above a barrier, and synchronisation of any other kind than the two barriers take the long way, by cells of
//! four bytes (`cells`) and, for the last of these, with vector clocks (`knowledge`).

mod access;
mod cells;
mod knowledge;
mod lines;
mod pairs;
mod row;
mod stamps;
mod tally;
#[cfg(test)]
mod tests;

pub use access::{Addresses, At, How, Program, Scope, Sync, WarpAccess, Written};
pub use lines::Lines;

use access::{Epoch, LANES};
use cells::{CellAccess, Cells, Found};
use knowledge::{Vectors, Write};
use pairs::{LineTable, Meeting};
use row::{Row, Rows};
use stamps::Stamps;
use tally::{Conflict, Tally};

use crate::schedule::{self, lanes};
use crate::{Report, Site};

/// Rows that are kept before they are entered into cells: a loop without a barrier could make any number.
const MAX_ROWS: usize = 1 << 14;

/// What a judge has to know of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Threads of a block.
    pub threads: u32,
    /// Shared memory of a block in bytes, and its generic address.
    pub shared: u32,
    /// The generic address of shared memory.
    pub shared_base: u64,
    /// How many arrays and buffers there are; shared memory, of number 0, counts as one.
    pub objects: u32,
    /// Blocks are run in order, and accesses to lines that they contend for are looked at one by one.
    pub across_blocks: bool,
    /// The program has fences, or accesses that acquire or release: strong accesses may order others.
    pub orders: bool,
}

/// What there is among the rows of one object: a set of bits, empty if there are none.
#[derive(Clone, Copy, Debug, Default)]
struct Summary(u32);

impl Summary {
    /// Above these, a bit for each size of an element.
    const PLAIN_READS: u32 = 1;
    const PLAIN_WRITES: u32 = 2;
    const STRONG: u32 = 4;
    const NO_INTERVALS: u32 = 8;

    fn has(self, bits: u32) -> bool {
        self.0 & bits != 0
    }

    /// Not all have one element size.
    fn is_mixed(self) -> bool {
        let sizes = self.0 >> 4;
        sizes & sizes.wrapping_sub(1) != 0
    }

    /// Not all are intervals of one element size.
    fn is_odd(self) -> bool {
        self.has(Self::NO_INTERVALS) || self.is_mixed()
    }
}

/// A read by one thread of what nothing had written, kept until the barrier: a write may yet race with it.
#[derive(Clone, Copy, Debug)]
struct Early {
    by: Epoch,
    address: u64,
    size: u32,
    raced: bool,
}

/// Judges the blocks that one worker runs.
#[derive(Debug)]
pub struct Judge {
    setting: Setting,
    block: u64,
    /// Rises with each synchronisation.
    clock: u32,
    /// The first clock behind the last barrier of the block.
    phase: u32,
    /// The lanes of each warp that have not exited above the last barrier of the block.
    alive: Vec<u32>,
    /// The clock of each warp's lanes; behind vector clocks each thread has its own.
    warps: Vec<u32>,
    /// Accesses since the last barrier that are not in `cells`.
    rows: Rows,
    /// What threads did that exited above a barrier: nothing orders it any more.
    left: Vec<CellAccess>,
    /// Threads of the block have exited above a barrier.
    has_left: bool,
    /// For each thread the barrier that first went on without it.
    exited_above: Vec<Option<Site>>,
    summaries: Vec<Summary>,
    /// Objects with rows.
    touched: Vec<u32>,
    /// Accesses since the last barrier are entered into cells.
    by_cell: bool,
    cells: Cells,
    early: Vec<Early>,
    /// Those of threads that have exited above a barrier: until the block ends, a write may race with them.
    late: Vec<Early>,
    vectors: Vectors,
    stamps: Stamps,
    table: LineTable,
    tally: Tally,
    /// Accesses of all blocks to lines that they contend for.
    contested: Cells,
    judging: bool,
    meetings: Vec<Meeting>,
    numbers: Vec<u32>,
    found: Vec<Found>,
}

impl Judge {
    /// A judge for the blocks of one worker.
    #[must_use]
    pub fn new(setting: Setting) -> Self {
        let warps = (setting.threads as usize).div_ceil(LANES);
        Self {
            setting,
            block: 0,
            clock: 1,
            phase: 1,
            alive: vec![0; warps],
            warps: vec![1; warps],
            rows: Rows::default(),
            left: Vec::new(),
            has_left: false,
            exited_above: vec![None; setting.threads as usize],
            summaries: vec![Summary::default(); setting.objects as usize],
            touched: Vec::new(),
            by_cell: false,
            cells: Cells::default(),
            early: Vec::new(),
            late: Vec::new(),
            vectors: Vectors::default(),
            stamps: Stamps::default(),
            table: LineTable::default(),
            tally: Tally::default(),
            contested: Cells::of_many_blocks(),
            judging: true,
            meetings: Vec::new(),
            numbers: Vec::new(),
            found: Vec::new(),
        }
    }

    /// A block begins.
    pub fn begin_block(&mut self, block: u64) {
        self.block = block;
        self.judging = true;
        self.next_phase();
        self.stamps.begin_block(self.setting.shared as usize);
        let (from, to) =
            (self.setting.shared_base, self.setting.shared_base + u64::from(self.setting.shared));
        self.vectors.begin_block(|address| (from..to).contains(&address));
        for (alive, first) in self.alive.iter_mut().zip((0..).step_by(LANES)) {
            *alive = u32::MAX >> (LANES as u32 - (self.setting.threads - first).min(LANES as u32));
        }
        if self.has_left {
            self.has_left = false;
            self.left.clear();
            self.exited_above.fill(None);
        }
    }

    fn next_phase(&mut self) {
        self.clock += 1;
        self.phase = self.clock;
        self.warps.fill(self.clock);
    }

    /// Nothing of the block is judged any more: a barrier was divergent. What came before is.
    pub fn stop(&mut self, program: &dyn Program) {
        self.end_block(program);
        self.judging = false;
    }

    /// Is the block still judged?
    #[must_use]
    pub fn is_judging(&self) -> bool {
        self.judging
    }

    /// Lanes of a warp access memory. Returns the lanes that read of shared memory what nothing has written. The program
    /// is asked for only where more has to be known than most accesses need.
    #[inline(always)]
    pub fn access<P: Program>(
        &mut self,
        program: impl FnOnce() -> P,
        lines: &Lines,
        access: &WarpAccess<'_>,
    ) -> u32 {
        let early = if access.object == 0 { self.stamp(access) } else { 0 };
        if !self.judging {
            return early;
        }
        if self.setting.across_blocks
            || self.vectors.is_active()
            || (self.setting.orders && (access.how.strong.is_some() || access.how.writes))
            || self.rows.all.len() >= MAX_ROWS
        {
            // A copy, so that the access itself need not lie in memory.
            let access = *access;
            self.access_closely(&program(), lines, &access, early);
            return early;
        }
        let row = self.rows.push(access, self.warps[access.warp as usize], early);
        let interval = row.is_interval();
        if access.object != 0 {
            if interval {
                lines.touch(access.object, row.extent(), access.size, self.block, access.how);
            } else {
                self.touch_each(lines);
            }
        }
        self.summarise(access, interval);
        early
    }

    /// What the row just collected adds to those of its object.
    #[inline(always)]
    fn summarise(&mut self, access: &WarpAccess<'_>, interval: bool) {
        let kind = match (access.how.strong, access.how.writes) {
            (Some(_), _) => Summary::STRONG,
            (None, true) => Summary::PLAIN_WRITES,
            (None, false) => Summary::PLAIN_READS,
        };
        let odd = if interval { 0 } else { Summary::NO_INTERVALS };
        let summary = &mut self.summaries[access.object as usize];
        if summary.0 == 0 {
            self.touched.push(access.object);
        }
        // A size is a power of two.
        summary.0 |= kind | odd | access.size << 4;
    }

    /// An access, where more than the barriers of the block orders accesses, or where other blocks count.
    #[inline(never)]
    fn access_closely(&mut self, program: &dyn Program, lines: &Lines, access: &WarpAccess<'_>, early: u32) {
        if self.setting.orders && (access.how.strong.is_some() || self.vectors.is_active()) {
            self.access_in_order(program, lines, access, early);
            return;
        }
        let row = *self.rows.push(access, self.warps[access.warp as usize], early);
        if self.setting.orders && access.how.writes {
            // Who reads this reads from no release.
            row.lanes().for_each(|lane| self.vectors.overwrite(self.rows.address(&row, lane), row.size));
        }
        if access.object != 0 {
            self.touch_lines(lines, &row);
            if self.setting.across_blocks {
                for lane in row.lanes() {
                    self.enter_contested(program, lines, &row, lane);
                }
            }
        }
        if self.vectors.is_active() {
            self.enter_all(program);
            return;
        }
        self.summarise(access, row.is_interval());
        if self.rows.all.len() >= MAX_ROWS {
            self.enter_all(program);
        }
    }

    /// An access, where releases and acquires may order it.
    #[cold]
    fn access_in_order(&mut self, program: &dyn Program, lines: &Lines, access: &WarpAccess<'_>, early: u32) {
        self.begin_vectors(program);
        self.rows.push(access, self.warps[access.warp as usize], early);
        let row = self.rows.all[self.rows.all.len() - 1];
        if access.object != 0 {
            self.touch_lines(lines, &row);
        }
        for lane in row.lanes() {
            let (thread, address) = (row.thread(lane), self.rows.address(&row, lane));
            match access.how.strong {
                Some(scope) if access.sync.reads => {
                    self.vectors.read(self.block, thread, address, scope, access.sync.acquires);
                }
                None if access.how.writes => self.vectors.overwrite(address, access.size),
                _ => {}
            }
            if access.object != 0 && self.setting.across_blocks {
                self.enter_contested(program, lines, &row, lane);
            }
            self.enter(program, &row, lane);
            if let Some(scope) = access.how.strong
                && access.how.writes
            {
                self.clock += 1;
                let write = Write {
                    block: self.block,
                    thread,
                    address,
                    scope,
                    releases: access.sync.releases,
                    reads: access.sync.reads,
                };
                self.vectors.write(write, self.phase - 1, self.clock);
            }
        }
        self.rows.clear();
    }

    /// These lanes pass a fence.
    pub fn fence(&mut self, program: &dyn Program, warp: u32, mask: u32, scope: Scope) {
        if !self.judging {
            return;
        }
        self.begin_vectors(program);
        for lane in lanes(mask) {
            self.clock += 1;
            let thread = (warp * LANES as u32 + lane) as u16;
            self.vectors.fence(self.block, thread, scope, self.phase - 1, self.clock);
        }
    }

    /// Notes what is written of shared memory; the lanes that read what is not.
    #[inline(always)]
    fn stamp(&mut self, access: &WarpAccess<'_>) -> u32 {
        let base = self.setting.shared_base;
        let plain = !access.how.writes || access.how.strong.is_none();
        if let Addresses::Affine { base: start, stride } = access.addresses
            && access.mask == u32::MAX
            && access.size >= 4
            && plain
        {
            let size = u64::from(access.size);
            let last = start.wrapping_add_signed(31 * stride);
            if stride.unsigned_abs() == size {
                let (from, to) = (start.min(last) - base, start.max(last) - base + size);
                if access.how.writes {
                    self.stamps.write_range(from, to);
                    return 0;
                }
                if self.stamps.is_range_written(from, to) {
                    return 0;
                }
            } else if stride == 0 && !access.how.writes {
                return if self.stamps.is_written(start - base, access.size) { 0 } else { access.mask };
            }
        }
        self.stamp_lanes(access)
    }

    #[cold]
    fn stamp_lanes(&mut self, access: &WarpAccess<'_>) -> u32 {
        let mut early = 0;
        for lane in lanes(access.mask) {
            let address = match access.addresses {
                Addresses::Affine { base, stride } => base.wrapping_add_signed(stride * i64::from(lane)),
                Addresses::Each(addresses) => addresses[lane as usize],
            };
            let offset = address - self.setting.shared_base;
            if (!access.how.writes || access.sync.reads) && !self.stamps.is_written(offset, access.size) {
                early |= 1 << lane;
            }
            if access.how.writes {
                self.stamps.write(offset, access.size);
            }
        }
        early
    }

    /// The row just collected is of global memory, and no interval.
    #[inline(never)]
    fn touch_each(&mut self, lines: &Lines) {
        let row = self.rows.all[self.rows.all.len() - 1];
        self.touch_lines(lines, &row);
    }

    fn touch_lines(&self, lines: &Lines, row: &Row) {
        if row.is_interval() {
            lines.touch(row.object, row.extent(), row.size, self.block, row.how);
        } else {
            for lane in row.lanes() {
                let address = self.rows.address(row, lane);
                let span = (address, address + u64::from(row.size));
                lines.touch(row.object, span, row.size, self.block, row.how);
            }
        }
    }

    /// Enters a lane's part of a row into what blocks contend for.
    fn enter_contested(&mut self, program: &dyn Program, lines: &Lines, row: &Row, lane: u32) {
        let access = self.cell_access(row, lane);
        if !lines.is_contested(row.object, access.address) {
            return;
        }
        let (vectors, block) = (&self.vectors, self.block);
        let before =
            |earlier: &Epoch, of: u64| of == block || vectors.before_from(of, earlier, access.epoch.thread);
        self.contested.access(&access, before, &mut self.found);
        self.count(program, row.object, &access);
    }

    /// A lane's part of a row.
    fn cell_access(&self, row: &Row, lane: u32) -> CellAccess {
        let mut epoch = row.epoch(lane);
        if self.vectors.is_active() {
            epoch.clock = self.vectors.now(usize::from(epoch.thread));
        }
        CellAccess {
            epoch,
            block: self.block,
            address: self.rows.address(row, lane),
            size: row.size,
            value: self.rows.value(row, lane),
            early: None,
        }
    }

    /// Enters a lane's part of a row into cells.
    fn enter(&mut self, program: &dyn Program, row: &Row, lane: u32) {
        self.begin_cells();
        let mut access = self.cell_access(row, lane);
        if row.early >> lane & 1 == 1 {
            access.early = Some(self.early.len() as u32);
            self.early.push(Early {
                by: access.epoch,
                address: access.address,
                size: row.size,
                raced: false,
            });
        }
        let (vectors, block, phase) = (&self.vectors, self.block, self.phase);
        let CellAccess { epoch, .. } = access;
        let before = |earlier: &Epoch, _: u64| {
            if vectors.is_active() {
                vectors.before(block, earlier, epoch.thread)
            } else {
                earlier.clock >= phase && earlier.warp() == epoch.warp() && earlier.clock < epoch.clock
            }
        };
        self.cells.access(&access, before, &mut self.found);
        self.count(program, row.object, &access);
    }

    /// What threads did that have left is in the cells from the start.
    fn begin_cells(&mut self) {
        if !self.by_cell {
            self.by_cell = true;
            self.left.iter().for_each(|access| self.cells.insert(access));
        }
    }

    /// Counts what was found of an access, and forgets it.
    fn count(&mut self, program: &dyn Program, object: u32, by: &CellAccess) {
        for found in self.found.drain(..) {
            let own_block = found.block == self.block;
            let conflict = Conflict {
                a: found.earlier,
                b: by.epoch,
                blocks: (found.block, self.block),
                address: found.address.max(by.address),
                size: by.size,
                bytes: u64::from(found.bytes),
                same_value: found.same_value,
                exited_above: self.exited_above[usize::from(found.earlier.thread)].filter(|_| own_block),
            };
            self.tally.conflict(program, &conflict, object);
            // A write races with what was read; another read does not.
            let of_by = by.early.filter(|_| found.earlier.how.writes);
            let of_earlier = found.early.filter(|_| by.epoch.how.writes);
            for early in [of_by, of_earlier].into_iter().flatten() {
                self.early[early as usize].raced = true;
            }
            let is_it = |late: &&mut Early| own_block && by.epoch.how.writes && late.by == found.earlier;
            for late in self.late.iter_mut().filter(is_it) {
                let end = late.address + u64::from(late.size);
                late.raced |= late.address < found.address + 4 && found.address < end;
            }
        }
    }

    /// Enters all rows into cells.
    fn enter_all(&mut self, program: &dyn Program) {
        self.begin_cells();
        for number in 0..self.rows.all.len() {
            let row = self.rows.all[number];
            for lane in row.lanes() {
                self.enter(program, &row, lane);
            }
        }
        self.rows.clear();
        for object in self.touched.drain(..) {
            self.summaries[object as usize] = Summary::default();
        }
    }

    /// Lanes of a warp meet at a `sync_warp`.
    pub fn sync_warp(&mut self, program: &dyn Program, warp: u32, members: u32) {
        if !self.judging {
            return;
        }
        // Whoever has exited since the last barrier has not met the others.
        if members == self.alive[warp as usize] && !self.vectors.is_active() {
            self.clock += 1;
            self.warps[warp as usize] = self.clock;
            return;
        }
        self.begin_vectors(program);
        self.clock += 1;
        self.vectors.meet_in_warp(warp as usize, members, self.clock);
    }

    /// From here on until the next barrier of the block, threads are told apart.
    fn begin_vectors(&mut self, program: &dyn Program) {
        if !self.vectors.is_active() {
            self.enter_all(program);
            self.vectors.begin(self.setting.threads as usize, &self.warps, &self.alive);
        }
    }

    /// Lanes of a warp arrive at the barrier of this number, and do not wait.
    pub fn arrive(&mut self, program: &dyn Program, number: u32, warp: u32, mask: u32) {
        if !self.judging {
            return;
        }
        self.begin_vectors(program);
        self.clock += 1;
        for lane in lanes(mask) {
            let thread = (warp * LANES as u32 + lane) as u16;
            self.vectors.arrive(self.block, number, thread, self.phase - 1, self.clock);
        }
    }

    /// Threads meet at the barrier of this number, which does not wait for the whole block: `waiting` are lanes of each
    /// warp.
    pub fn meet(&mut self, program: &dyn Program, number: u32, waiting: &[u32]) {
        if !self.judging {
            return;
        }
        self.begin_vectors(program);
        self.clock += 1;
        let waiting: Vec<u16> = threads(waiting).collect();
        self.vectors.meet(self.block, number, &waiting, self.phase - 1, self.clock);
    }

    /// All threads of the block that have not exited, of each warp these lanes, have met at the barrier of this
    /// instruction.
    pub fn block_barrier(&mut self, program: &dyn Program, alive: &[u32], barrier: u32) {
        if !self.judging {
            return;
        }
        self.judge(program, alive);
        if alive.iter().map(|lanes| lanes.count_ones()).sum::<u32>() < self.setting.threads {
            self.leave(program, alive, barrier);
        }
        self.begin_phase(alive);
    }

    /// The block is over.
    pub fn end_block(&mut self, program: &dyn Program) {
        if self.judging {
            let alive = std::mem::take(&mut self.alive);
            self.judge(program, &alive);
            self.alive = alive;
            for Early { by, address, size, raced } in std::mem::take(&mut self.late) {
                if !raced {
                    self.uninitialised(program, &by, address, size);
                }
            }
            self.begin_phase(&[]);
        }
    }

    /// The launch has been stopped in the middle of the block: what would yet have been written is not called
    /// uninitialised.
    pub fn break_off(&mut self, program: &dyn Program) {
        self.rows.all.iter_mut().for_each(|row| row.early = 0);
        self.early.iter_mut().chain(&mut self.late).for_each(|early| early.raced = true);
        self.stop(program);
    }

    /// Judges what came since the last barrier, which these lanes have come to.
    fn judge(&mut self, program: &dyn Program, alive: &[u32]) {
        if self.by_cell || !self.left.is_empty() {
            self.enter_all(program);
        } else {
            self.compare(program);
        }
        for early in std::mem::take(&mut self.early).into_iter().filter(|early| !early.raced) {
            let lane = usize::from(early.by.thread) % LANES;
            if alive[early.by.warp()] >> lane & 1 == 1 {
                self.uninitialised(program, &early.by, early.address, early.size);
            } else {
                self.late.push(early);
            }
        }
    }

    /// A thread has read what nothing had written, and nothing has raced with that.
    fn uninitialised(&mut self, program: &dyn Program, by: &Epoch, address: u64, size: u32) {
        self.tally.uninitialised(program, program.place(address, size), self.block, by);
    }

    fn begin_phase(&mut self, alive: &[u32]) {
        self.rows.clear();
        for object in self.touched.drain(..) {
            self.summaries[object as usize] = Summary::default();
        }
        if self.by_cell {
            self.cells.clear();
            self.by_cell = false;
        }
        self.vectors.settle(threads(alive));
        self.alive[..alive.len()].copy_from_slice(alive);
        self.next_phase();
    }

    /// Compares rows with rows, where all rows of an object are intervals; else enters them into cells.
    fn compare(&mut self, program: &dyn Program) {
        for at in 0..self.touched.len() {
            let object = self.touched[at];
            let summary = self.summaries[object as usize];
            let strong = summary.has(Summary::STRONG);
            let mixed = summary.has(Summary::PLAIN_READS) || summary.is_mixed();
            // What is only read cannot race; nor can what the block only uses by atomics of one size, whatever their scope.
            if !(summary.has(Summary::PLAIN_WRITES) || strong && mixed) {
                continue;
            }
            self.numbers.clear();
            let all = (0..).zip(&self.rows.all);
            self.numbers.extend(all.filter(|(_, row)| row.object == object).map(|(number, _)| number));
            if summary.is_odd() || strong {
                self.compare_by_cell(program);
                continue;
            }
            self.meetings.clear();
            pairs::meetings(&mut self.table, &self.rows, &self.numbers, &mut self.meetings);
            for meeting in &self.meetings {
                let (a, b) = (&self.rows.all[meeting.earlier], &self.rows.all[meeting.row]);
                let conflict = Conflict {
                    a: a.epoch(meeting.lanes.0),
                    b: b.epoch(meeting.lanes.1),
                    blocks: (self.block, self.block),
                    address: meeting.address,
                    size: b.size,
                    bytes: meeting.pairs * u64::from(b.size),
                    same_value: meeting.same_value,
                    exited_above: None,
                };
                self.tally.conflict(program, &conflict, object);
                if !b.how.writes {
                    self.rows.all[meeting.row].early &= !meeting.of_row;
                }
            }
        }
        for number in 0..self.rows.all.len() {
            let row = self.rows.all[number];
            self.early.extend(lanes(row.early).map(|lane| Early {
                by: row.epoch(lane),
                address: self.rows.address(&row, lane),
                size: row.size,
                raced: false,
            }));
        }
    }

    /// Enters the rows of one object into cells, for this comparison only.
    fn compare_by_cell(&mut self, program: &dyn Program) {
        for at in 0..self.numbers.len() {
            let number = self.numbers[at] as usize;
            let row = self.rows.all[number];
            for lane in row.lanes() {
                self.enter(program, &row, lane);
            }
            self.rows.all[number].early = 0;
        }
    }

    /// Keeps what threads did that have exited and took no part in the barrier, but for what somebody who did take part
    /// knows.
    fn leave(&mut self, program: &dyn Program, alive: &[u32], barrier: u32) {
        self.has_left = true;
        let site = program.site(barrier);
        let all = self.vectors.of_all(threads(alive));
        let mut settled = vec![0; self.setting.threads as usize];
        for (warp, (&now, &before)) in alive.iter().zip(&self.alive).enumerate() {
            let here = if self.setting.threads as usize >= (warp + 1) * LANES {
                u32::MAX
            } else {
                (1 << (self.setting.threads as usize - warp * LANES)) - 1
            };
            for thread in schedule::threads(warp, here & !now) {
                let known = self.vectors.known(&all, self.block, thread, schedule::threads(warp, now));
                let lane = usize::from(thread) % LANES;
                settled[usize::from(thread)] = if before >> lane & 1 == 0 {
                    known
                } else {
                    // Since the last barrier its warp has met as a whole, or not; if others of it are there to know.
                    let met = if self.vectors.is_active() || now == 0 { 0 } else { self.warps[warp] - 1 };
                    let known = known.max(met).max(self.phase - 1);
                    self.vectors.exit(self.block, thread, known);
                    known
                };
            }
        }
        let mut left = std::mem::take(&mut self.left);
        let exited =
            |thread: u16| alive[usize::from(thread) / LANES] >> (usize::from(thread) % LANES) & 1 == 0;
        if self.by_cell && self.rows.all.is_empty() {
            let (block, phase) = (self.block, self.phase);
            left.extend(
                self.cells
                    .iter(block)
                    .filter(|access| access.epoch.clock >= phase && exited(access.epoch.thread)),
            );
        } else {
            for number in 0..self.rows.all.len() {
                let row = self.rows.all[number];
                let gone = row.mask & !alive[usize::from(row.warp)];
                left.extend(lanes(gone).map(|lane| self.cell_access(&row, lane)));
            }
        }
        left.retain(|access| access.epoch.clock > settled[usize::from(access.epoch.thread)]);
        for access in &left {
            self.exited_above[usize::from(access.epoch.thread)].get_or_insert(site);
        }
        self.left = left;
    }

    /// What the worker's blocks did.
    #[must_use]
    pub fn finish(self) -> Report {
        Report { hazards: self.tally.hazards, uninitialised: self.tally.uninitialised, ..Report::default() }
    }
}

/// The linear thread indices of these lanes of each warp.
fn threads(masks: &[u32]) -> impl Iterator<Item = u16> {
    masks.iter().enumerate().flat_map(|(warp, &mask)| schedule::threads(warp, mask))
}
