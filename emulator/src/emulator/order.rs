//! Happens-before inside one block: the one place that knows it.
//!
//! Every thread has a clock that its synchronisations advance. An access carries its thread's clock.
//! A block barrier puts everything its participants did before everything that comes after it
//! (`passed`); `sync_warp` does the same between the lanes it names, and chains (`seen`). A thread
//! that has exited takes part in neither, so nothing ever orders what it did last.
//!
//! Sources: CUDA Programming Guide, "Synchronization Functions" (`__syncthreads`, `__syncwarp`); PTX
//! ISA, `bar.sync` and `exit`.

#[cfg(test)]
mod tests;

use super::nest::NestId;
use super::site::Site;

/// A point in the synchronisations of one thread. Clocks go on rising from block to block, so that
/// what an earlier block left behind is always older than `Clocks::base`.
pub(crate) type Clock = u32;

/// Lanes in a warp, on every NVIDIA GPU so far.
pub(crate) const WARP: usize = 32;

/// One access to one cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) site: Site,
    pub(crate) nest: NestId,
    pub(crate) clock: Clock,
    pub(crate) thread: u16,
    /// The thread wrote different values under this clock.
    varied: bool,
}

impl Access {
    pub(crate) fn new(site: Site, nest: NestId, clock: Clock, thread: u16) -> Self {
        Self { site, nest, clock, thread, varied: false }
    }
}

/// The clocks of the threads of the block that is running.
#[derive(Debug)]
pub(crate) struct Clocks {
    base: Clock,
    latest: Clock,
    /// Each thread's clock.
    now: Vec<Clock>,
    /// For each thread, the last clock that a block barrier has put before everything to come.
    passed: Vec<Clock>,
    /// For each thread, what `sync_warp` has put before it, lane by lane of its own warp.
    seen: Vec<[Clock; WARP]>,
    warp_synced: bool,
}

impl Clocks {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            base: 1,
            latest: 1,
            now: vec![1; threads],
            passed: vec![0; threads],
            seen: Vec::new(),
            warp_synced: false,
        }
    }

    /// A new block begins. Returns false if the clocks are used up: the caller has to forget all cells
    /// and start over with new clocks.
    pub(crate) fn begin_block(&mut self) -> bool {
        let Some(base) = self.latest.checked_add(1).filter(|&base| base < Clock::MAX / 2) else {
            return false;
        };
        self.base = base;
        self.latest = base;
        self.now.fill(base);
        self.passed.fill(base - 1);
        self.warp_synced = false;
        true
    }

    #[inline]
    pub(crate) fn now(&self, thread: u16) -> Clock {
        self.now[thread as usize]
    }

    /// A block barrier completed; `participants` yields the threads that had not exited.
    pub(crate) fn block_barrier(&mut self, participants: impl Iterator<Item = u16>) {
        self.latest += 1;
        for thread in participants {
            let t = thread as usize;
            self.passed[t] = self.now[t];
            self.now[t] += 1;
            if self.warp_synced {
                let first = t / WARP * WARP;
                let warp = &mut self.passed[first..];
                for (passed, &seen) in warp.iter_mut().zip(&self.seen[t]) {
                    *passed = seen.max(*passed);
                }
            }
        }
    }

    /// A `sync_warp` completed between these lanes of `warp`, none of which has exited.
    pub(crate) fn warp_barrier(&mut self, warp: usize, lanes: u32) {
        if self.seen.is_empty() {
            self.seen = vec![[0; WARP]; self.now.len()];
        }
        self.warp_synced = true;
        self.latest += 1;
        let members = || (0..WARP).filter(move |lane| lanes >> lane & 1 == 1);
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
    }

    /// A block barrier has put this access before everything that is still to come in the block, or
    /// it was made in an earlier block.
    #[inline]
    fn settled(&self, access: &Access) -> bool {
        access.clock <= self.passed[access.thread as usize]
    }

    /// This access happens before whatever `thread` does now.
    #[inline]
    pub(crate) fn before(&self, access: &Access, thread: u16) -> bool {
        self.settled(access) || access.thread == thread || self.seen_in_warp(access, thread)
    }

    #[inline]
    fn seen_in_warp(&self, access: &Access, thread: u16) -> bool {
        let (by, me) = (access.thread as usize, thread as usize);
        self.warp_synced && by / WARP == me / WARP && access.clock <= self.seen[me][by % WARP]
    }

    /// The access was made in the block that is running.
    #[inline]
    fn current(&self, access: &Access) -> bool {
        access.clock >= self.base
    }
}

/// An earlier access that nothing orders before the present one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conflict {
    pub(crate) earlier: Access,
    pub(crate) earlier_writes: bool,
    /// Both wrote the same value.
    pub(crate) same_value: bool,
    /// Counts towards the bytes. Each pair of a read and a write counts; a write counts once against
    /// all earlier writes, so that N writers of one cell make N - 1 hazards.
    pub(crate) counts: bool,
}

const NONE: u32 = u32::MAX;

/// What is known of one cell: its last write and its last read, and behind them every other access
/// that no block barrier has settled yet.
#[derive(Clone, Copy, Debug)]
struct Cell {
    write: Access,
    read: Access,
    more_writes: u32,
    more_reads: u32,
}

#[derive(Clone, Copy, Debug)]
struct More {
    access: Access,
    value: Option<u64>,
    next: u32,
}

/// The cells of one array or buffer, as far as the order of accesses to them goes.
#[derive(Debug)]
pub(crate) struct Shadow {
    cells: Vec<Cell>,
    more: Vec<More>,
}

