//! What the running thread does to memory, and what the block makes of it.
//!
//! As long as it can, a block keeps rows ([`Rows`]): then an access is little more than a look at whether it goes on
//! with the row. Where rows do not tell all, or lanes differ, or the schedule is not lockstep, each access is judged
//! by what is known of its cell.

use std::num::NonZeroU32;

use super::block::{Block, Engine, Stepped, stop, suspend, with};
use super::findings::Memory;
use super::global::show;
use super::order::{Access, Conflict, Plain, Row, Rows};
use super::report::{FaultKind, Space};
use super::site::Site;
use super::value::CellValue;

/// What came of an access.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome {
    /// It was made.
    Made,
    /// The running thread's step is full: it is to be made in the next.
    Later,
    /// The block has been stopped.
    Stopped,
}

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

/// A write to global memory whose value the emulator has not seen yet: `*pointer = value` writes it
/// through a reference, right after it was handed out.
#[derive(Debug)]
pub(crate) struct Unsettled {
    buffer: usize,
    index: usize,
    /// If the write has to be judged: what made it, and what the element held before.
    judge: Option<(Access, u64)>,
}

/// Makes an access by the running thread, here. If its step is full, it ends first. (A thread that is a future
/// has seen to that itself; in an operator it cannot, and goes on.)
#[inline(always)]
pub(crate) fn access<R>(site: Site, make: impl Fn(&mut Block) -> (R, Outcome)) -> R {
    loop {
        match with(&make) {
            (made, Outcome::Made) => return made,
            (_, Outcome::Later) => next_step(site),
            (_, Outcome::Stopped) => stop(),
        }
    }
}

/// Ends the running thread's step. Not in the kernel itself, as a barrier's wait is: there are many accesses, and
/// the compiler takes its time over a switch of stacks.
#[inline(never)]
fn next_step(site: Site) {
    if with(|block| block.engine) != Engine::Fibers {
        stop();
    }
    suspend(site);
}

impl Block {
    /// Is the running thread's step, if it does not see to that itself, too full for this?
    #[inline]
    fn waits_before(&mut self, access: Stepped) -> bool {
        self.engine != Engine::Futures && !self.takes(access)
    }

    fn outcome(&self) -> Outcome {
        if self.faulted { Outcome::Stopped } else { Outcome::Made }
    }

    /// Writes the cell of this slot.
    #[inline(never)]
    pub(crate) fn slot_write<T: CellValue>(&mut self, address: usize, value: T, site: Site) -> Outcome {
        if self.waits_before(Stepped::Shared) {
            return Outcome::Later;
        }
        let kind = kind::<T>(true, 0);
        if let Some((array, cell, lane)) = self.shared_rows.go_on(address, kind, self.current, site) {
            let old = self.shared.array(array).replace(cell, value);
            self.shared_rows.writes_over(lane, old.bits());
            return Outcome::Made;
        }
        self.slot_write_in_full(address, value, site)
    }

    #[inline(never)]
    fn slot_write_in_full<T: CellValue>(&mut self, address: usize, value: T, site: Site) -> Outcome {
        let Some((array, index)) = self.locate::<T>(address, site) else {
            return self.copy_write(site);
        };
        if !self.checks {
            self.shared.array(array).replace(index, value);
            return self.outcome();
        }
        let by = self.access(site, true);
        let len = self.shared.array(array).len();
        let lane = self.start_row(Space::Shared, (address, size_of::<T>()), (array, index, len), &by);
        if self.findings.trace.is_some() {
            let place = self.shared.array(array).memory().place(index as u64);
            self.trace_access(site, true, place, Some(value));
        }
        let cells = self.shared.array(array);
        let old = cells.replace(index, value);
        if let Some(lane) = lane {
            self.shared_rows.writes_over(lane, old.bits());
            return Outcome::Made;
        }
        cells.set_written_at(&self.clocks, index);
        match cells.shadow.plain_write(&self.clocks, index, by) {
            Plain::Ordered => {}
            Plain::Races => self.race_on_slot(array, index, site, true),
            Plain::No => self.judge_slot(array, index, site, Some((value.bits(), old.bits()))),
        }
        self.outcome()
    }

    #[cold]
    fn copy_write(&mut self, site: Site) -> Outcome {
        if !self.faulted {
            let by = self.access(site, true);
            self.findings.lost_write(&self.nests, self.linear, by);
        }
        self.outcome()
    }

