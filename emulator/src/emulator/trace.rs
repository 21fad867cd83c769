//! What one block did, event by event: the material for a picture.
//!
//! A launch records a trace only if it is asked to ([`Launch::trace`](super::Launch::trace)). Where it
//! is not, each place that could record one asks once whether there is a recorder.

use rustc_hash::FxHashMap;

use super::block::Block;
use super::order::Access;
use super::report::{Kind, Level, Place};
use super::schedule::threads;
use super::site::Site;
use super::value::CellValue;

/// Everything that one block did, in the order in which the emulator ran it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockTrace {
    /// The block, linear in the grid.
    pub block: u64,
    /// How many threads it has.
    pub threads: u32,
    /// What happened; an event's step is its position here.
    pub events: Vec<Event>,
    /// The accesses that nothing orders. For each line of [`Report::hazards`](super::Report::hazards)
    /// that lies within this block, the first pair here is the one that line names, if this is the
    /// lowest block that has one.
    pub pairs: Vec<Pair>,
}

/// One thing that a thread did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The turn of a warp in which it happened, from 0. In one turn each lane that has its turn makes
    /// at most one access that other threads can see.
    pub turn: u32,
    /// The thread, linear in its block.
    pub thread: u32,
    /// Where in the source; an exit has no place.
    pub site: Option<Site>,
    /// What.
    pub what: What,
}

/// What a thread can do that other threads of the block may notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A read or a write of a cell of shared or global memory. Slices that a kernel only reads are no
    /// cells: nothing can write them.
    Access {
        /// The cell.
        place: Place,
        /// Whether it writes.
        writes: bool,
        /// The value read or written; `None` for a read of a cell that nothing had written yet.
        value: Option<String>,
        /// The trips of the loops around, outermost first.
        trips: Vec<u32>,
    },
    /// Arrives at the block barrier and waits.
    Arrive,
    /// Lets the block barrier go, as the last to arrive or by exiting.
    Release {
        /// The threads that waited and go on.
        participants: Vec<u32>,
        /// Whether this barrier orders anything: it is legal, and so was every one before it.
        orders: bool,
    },
    /// Arrives at a `sync_warp` and waits.
    ArriveWarp,
    /// Lets a `sync_warp` go.
    ReleaseWarp {
        /// The threads that waited and go on.
        participants: Vec<u32>,
    },
    /// Comes to the end of the kernel, or returns.
    Exit,
}

/// Two accesses to one cell that nothing orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Which comes first in the program as written.
    pub kind: Kind,
    /// How bad it is.
    pub level: Level,
    /// The step of the access that comes first in the program.
    pub first: usize,
    /// The step of the other one.
    pub second: usize,
}

/// A value that is in memory only after the access is recorded: `*pointer = value` hands out a
/// reference, through which the thread writes before it does anything else.
#[derive(Debug)]
struct Pending {
    step: usize,
    at: usize,
    show: fn(usize) -> String,
}

impl Block {
    /// Records an access by the running thread, before anything is said about its conflicts.
    #[cold]
    #[inline(never)]
    pub(crate) fn trace_access<T: CellValue>(
        &mut self,
        site: Site,
        writes: bool,
        place: Place,
        value: Option<T>,
    ) {
        let by = self.access(site, writes);
        let Some(trace) = &mut self.findings.trace else { return };
        let value = value.map(|value| value.to_string());
        trace.access(by, place, value, self.nests.trips(by.nest()));
    }

    /// Records that the block barrier lets those go who wait at it.
    #[cold]
    #[inline(never)]
    pub(crate) fn trace_release(&mut self, site: Site) {
        let Some(trace) = &mut self.findings.trace else { return };
        let warps = self.warps.iter().enumerate();
        let participants = warps.flat_map(|(number, warp)| threads(number, warp.at_barrier)).map(u32::from);
        let what = What::Release { participants: participants.collect(), orders: self.judging };
        trace.push(self.current, site, what);
    }
}

/// Records the trace of the running block.
#[derive(Debug)]
pub(crate) struct Recorder {
    trace: BlockTrace,
    turn: u32,
    /// The steps at which each cell was accessed.
    accesses: FxHashMap<Place, Vec<usize>>,
    pending: Option<Pending>,
}

impl Recorder {
    pub(crate) fn new(block: u64, threads: u32) -> Self {
        Self {
            trace: BlockTrace { block, threads, ..BlockTrace::default() },
            turn: 0,
            accesses: FxHashMap::default(),
            pending: None,
        }
    }

    #[cold]
    pub(crate) fn next_turn(&mut self) {
        self.turn += 1;
    }

    #[cold]
    pub(crate) fn push(&mut self, thread: u16, site: impl Into<Option<Site>>, what: What) {
        self.settle();
        self.trace.events.push(Event { turn: self.turn, thread: u32::from(thread), site: site.into(), what });
    }

    fn access(&mut self, by: Access, place: Place, value: Option<String>, trips: Vec<u32>) {
        let what = What::Access { place: place.clone(), writes: by.writes(), value, trips };
        self.push(by.thread(), by.site, what);
        self.accesses.entry(place).or_default().push(self.trace.events.len() - 1);
    }

    /// The value of the access just recorded can be read at `at` once the thread has gone on.
    #[cold]
    pub(crate) fn value_follows(&mut self, at: usize, show: fn(usize) -> String) {
        let step = self.trace.events.len() - 1;
        self.pending = Some(Pending { step, at, show });
    }

    fn settle(&mut self) {
        let Some(Pending { step, at, show }) = self.pending.take() else { return };
        if let What::Access { value, .. } = &mut self.trace.events[step].what {
            *value = Some(show(at));
        }
    }

    /// Nothing orders these two accesses to a cell, of which the first comes first in the program as
    /// written. Each is the last of its kind: a cell too only remembers a thread's last access between
    /// two barriers.
    #[cold]
    pub(crate) fn pair(
        &mut self,
        (kind, level): (Kind, Level),
        place: &Place,
        (first, second): (&Access, &Access),
    ) {
        let events = &self.trace.events;
        let known = self.accesses.get(place).map_or(&[][..], Vec::as_slice);
        let step = |access: &Access| {
            let is_it = |&&step: &&usize| {
                let event = &events[step];
                event.thread == u32::from(access.thread())
                    && event.site == Some(access.site)
                    && matches!(event.what, What::Access { writes, .. } if writes == access.writes())
            };
            known.iter().rev().find(is_it).copied()
        };
        if let (Some(first), Some(second)) = (step(first), step(second)) {
            self.trace.pairs.push(Pair { kind, level, first, second });
        }
    }

    pub(crate) fn finish(mut self) -> BlockTrace {
        self.settle();
        self.trace
    }
}