impl Shadow {
    pub(crate) fn new(cells: usize) -> Self {
        let mut shadow = Self { cells: Vec::new(), more: Vec::new() };
        shadow.resize(cells);
        shadow
    }

    /// Makes room for this many cells; new ones are untouched.
    pub(crate) fn resize(&mut self, cells: usize) {
        let never = Access::new(Site::here(), NestId::ROOT, 0, 0);
        self.cells.resize(cells, Cell { write: never, read: never, more_writes: NONE, more_reads: NONE });
    }

    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    pub(crate) fn begin_block(&mut self) {
        self.more.clear();
    }

    /// Forgets cell `index`, whose place is given to another cell.
    #[inline]
    pub(crate) fn forget(&mut self, index: usize) {
        let cell = &mut self.cells[index];
        cell.write.clock = 0;
        cell.read.clock = 0;
        cell.more_writes = NONE;
        cell.more_reads = NONE;
    }

    /// Was the cell written in the block that is running?
    #[inline]
    pub(crate) fn written(&self, clocks: &Clocks, index: usize) -> bool {
        clocks.current(&self.cells[index].write)
    }

    /// Records a read and reports every write that is not ordered before it.
    #[inline]
    pub(crate) fn read(
        &mut self,
        clocks: &Clocks,
        index: usize,
        by: Access,
        report: &mut impl FnMut(Conflict),
    ) {
        let cell = &mut self.cells[index];
        if cell.more_writes != NONE || cell.more_reads != NONE {
            Self::drop_stale(clocks, cell);
        }
        if !clocks.before(&cell.write, by.thread) {
            report(Conflict { earlier: cell.write, earlier_writes: true, same_value: false, counts: true });
        }
        for more in list(&self.more, cell.more_writes) {
            if !clocks.before(&more.access, by.thread) {
                report(Conflict {
                    earlier: more.access,
                    earlier_writes: true,
                    same_value: false,
                    counts: true,
                });
            }
        }
        let replaces = cell.read.thread == by.thread && cell.read.clock == by.clock;
        if !replaces && !clocks.settled(&cell.read) {
            keep(&mut self.more, &mut cell.more_reads, cell.read, None);
        }
        cell.read = by;
    }

    /// Records a write of `value` over `old` and reports every access that is not ordered before it.
    /// A value is `None` where it is not known; it then counts as different.
    #[inline]
    pub(crate) fn write(
        &mut self,
        clocks: &Clocks,
        index: usize,
        mut by: Access,
        value: Option<u64>,
        old: Option<u64>,
        report: &mut impl FnMut(Conflict),
    ) {
        let cell = &mut self.cells[index];
        if cell.more_writes != NONE || cell.more_reads != NONE {
            Self::drop_stale(clocks, cell);
        }
        let same = |other: Option<u64>, varied: bool| !varied && value.is_some() && value == other;
        let mut counted = false;
        if !clocks.before(&cell.write, by.thread) {
            let same_value = same(old, cell.write.varied);
            report(Conflict { earlier: cell.write, earlier_writes: true, same_value, counts: true });
            counted = true;
        }
        for more in list(&self.more, cell.more_writes) {
            if !clocks.before(&more.access, by.thread) {
                let same_value = same(more.value, more.access.varied);
                report(Conflict { earlier: more.access, earlier_writes: true, same_value, counts: !counted });
                counted = true;
            }
        }
        if !clocks.before(&cell.read, by.thread) {
            report(Conflict { earlier: cell.read, earlier_writes: false, same_value: false, counts: true });
        }
        for more in list(&self.more, cell.more_reads) {
            if !clocks.before(&more.access, by.thread) {
                report(Conflict {
                    earlier: more.access,
                    earlier_writes: false,
                    same_value: false,
                    counts: true,
                });
            }
        }
        if cell.write.thread == by.thread && cell.write.clock == by.clock {
            by.varied = cell.write.varied || !same(old, false);
        } else if !clocks.settled(&cell.write) {
            keep(&mut self.more, &mut cell.more_writes, cell.write, old);
        }
        cell.write = by;
    }

    /// Lists belong to the block whose accesses stand in the cell; those of an earlier block are gone.
    fn drop_stale(clocks: &Clocks, cell: &mut Cell) {
        if !clocks.current(&cell.write) && !clocks.current(&cell.read) {
            cell.more_writes = NONE;
            cell.more_reads = NONE;
        }
    }
}

fn list(more: &[More], first: u32) -> impl Iterator<Item = &More> {
    let mut next = first;
    std::iter::from_fn(move || {
        let item = more.get(next as usize)?;
        next = item.next;
        Some(item)
    })
}

/// Puts an access behind the cell, over an older one of the same thread and clock if there is one
/// near the head of the list (this bounds what a loop without a barrier can leave behind).
fn keep(more: &mut Vec<More>, head: &mut u32, access: Access, value: Option<u64>) {
    let mut at = *head;
    for _ in 0..WARP {
        let Some(item) = more.get_mut(at as usize) else { break };
        if item.access.thread == access.thread && item.access.clock == access.clock {
            let varied = item.access.varied || access.varied || item.value != value;
            *item = More { access: Access { varied, ..access }, value, next: item.next };
            return;
        }
        at = item.next;
    }
    more.push(More { access, value, next: *head });
    *head = u32::try_from(more.len() - 1).expect("fewer than 2^32 accesses between two barriers");
}
