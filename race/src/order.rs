//! Happens-before inside one block: the one place that knows it.
//!
//! Every thread has a clock that its synchronisations advance. An access carries its thread's clock.
//! A block barrier puts everything its participants did before everything that comes after it
//! (`passed`); `sync_warp` does the same between the lanes it names, and chains (`seen`). A thread
//! that has exited takes part in neither, so nothing ever orders what it did last.
//!
//! Sources: CUDA Programming Guide, "Synchronization Functions" (`__syncthreads`, `__syncwarp`); PTX
//! ISA, `bar.sync` and `exit`.

mod rows;
#[cfg(test)]
mod tests;

pub use rows::{Row, Rows};

use crate::limits::WARP;
use crate::nest::NestId;
use crate::site::Site;

/// A point in the synchronisations of one thread. Clocks go on rising from block to block, so that
/// what an earlier block left behind is always older than `Clocks::base`.
pub type Clock = u32;

/// One access to one cell.
///
/// In whole words: an access is copied right after it was made, and a processor cannot hand on to a wide
/// load what it has just stored in narrow pieces.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Where in the source.
    pub site: Site,
    /// The clock above the number of the path.
    when: u64,
    /// The thread, doubled; plus one if it writes.
    who: u64,
}

impl Access {
    /// By this thread at its present clock, on this path.
    #[inline]
    #[must_use]
    pub fn new(site: Site, nest: NestId, clock: Clock, thread: u16, writes: bool) -> Self {
        let when = u64::from(clock) << 32 | u64::from(nest.number());
        Self { site, when, who: u64::from(thread) << 1 | u64::from(writes) }
    }

    /// The path.
    #[inline]
    #[must_use]
    pub fn nest(&self) -> NestId {
        NestId::from_number(self.when as u32)
    }

    /// The thread's clock.
    #[inline]
    #[must_use]
    pub fn clock(&self) -> Clock {
        (self.when >> 32) as Clock
    }

    /// The thread, linear in its block.
    #[inline]
    #[must_use]
    pub fn thread(&self) -> u16 {
        (self.who >> 1) as u16
    }

    /// Whether it writes.
    #[inline]
    #[must_use]
    pub fn writes(&self) -> bool {
        self.who & 1 == 1
    }
}

/// The clocks of the threads of the block that is running.
#[derive(Debug)]
pub struct Clocks {
    base: Clock,
    latest: Clock,
    /// Accesses from before this clock are settled, whichever thread made them: a short cut past `passed`.
    floor: Clock,
    /// Each thread's clock.
    now: Vec<Clock>,
    /// For each thread, the last clock that a block barrier has put before everything to come.
    passed: Vec<Clock>,
    /// For each thread, what `sync_warp` has put before it, lane by lane of its own warp.
    seen: Vec<[Clock; WARP]>,
    /// For each thread, the last clock that `sync_warp` has put before every lane of its warp that
    /// lives.
    seen_by_all: Vec<Clock>,
    warp_synced: bool,
}

