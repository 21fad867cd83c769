//! What the running thread does to memory.
//!
//! As long as the block keeps rows, an access is little more than a look at whether it goes on with the last one's.

use race::order::{Access, Plain};
use race::{FaultKind, Site, Space};

use super::block::{Block, Engine, Stepped, stop, suspend, with};
use super::global::show;
use super::judging::kind;
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
}
