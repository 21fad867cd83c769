//! What the block makes of its accesses to memory: the findings.
//!
//! As long as it can, it keeps rows ([`Rows`]). Where these do not tell all, where lanes differ or the schedule is
//! not lockstep, each access is judged by what is known of its cell.

use std::num::NonZeroU32;

use race::order::{Access, Conflict, Row, Rows};
use race::{Memory, Space};

use super::block::Block;

/// A read of a cell that nothing had written yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EarlyRead {
    array: usize,
    index: usize,
    access: Access,
    /// The one of the same cell before this one.
    before: Option<EarlyReadId>,
    /// A write raced with it.
    raced: bool,
}

/// The number of an early read of the running block, from 1.
pub(crate) type EarlyReadId = NonZeroU32;

impl Block {
    /// Judges an access by what is known of its cell. Of a write, `written` is the value and what it was written
    /// over.
    pub(crate) fn judge_by_cell(
        &mut self,
        space: Space,
        array: usize,
        index: usize,
        by: &Access,
        written: Option<(u64, u64)>,
    ) {
        self.find_conflicts(space, array, index, by, written);
        let memory = self.memory(space, array);
        if by.writes() && space == Space::Shared {
            for number in 0..self.conflicts.len() {
                let conflict = self.conflicts[number];
                self.race_early_reads(array, index, &conflict);
            }
        }
        self.report_conflicts(memory, index, by);
    }

    /// Records an access in its cell.
    fn find_conflicts(
        &mut self,
        space: Space,
        array: usize,
        index: usize,
        by: &Access,
        written: Option<(u64, u64)>,
    ) {
        let Self { shared, global, clocks, conflicts, .. } = self;
        let (shadow, cell) = match space {
            Space::Shared => (&mut shared.array(array).shadow, index),
            Space::Global => {
                let slot = global.touch(array, index);
                (&mut global.shadow, slot)
            }
        };
        match written {
            Some(written) => shadow.write(clocks, cell, by, written, conflicts),
            None => shadow.read(clocks, cell, by, conflicts),
        }
    }

    /// Nothing has written the cell yet.
    #[inline(never)]
    pub(crate) fn read_early(&mut self, array: usize, index: usize, access: Access) {
        if self.judging {
            let last = &mut self.shared.array(array).early_reads[index];
            self.early_reads.push(EarlyRead { array, index, access, before: *last, raced: false });
            *last = u32::try_from(self.early_reads.len()).ok().and_then(NonZeroU32::new);
        }
    }

    /// The write at hand conflicts with this: if it is an early read of the cell, it was not uninitialised.
    pub(crate) fn race_early_reads(&mut self, array: usize, index: usize, conflict: &Conflict) {
        if !self.judging {
            return;
        }
        let Conflict { earlier, since, .. } = conflict;
        let clocks = *since..=earlier.clock().max(*since);
        let mut next = self.shared.array(array).early_reads[index];
        while let Some(number) = next {
            let read = &mut self.early_reads[number.get() as usize - 1];
            read.raced |= read.access.thread() == earlier.thread() && clocks.contains(&read.access.clock());
            next = read.before;
        }
    }

    /// The block is over: reads that nothing wrote for, and nothing raced with, were uninitialised.
    pub(crate) fn end_early_reads(&mut self) {
        for read in self.early_reads.drain(..) {
            let array = self.shared.array(read.array);
            array.early_reads[read.index] = None;
            if !read.raced {
                let (memory, index) = (array.memory(), read.index as u64);
                self.findings.uninitialised(&self.nests, self.linear, memory, index, read.access);
            }
        }
    }

    /// Reports the conflicts that the access `by` to this place has just been found to have.
    pub(crate) fn report_conflicts(&mut self, memory: Memory, index: usize, by: &Access) {
        let mut conflicts = std::mem::take(&mut self.conflicts);
        for conflict in conflicts.drain(..) {
            self.report(memory, index, by, &conflict);
        }
        self.conflicts = conflicts;
    }

    pub(crate) fn report(&mut self, memory: Memory, index: usize, by: &Access, conflict: &Conflict) {
        if self.judging {
            let exited_above = if self.lanes_differ {
                self.lanes[usize::from(conflict.earlier.thread())].exited_above
            } else {
                None
            };
            let place = (memory, index);
            self.findings.conflict(&self.nests, self.linear, place, by, conflict, exited_above);
        }
    }
}

impl Block {
    /// At the start of a block, or when everything is settled: rows are kept if they may be.
    pub(crate) fn begin_rows(&mut self) {
        self.shared_rows.clear();
        self.global_rows.clear();
        self.in_rows = self.rows_serve
            && self.checks
            && self.judging
            && !self.lanes_differ
            && !self.faulted
            && self.scheduler.is_lockstep()
            && self.findings.trace.is_none()
            && !self.global.grid.in_full();
    }

    fn rows(&mut self, space: Space) -> &mut Rows {
        match space {
            Space::Shared => &mut self.shared_rows,
            Space::Global => &mut self.global_rows,
        }
    }