impl Clocks {
    /// For blocks of so many threads. Before the first, [`begin_block`](Self::begin_block) has to be called.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Self {
            base: 1,
            latest: 1,
            floor: 1,
            now: vec![1; threads],
            passed: vec![0; threads],
            seen: Vec::new(),
            seen_by_all: Vec::new(),
            warp_synced: false,
        }
    }

    /// A new block begins. Returns false if the clocks are used up: the caller has to forget all cells
    /// and start over with new clocks.
    #[must_use]
    pub fn begin_block(&mut self) -> bool {
        let Some(base) = self.latest.checked_add(1).filter(|&base| base < Clock::MAX / 2) else {
            return false;
        };
        self.base = base;
        self.latest = base;
        self.floor = base;
        self.now.fill(base);
        self.passed.fill(base - 1);
        self.warp_synced = false;
        true
    }

    /// The clock of this thread.
    #[inline]
    #[must_use]
    pub fn now(&self, thread: u16) -> Clock {
        self.now[thread as usize]
    }

    /// The first clock of the running block.
    #[inline]
    #[must_use]
    pub fn base(&self) -> Clock {
        self.base
    }

    /// Each thread's clock, if there was neither a `sync_warp` nor a block barrier without some thread.
    #[inline]
    #[must_use]
    pub fn common(&self) -> Clock {
        self.floor
    }

    /// A block barrier completed; `participants` yields the threads that had not exited. If they were `all`, or the
    /// others have done nothing that is not settled, everything is.
    pub fn block_barrier(&mut self, all: bool, participants: impl Iterator<Item = u16>) {
        self.latest += 1;
        if all && !self.warp_synced {
            // So it was at every barrier before: all clocks are the same.
            self.passed.copy_from_slice(&self.now);
            self.floor = self.now[0] + 1;
            self.now.fill(self.floor);
            return;
        }
        let (mut came, mut floor) = (0, Clock::MAX);
        for thread in participants {
            let t = thread as usize;
            self.passed[t] = self.now[t];
            self.now[t] += 1;
            (came, floor) = (came + 1, floor.min(self.now[t]));
            if self.warp_synced {
                let first = t / WARP * WARP;
                let warp = &mut self.passed[first..];
                for (passed, &seen) in warp.iter_mut().zip(&self.seen[t]) {
                    *passed = seen.max(*passed);
                }
            }
        }
        if came == self.now.len() {
            self.floor = floor;
        }
    }

    /// A `sync_warp` completed between these lanes of `warp`; `alive` are those that have not exited.
    pub fn warp_barrier(&mut self, warp: usize, lanes: u32, alive: u32) {
        if self.seen.is_empty() {
            self.seen = vec![[0; WARP]; self.now.len()];
            self.seen_by_all = vec![0; self.now.len()];
        }
        self.warp_synced = true;
        self.latest += 1;
        let of = |set: u32| (0..WARP).filter(move |lane| set >> lane & 1 == 1);
        let members = || of(lanes);
        let mut joined = [0; WARP];
        for lane in members() {
            let t = warp * WARP + lane;
            for (joined, &seen) in joined.iter_mut().zip(&self.seen[t]) {
                *joined = seen.max(*joined);
            }
            joined[lane] = self.now[t];
        }
        for lane in members() {
            let t = warp * WARP + lane;
            self.seen[t] = joined;
            self.now[t] += 1;
        }
        let mut by_all = [Clock::MAX; WARP];
        for lane in of(alive) {
            for (by_all, &seen) in by_all.iter_mut().zip(&self.seen[warp * WARP + lane]) {
                *by_all = seen.min(*by_all);
            }
        }
        for (known, by_all) in self.seen_by_all[warp * WARP..].iter_mut().zip(by_all) {
            *known = by_all;
        }
    }

    /// A block barrier has put this access before everything that is still to come in the block, or
    /// it was made in an earlier block.
    #[inline]
    fn settled(&self, access: &Access) -> bool {
        access.clock() < self.floor || access.clock() <= self.passed[access.thread() as usize]
    }

    /// This access happens before whatever `thread` does now.
    #[inline]
    #[must_use]
    pub fn before(&self, access: &Access, thread: u16) -> bool {
        self.settled(access) || access.thread() == thread || self.seen_in_warp(access, thread)
    }

    #[inline]
    fn seen_in_warp(&self, access: &Access, thread: u16) -> bool {
        let (by, me) = (access.thread() as usize, thread as usize);
        self.warp_synced && by / WARP == me / WARP && access.clock() <= self.seen[me][by % WARP]
    }

    /// Two accesses by one thread that everything to come stands in the same order to: no
    /// synchronisation came between them, or one that the whole warp has seen, so that only the next
    /// block barrier can still order them before anything.
    #[inline]
    fn alike(&self, a: &Access, b: &Access) -> bool {
        let by_all = |access: &Access| access.clock() <= self.seen_by_all[access.thread() as usize];
        a.thread() == b.thread() && (a.clock() == b.clock() || (self.warp_synced && by_all(a) && by_all(b)))
    }

    /// The access was made in the block that is running.
    #[inline]
    fn current(&self, access: &Access) -> bool {
        access.clock() >= self.base
    }
}

/// An earlier access that nothing orders before the present one.
#[derive(Clone, Copy, Debug)]
pub struct Conflict {
    /// The earlier access, of which there may be several.
    pub earlier: Access,
    /// Like accesses by the same thread since this clock conflict too.
    pub since: Clock,
    /// Both wrote the same value.
    pub same_value: bool,
    /// How often it counts. Each pair of a read and a write does; a write counts once against all
    /// earlier writes, so that N writers of one cell make N - 1 hazards.
    pub times: u32,
}