    /// Reads the cell of this slot; a cell that nothing has written in this block holds poison.
    #[inline(never)]
    pub(crate) fn slot_read<T: CellValue>(&mut self, address: usize, site: Site) -> (T, Outcome) {
        if self.waits_before(Stepped::Shared) {
            return (T::POISON, Outcome::Later);
        }
        let kind = kind::<T>(false, 0);
        if let Some((array, cell, lane)) = self.shared_rows.go_on(address, kind, self.current, site) {
            let cells = self.shared.array(array);
            if cells.is_written(&self.clocks, cell) {
                return (cells.get(cell), Outcome::Made);
            }
            self.shared_rows.reads_early(lane);
            return (T::POISON, Outcome::Made);
        }
        self.slot_read_in_full(address, site)
    }

    #[inline(never)]
    fn slot_read_in_full<T: CellValue>(&mut self, address: usize, site: Site) -> (T, Outcome) {
        let Some((array, index)) = self.locate::<T>(address, site) else {
            return (T::POISON, self.copy_read(site));
        };
        if !self.checks {
            return (self.shared.array(array).get(index), self.outcome());
        }
        let by = self.access(site, false);
        let len = self.shared.array(array).len();
        let lane = self.start_row(Space::Shared, (address, size_of::<T>()), (array, index, len), &by);
        let cells = self.shared.array(array);
        let written = cells.is_written(&self.clocks, index);
        let value = if written { cells.get(index) } else { T::POISON };
        if let Some(lane) = lane {
            if !written {
                self.shared_rows.reads_early(lane);
            }
            return (value, Outcome::Made);
        }
        if self.findings.trace.is_some() {
            let place = cells.memory().place(index as u64);
            self.trace_access(site, false, place, written.then_some(value));
        }
        match self.shared.array(array).shadow.plain_read(&self.clocks, index, by) {
            Plain::Ordered => {}
            Plain::Races => self.race_on_slot(array, index, site, false),
            Plain::No => self.judge_slot(array, index, site, None),
        }
        if !written {
            self.read_early(array, index, by);
        }
        (value, self.outcome())
    }

    /// Which cell the copy was taken of is not known any more, nor when.
    #[cold]
    fn copy_read(&mut self, site: Site) -> Outcome {
        if !self.faulted {
            self.fault(FaultKind::CopyRead, site);
        }
        Outcome::Stopped
    }

    /// The access just made races with one other.
    #[inline(never)]
    fn race_on_slot(&mut self, array: usize, index: usize, site: Site, writes: bool) {
        let by = self.access(site, writes);
        let cells = self.shared.array(array);
        let (memory, conflict) = (cells.memory(), cells.shadow.race(index, by));
        if writes {
            self.race_early_reads(array, index, &conflict);
        }
        self.report(memory, index, &by, &conflict);
    }

    #[inline(never)]
    fn judge_slot(&mut self, array: usize, index: usize, site: Site, written: Option<(u64, u64)>) {
        let by = self.access(site, written.is_some());
        self.judge_by_cell(Space::Shared, array, index, &by, written);
    }

    /// Which shared array and which cell of it this slot is. `None` for a copy of a slot, or after a fault.
    #[inline]
    fn locate<T>(&mut self, address: usize, site: Site) -> Option<(usize, usize)> {
        match self.shared.locate::<T>(address) {
            None => self.first_use::<T>(address, site),
            found => found,
        }
    }

    #[cold]
    fn first_use<T>(&mut self, address: usize, site: Site) -> Option<(usize, usize)> {
        match self.shared.first_use(address) {
            Ok(true) => self.shared.locate::<T>(address),
            Ok(false) => None,
            Err(bytes) => {
                self.fault(FaultKind::SharedMemory { bytes }, site);
                None
            }
        }
    }

    /// Nothing has written the cell yet.
    #[inline(never)]
    fn read_early(&mut self, array: usize, index: usize, access: Access) {
        if self.judging {
            let last = &mut self.shared.array(array).early_reads[index];
            self.early_reads.push(EarlyRead { array, index, access, before: *last, raced: false });
            *last = u32::try_from(self.early_reads.len()).ok().and_then(NonZeroU32::new);
        }
    }