    /// Takes an access, to this address and to this cell of an array of this length, into a row if rows are kept: as
    /// the second of one or as the first. Says which lane of the row it is.
    pub(crate) fn start_row(
        &mut self,
        space: Space,
        (address, size): (usize, usize),
        (array, index, len): (usize, usize, usize),
        by: &Access,
    ) -> Option<usize> {
        if !self.in_rows {
            return None;
        }
        let buffer = if space == Space::Global { array } else { 0 };
        let kind = kind_of(size, by.writes(), buffer);
        let lane = self.rows(space).start((address, size, kind), (array, index, len), by);
        if lane.is_some() {
            return lane;
        }
        self.end_row(space);
        if self.in_rows {
            self.rows(space).start((address, size, kind), (array, index, len), by)
        } else {
            None
        }
    }

    /// The rows that are being made end here.
    #[inline]
    pub(crate) fn end_rows(&mut self) {
        self.end_row(Space::Shared);
        self.end_row(Space::Global);
    }

    #[inline]
    fn end_row(&mut self, space: Space) {
        if let Some(row) = self.rows(space).end() {
            self.judge_row(space, &row);
        }
    }

    #[inline(never)]
    fn judge_row(&mut self, space: Space, row: &Row) {
        let clock = self.clocks.common();
        if space == Space::Global {
            self.take_into_grid(row);
        } else if row.writes {
            self.shared.array(row.array).set_written(&self.clocks, row);
        }
        let meetings = if self.in_rows { self.rows(space).take_in(*row) } else { None };
        let Some(meetings) = meetings else {
            self.leave_rows();
            return self.judge_by_cells(space, row);
        };
        for meeting in meetings {
            let (lane, other) = meeting.first;
            let earlier = meeting.earlier.access(other, clock);
            let conflict = Conflict { earlier, since: clock, same_value: false, times: meeting.times };
            let memory = self.memory(space, row.array);
            self.report(memory, row.cell(lane), &row.access(lane, clock), &conflict);
        }
    }

    fn memory(&mut self, space: Space, array: usize) -> Memory {
        match space {
            Space::Shared => self.shared.array(array).memory(),
            Space::Global => self.global.memory(array),
        }
    }

    fn take_into_grid(&mut self, row: &Row) {
        let clock = self.clocks.common();
        if row.is_run() {
            self.global.grid.access_run(row.array, row.cell(0), row.lanes, row.access(0, clock));
        } else {
            for lane in 0..row.lanes {
                self.global.grid.access(row.array, row.cell(lane), row.access(lane, clock));
            }
        }
    }

    fn judge_by_cells(&mut self, space: Space, row: &Row) {
        for lane in 0..row.lanes {
            let (index, by) = (row.cell(lane), row.access(lane, self.clocks.common()));
            let value = row.writes.then(|| match space {
                Space::Shared => self.shared.array(row.array).bits(index),
                Space::Global => self.global.bits(row.array, index),
            });
            let written = value.map(|value| (value, self.rows(space).written_over(lane)));
            self.judge_by_cell(space, row.array, index, &by, written);
        }
        self.read_row_early(row);
    }

    /// The lanes of this row that read what nothing has written.
    fn read_row_early(&mut self, row: &Row) {
        for lane in (0..row.lanes).filter(|lane| row.early >> lane & 1 == 1) {
            self.read_early(row.array, row.cell(lane), row.access(lane, self.clocks.common()));
        }
    }

    /// From here to the next barrier, accesses are judged by cells.
    #[inline]
    pub(crate) fn leave_rows(&mut self) {
        if self.in_rows {
            self.put_rows_into_cells();
        }
    }

    #[inline(never)]
    fn put_rows_into_cells(&mut self) {
        self.in_rows = false;
        let clock = self.clocks.common();
        for space in [Space::Shared, Space::Global] {
            let rows = self.rows(space).drain();
            self.rows_serve &= !Rows::are_too_many(&rows);
            for row in rows {
                for lane in 0..row.lanes {
                    // No two rows write the same cell, so that no value is asked for.
                    let written = row.writes.then_some((0, 0));
                    self.find_conflicts(space, row.array, row.cell(lane), &row.access(lane, clock), written);
                }
                self.read_row_early(&row);
            }
            // They have been reported.
            self.conflicts.clear();
        }
        self.end_rows();
    }

    /// Did a thread that has exited do anything that is in the rows?
    pub(crate) fn rows_of_exited(&self) -> bool {
        self.shared_rows.done().iter().chain(self.global_rows.done()).any(|row| {
            let (warp, lanes) = row.threads();
            lanes & !self.warps[warp].alive != 0
        })
    }

    /// What is in the rows is about to be settled: no write will race with what was read early.
    #[inline]
    pub(crate) fn settle_rows(&mut self) {
        if self.shared_rows.read_early() {
            for row in self.shared_rows.drain() {
                self.read_row_early(&row);
            }
        }
    }
}

/// What has to be the same for all of a row, besides its line and what follows from its lanes.
#[inline]
pub(crate) fn kind<T>(writes: bool, buffer: usize) -> usize {
    kind_of(size_of::<T>(), writes, buffer)
}

/// As [`kind`], of a cell of so many bytes.
#[inline]
fn kind_of(size: usize, writes: bool, buffer: usize) -> usize {
    buffer << 8 | size << 1 | usize::from(writes)
}