/// What is known of one cell: its last write and its last read, and behind them the other accesses
/// that no block barrier has settled yet.
#[derive(Clone, Copy, Debug)]
struct Cell {
    write: Access,
    read: Access,
    /// Where in `Shadow::more`, or `NONE`.
    more: u32,
}

const NONE: u32 = u32::MAX;

/// The unsettled accesses to one cell behind the last write and the last read.
#[derive(Debug, Default)]
struct More {
    writes: Vec<Group>,
    reads: Vec<Group>,
}

/// Accesses to one cell by one thread from one line, alike as far as order goes. The first and the last
/// trip are enough to know every kind of hazard; this bounds what a loop without a barrier leaves.
#[derive(Clone, Copy, Debug)]
struct Group {
    first: Access,
    last: Access,
    times: u32,
    /// What was written, if it is always the same.
    value: Option<u64>,
}

impl Group {
    /// Reports these accesses, of which none is ordered before the present one.
    fn report(&self, same_value: bool, times: u32, to: &mut Vec<Conflict>) {
        let since = self.first.clock();
        let mut report = |earlier, times| to.push(Conflict { earlier, since, same_value, times });
        if self.first.nest() == self.last.nest() {
            report(self.last, times);
        } else {
            report(self.first, times.min(1));
            report(self.last, times.saturating_sub(1));
        }
    }
}

/// How an access stands to those before it that it may conflict with, if that is plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plain {
    /// All of them happen before it.
    Ordered,
    /// All but one: a read races with the last write, or a write with the last read.
    Races,
    /// It takes a closer look; nothing is recorded yet.
    No,
}

impl Plain {
    /// If everything but `last` happens before what `thread` does now.
    #[inline]
    fn after(clocks: &Clocks, last: &Access, thread: u16) -> Self {
        if clocks.before(last, thread) { Self::Ordered } else { Self::Races }
    }
}

impl Conflict {
    /// With a single access.
    #[inline]
    fn with(earlier: Access, same_value: bool) -> Self {
        Self { earlier, since: earlier.clock(), same_value, times: 1 }
    }
}

/// The cells of one array or buffer, as far as the order of accesses to them goes.
#[derive(Debug)]
pub struct Shadow {
    cells: Vec<Cell>,
    more: Vec<More>,
    /// How many of `more` belong to cells of the running block.
    used: usize,
}

impl Shadow {
    /// So many cells, all untouched.
    #[must_use]
    pub fn new(cells: usize) -> Self {
        let mut shadow = Self { cells: Vec::new(), more: Vec::new(), used: 0 };
        shadow.resize(cells);
        shadow
    }

    /// Makes room for this many cells; new ones are untouched.
    pub fn resize(&mut self, cells: usize) {
        let never = Access::new(Site::here(), NestId::ROOT, 0, 0, false);
        self.cells.resize(cells, Cell { write: never, read: never, more: NONE });
    }

    /// How many cells there is room for.
    #[inline]
    #[must_use]
    pub fn cells(&self) -> usize {
        self.cells.len()
    }

    /// A new block begins. What the last one did is settled by the clocks; this only takes back the room for it.
    pub fn begin_block(&mut self) {
        self.used = 0;
    }

    /// What a [`Plain::Races`] of the access just recorded is with.
    #[inline]
    #[must_use]
    pub fn race(&self, index: usize, by: Access) -> Conflict {
        let cell = &self.cells[index];
        Conflict::with(if by.writes() { cell.read } else { cell.write }, false)
    }

    /// Records a read if it is plain how it stands to what was written: nearly always nothing stands behind
    /// the cell, and no block barrier has to order its last read any more.
    #[inline(always)]
    pub fn plain_read(&mut self, clocks: &Clocks, index: usize, by: Access) -> Plain {
        let cell = &mut self.cells[index];
        if cell.more != NONE || !clocks.settled(&cell.read) {
            return Plain::No;
        }
        cell.read = by;
        Plain::after(clocks, &cell.write, by.thread())
    }

