//! What a launch found, as data, for others to print.

use crate::hazard::{Hazard, Level, Party};
use crate::place::Place;
use crate::site::Site;
use crate::trace::BlockTrace;

/// A read of a shared cell that no write precedes and none races with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uninitialised {
    /// The cell of the first such read.
    pub place: Place,
    /// Who read it.
    pub by: Party,
    /// How many reads on this line.
    pub reads: u64,
}

/// A write to a copy of a slot, which is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostWrite {
    /// Who wrote.
    pub by: Party,
    /// How many writes on this line.
    pub writes: u64,
}

/// Why one thread of a block was not where a barrier needed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whereabouts {
    /// It waits at another barrier, or at the same one by another path or in another trip.
    Waits {
        /// That barrier.
        site: Site,
        /// The trips of the loops around it.
        trips: Vec<u32>,
    },
    /// It went past the barrier without waiting, and lived on.
    Skipped,
}

/// A block barrier that not all threads of the block reached, though they lived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The block in which it was met first.
    pub block: u64,
    /// The barrier that some threads waited at.
    pub site: Site,
    /// The trips of the loops around it.
    pub trips: Vec<u32>,
    /// The threads waiting there.
    pub waiting: Vec<u32>,
    /// The others, with where each was instead.
    pub elsewhere: Vec<(u32, Whereabouts)>,
    /// How many blocks diverged.
    pub blocks: u64,
}

/// A `sync_warp` that breaks its contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarpMisuse {
    /// The lowest block where it was met.
    pub block: u64,
    /// The calling thread.
    pub thread: u32,
    /// The call.
    pub site: Site,
    /// Its mask.
    pub mask: u32,
}

/// Threads that exited while others went on to a barrier. Legal; nothing orders what they wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarlyExit {
    /// How many threads of the block had exited.
    pub threads: u32,
    /// The barrier that went on without them.
    pub site: Site,
}

/// Something that ended the launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What happened.
    pub what: FaultKind,
    /// The block.
    pub block: u64,
    /// The thread in it.
    pub thread: u32,
    /// Where; a panic says so in its message.
    pub site: Option<Site>,
}

/// A thread that waits at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The thread.
    pub thread: u32,
    /// The call.
    pub site: Site,
    /// The mask of a `sync_warp`; `None` at the block barrier.
    pub mask: Option<u32>,
}

/// The ways in which a launch can end early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// An access outside an array or buffer, found before it was made.
    OutOfBounds {
        /// The array or buffer.
        name: &'static str,
        /// The index asked for; negative before the start.
        index: i64,
        /// The number of elements.
        len: u64,
    },
    /// An access through a pointer that does not lie in a buffer of this launch.
    UnknownPointer,
    /// An access to the null pointer, or close behind it.
    Null {
        /// The address.
        address: u64,
    },
    /// An access at an address that is no multiple of its size.
    Misaligned {
        /// The address.
        address: u64,
        /// The size of the access in bytes.
        size: u32,
    },
    /// A write to memory that can only be read.
    ReadOnly {
        /// The variable.
        name: &'static str,
        /// The address.
        address: u64,
    },
    /// `trap`, which a panic ends in.
    Trap,
    /// A failed assertion, with its message.
    Assert(String),
    /// More calls within each other than the engine follows.
    CallDepth(u32),
    /// A read through a copy of a slot, `let c = TILE[i]; c.assume_init()`: it cannot be followed.
    CopyRead,
    /// The kernel panicked.
    Panic(String),
    /// A thread passed more loop heads than the tick limit allows.
    TickLimit(u32),
    /// A thread made more accesses and waited at more barriers than the tick limit allows, without a loop head
    /// between: it loops in a function that the kernel calls.
    TurnLimit(u32),
    /// No thread of the block can go on: these wait.
    Stuck(Vec<Waiting>),
    /// A barrier in a place that a kernel's source does not show, an operator or a `Drop`: the thread could not
    /// wait there.
    HiddenBarrier,
    /// More static shared memory than a block may have.
    SharedMemory {
        /// What the kernel's arrays add up to, in bytes.
        bytes: usize,
    },
}

/// What one launch found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Data races, worst first.
    pub hazards: Vec<Hazard>,
    /// The divergent barrier of the lowest block that has one. From there on that block's accesses
    /// are not judged.
    pub divergence: Option<Divergence>,
    /// `sync_warp` calls that break their contract.
    pub warp_misuse: Vec<WarpMisuse>,
    /// Reads of cells that nothing wrote.
    pub uninitialised: Vec<Uninitialised>,
    /// Writes to copies.
    pub lost_writes: Vec<LostWrite>,
    /// The most threads that had exited when a barrier completed.
    pub early_exit: Option<EarlyExit>,
    /// What ended the launch early.
    pub fault: Option<Fault>,
    /// What the block did that the launch was to trace.
    pub trace: Option<BlockTrace>,
}

impl Report {
    /// The worst level of the races found.
    #[must_use]
    pub fn race(&self) -> Option<Level> {
        self.hazards.iter().map(|hazard| hazard.level).max()
    }

    /// The bytes hit by all hazards.
    #[must_use]
    pub fn hazard_bytes(&self) -> u64 {
        self.hazards.iter().map(|hazard| hazard.bytes).sum()
    }

    /// Nothing was found.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        // Neither an early exit nor a trace is a finding.
        let Self { hazards, divergence, warp_misuse, uninitialised, lost_writes, fault, .. } = self;
        hazards.is_empty()
            && divergence.is_none()
            && warp_misuse.is_empty()
            && uninitialised.is_empty()
            && lost_writes.is_empty()
            && fault.is_none()
    }
}
