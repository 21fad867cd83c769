//! Records what one block does: a [`BlockTrace`].

use rustc_hash::FxHashMap;

use crate::hazard::{Kind, Level};
use crate::order::Access;
use crate::place::Place;
use crate::site::Site;
use crate::trace::{BlockTrace, Event, Pair, What};

/// A value that is in memory only after the access is recorded: `*pointer = value` hands out a
/// reference, through which the thread writes before it does anything else.
#[derive(Debug)]
struct Pending {
    step: usize,
    at: usize,
    show: fn(usize) -> String,
}

/// Records the trace of the running block.
#[derive(Debug)]
pub struct Recorder {
    trace: BlockTrace,
    turn: u32,
    /// The steps at which each cell was accessed.
    accesses: FxHashMap<Place, Vec<usize>>,
    pending: Option<Pending>,
}

impl Recorder {
    /// For this block, linear in the grid, of so many threads.
    #[must_use]
    pub fn new(block: u64, threads: u32) -> Self {
        Self {
            trace: BlockTrace { block, threads, ..BlockTrace::default() },
            turn: 0,
            accesses: FxHashMap::default(),
            pending: None,
        }
    }

    /// The next turn of a warp begins.
    #[cold]
    pub fn next_turn(&mut self) {
        self.turn += 1;
    }

    /// Something that this thread does here, other than an access.
    #[cold]
    pub fn push(&mut self, thread: u16, site: impl Into<Option<Site>>, what: What) {
        self.settle();
        self.trace.events.push(Event { turn: self.turn, thread: u32::from(thread), site: site.into(), what });
    }

    /// An access, before its conflicts are told; a value of a read is that of a cell that has been written.
    pub fn access(&mut self, by: Access, place: Place, value: Option<String>, trips: Vec<u32>) {
        let what = What::Access { place: place.clone(), writes: by.writes(), value, trips };
        self.push(by.thread(), by.site, what);
        self.accesses.entry(place).or_default().push(self.trace.events.len() - 1);
    }

    /// The value of the access just recorded can be read at `at` once the thread has gone on.
    #[cold]
    pub fn value_follows(&mut self, at: usize, show: fn(usize) -> String) {
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
    pub fn pair(&mut self, (kind, level): (Kind, Level), place: &Place, (first, second): (&Access, &Access)) {
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

    /// The block is over.
    #[must_use]
    pub fn finish(mut self) -> BlockTrace {
        self.settle();
        self.trace
    }
}