    /// Records a read and finds every write that is not ordered before it.
    pub fn read(&mut self, clocks: &Clocks, index: usize, by: &Access, found: &mut Vec<Conflict>) {
        let cell = self.cells[index];
        if !clocks.before(&cell.write, by.thread()) {
            found.push(Conflict::with(cell.write, false));
        }
        if let Some(more) = self.more(clocks, index) {
            unsettled(&mut more.writes, clocks, by.thread(), |group| {
                group.report(false, group.times, found);
            });
        }
        if !clocks.settled(&cell.read) {
            keep(&mut self.more_mut(clocks, index).reads, clocks, cell.read, 0);
        }
        self.cells[index].read = *by;
    }

    /// Records a write if it is plain how it stands to what was read and written; as
    /// [`plain_read`](Self::plain_read).
    #[inline(always)]
    pub fn plain_write(&mut self, clocks: &Clocks, index: usize, by: Access) -> Plain {
        let cell = &mut self.cells[index];
        if cell.more != NONE || !clocks.settled(&cell.write) {
            return Plain::No;
        }
        cell.write = by;
        Plain::after(clocks, &cell.read, by.thread())
    }

    /// Records a write of `value` over `old` and finds every access that is not ordered before it.
    pub fn write(
        &mut self,
        clocks: &Clocks,
        index: usize,
        by: &Access,
        (value, old): (u64, u64),
        found: &mut Vec<Conflict>,
    ) {
        let cell = self.cells[index];
        let mut uncounted = 1;
        if !clocks.before(&cell.write, by.thread()) {
            found.push(Conflict::with(cell.write, value == old));
            uncounted = 0;
        }
        if !clocks.before(&cell.read, by.thread()) {
            found.push(Conflict::with(cell.read, false));
        }
        if let Some(more) = self.more(clocks, index) {
            unsettled(&mut more.writes, clocks, by.thread(), |group| {
                group.report(group.value == Some(value), std::mem::take(&mut uncounted), found);
            });
            unsettled(&mut more.reads, clocks, by.thread(), |group| {
                group.report(false, group.times, found);
            });
        }
        if !clocks.settled(&cell.write) {
            keep(&mut self.more_mut(clocks, index).writes, clocks, cell.write, old);
        }
        self.cells[index].write = *by;
    }

    /// What stands behind the cell. It belongs to the block whose accesses stand in the cell; what an
    /// earlier block left is gone.
    #[inline]
    fn more(&mut self, clocks: &Clocks, index: usize) -> Option<&mut More> {
        let cell = &mut self.cells[index];
        if cell.more == NONE {
            return None;
        }
        if !clocks.current(&cell.write) && !clocks.current(&cell.read) {
            cell.more = NONE;
            return None;
        }
        Some(&mut self.more[cell.more as usize])
    }

    /// As [`more`](Self::more), made if there is nothing.
    fn more_mut(&mut self, clocks: &Clocks, index: usize) -> &mut More {
        if self.more(clocks, index).is_none() {
            match self.more.get_mut(self.used) {
                Some(old) => {
                    old.writes.clear();
                    old.reads.clear();
                }
                None => self.more.push(More::default()),
            }
            self.cells[index].more = u32::try_from(self.used).expect("fewer than 2^32 cells");
            self.used += 1;
        }
        &mut self.more[self.cells[index].more as usize]
    }
}

/// Goes through the groups that `thread` is not ordered behind, and drops those that nothing ever will
/// conflict with again.
fn unsettled(groups: &mut Vec<Group>, clocks: &Clocks, thread: u16, mut each: impl FnMut(&Group)) {
    groups.retain(|group| {
        let settled = clocks.settled(&group.last);
        if !settled && !clocks.before(&group.last, thread) {
            each(group);
        }
        !settled
    });
}

/// Puts an access into its group.
fn keep(groups: &mut Vec<Group>, clocks: &Clocks, access: Access, value: u64) {
    groups.retain(|group| !clocks.settled(&group.last));
    let same = |group: &&mut Group| group.last.site == access.site && clocks.alike(&group.last, &access);
    match groups.iter_mut().find(same) {
        Some(group) => {
            group.last = access;
            group.times = group.times.saturating_add(1);
            group.value = group.value.filter(|&known| known == value);
        }
        None => groups.push(Group { first: access, last: access, times: 1, value: Some(value) }),
    }
}