    /// The write at hand conflicts with this: if it is an early read of the cell, it was not uninitialised.
    fn race_early_reads(&mut self, array: usize, index: usize, conflict: &Conflict) {
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

    /// Records an access to an element of a global buffer; a write is about to be made.
    #[inline(never)]
    pub(crate) fn global_access<T: CellValue>(
        &mut self,
        buffer: usize,
        at: *mut T,
        writes: bool,
        site: Site,
    ) -> Outcome {
        if self.waits_before(if writes { Stepped::GlobalWrite } else { Stepped::GlobalRead }) {
            return Outcome::Later;
        }
        let kind = kind::<T>(writes, buffer);
        if let Some((_, _, lane)) = self.global_rows.go_on(at.addr(), kind, self.current, site) {
            if writes {
                // SAFETY: the row reaches no further than its buffer, which is lent to this launch.
                let old = unsafe { T::load(at) };
                self.global_rows.writes_over(lane, old.bits());
            }
            return Outcome::Made;
        }
        self.global_access_in_full(buffer, at, writes, site)
    }

    #[inline(never)]
    fn global_access_in_full<T: CellValue>(
        &mut self,
        buffer: usize,
        at: *mut T,
        writes: bool,
        site: Site,
    ) -> Outcome {
        let Some(index) = self.global.index_of(buffer, at) else {
            let outside = self.global.outside(buffer, at.addr());
            self.fault(outside, site);
            return Outcome::Stopped;
        };
        if !self.checks {
            return Outcome::Made;
        }
        self.settle_write();
        let by = self.access(site, writes);
        let len = self.global.buffers[buffer].len;
        let access = (at.addr(), size_of::<T>());
        if let Some(lane) = self.start_row(Space::Global, access, (buffer, index, len), &by) {
            if writes {
                self.global_rows.writes_over(lane, self.global.bits(buffer, index));
            }
            return Outcome::Made;
        }
        let memory = self.global.memory(buffer);
        if self.findings.trace.is_some() {
            self.trace_access(site, writes, memory.place(index as u64), None::<u64>);
            if let Some(trace) = &mut self.findings.trace {
                trace.value_follows(at.expose_provenance(), show::<T>);
            }
        }
        self.global.grid.access(buffer, index, by);
        let Self { global, clocks, conflicts, .. } = self;
        let slot = global.touch(buffer, index);
        let shadow = &mut global.shadow;
        let mut judge = None;
        match if writes { shadow.plain_write(clocks, slot, by) } else { shadow.plain_read(clocks, slot, by) }
        {
            Plain::Ordered => {}
            Plain::Races => conflicts.push(shadow.race(slot, by)),
            Plain::No if writes => judge = Some((by, global.bits(buffer, index))),
            Plain::No => shadow.read(clocks, slot, &by, conflicts),
        }
        if judge.is_some() || (writes && global.grid.in_full()) {
            self.unsettled = Some(Unsettled { buffer, index, judge });
        }
        self.report_conflicts(memory, index, &by);
        Outcome::Made
    }

    /// Takes in the value of the last write to global memory, now that it is there. Has to come before the
    /// next access to global memory, and before the clock of the writing thread goes on.
    #[inline]
    pub(crate) fn settle_write(&mut self) {
        if self.unsettled.is_some() {
            self.settle();
        }
    }

    #[inline(never)]
    fn settle(&mut self) {
        let Some(Unsettled { buffer, index, judge }) = self.unsettled.take() else { return };
        let value = self.global.bits(buffer, index);
        self.global.grid.wrote(index, value);
        if let Some((by, old)) = judge {
            self.judge_by_cell(Space::Global, buffer, index, &by, Some((value, old)));
        }
    }

    /// Judges an access by what is known of its cell. Of a write, `written` is the value and what it was written
    /// over.
    fn judge_by_cell(
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

    /// Reports the conflicts that the access `by` to this place has just been found to have.
    fn report_conflicts(&mut self, memory: Memory, index: usize, by: &Access) {
        let mut conflicts = std::mem::take(&mut self.conflicts);
        for conflict in conflicts.drain(..) {
            self.report(memory, index, by, &conflict);
        }
        self.conflicts = conflicts;
    }

    fn report(&mut self, memory: Memory, index: usize, by: &Access, conflict: &Conflict) {
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

/// Rows.
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
    fn start_row(
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
        for meeting in &meetings {
            let (lane, other) = meeting.first;
            let earlier = meeting.earlier.access(other, clock);
            let conflict = Conflict { earlier, since: clock, same_value: false, times: meeting.times };
            let memory = self.memory(space, row.array);
            self.report(memory, row.cell(lane), &row.access(lane, clock), &conflict);
        }
        self.rows(space).give_back(meetings);
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
        let rows = self.shared_rows.done().iter().chain(self.global_rows.done());
        let out = |row: &Row| {
            let (warp, lanes) = row.threads();
            lanes & !self.warps[warp].alive != 0
        };
        rows.into_iter().any(out)
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

#[inline]
fn kind<T>(writes: bool, buffer: usize) -> usize {
    kind_of(size_of::<T>(), writes, buffer)
}

/// What has to be the same for all of a row, in one number.
#[inline]
fn kind_of(size: usize, writes: bool, buffer: usize) -> usize {
    buffer << 8 | size << 1 | usize::from(writes)
}
