//! What one block did, event by event: the material for a picture.

use crate::hazard::{Kind, Level};
use crate::place::Place;
use crate::site::Site;

/// Everything that one block did, in the order in which it ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockTrace {
    /// The block, linear in the grid.
    pub block: u64,
    /// How many threads it has.
    pub threads: u32,
    /// What happened; an event's step is its position here.
    pub events: Vec<Event>,
    /// The accesses that nothing orders. For each line of [`Report::hazards`](crate::Report::hazards)
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
