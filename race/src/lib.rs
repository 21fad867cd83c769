//! One judge of races, whatever runs the threads: what the memory accesses of a launch do to each other.
//!
//! Every thread has a scalar clock, which each of its synchronisations advances, and each access carries its *epoch*:
//! its thread, and the value of that thread's clock. *Shadow memory* keeps of each cell the last write, the last read
//! and whatever else no barrier has settled yet ([`order::Shadow`]). A block barrier or a `sync_warp` joins the clocks
//! of its participants: [`order::Clocks`] holds, of each thread, the *vector clock* of its own warp and the clock that
//! the last block barrier settled, which with these synchronisations is all that a full vector clock would know. An
//! access *happens before* another if the latter's thread has seen its epoch; two accesses to one cell, one of them a
//! write, that are not ordered so are a race. No barrier orders what two blocks do to each other, so that
//! [`grid`] compares what they touched instead.
//!
//! # Rules
//!
//! The sources are CUDA's Programming Guide (the synchronisation functions of a thread block), the PTX ISA
//! (`bar.sync`, `bar.warp.sync`, `exit`), and the manual of compute-sanitizer for the levels.
//!
//! 1. **Participants.** A block barrier waits for the threads of its block that have not exited, and they have to be
//!    at the same barrier: the same call, reached by the same calls ([`nest`]) and in the same trip of every loop
//!    around it. A thread that has exited is no longer waited for.
//! 2. **Order.** The barrier orders accesses to shared and to global memory alike: what a participant did before it
//!    happens before what any participant does after it. Who exited earlier took no part, so that nothing orders its
//!    writes before what others read later.
//! 3. **Scope.** All of this is within one block. No barrier orders accesses of two blocks of a launch; two launches
//!    on one stream are in order. Shared memory is a block's own, and begins with contents that nothing specifies.
//! 4. **Conditional barriers.** A barrier under a condition is legal only if the condition is the same in all threads
//!    of the block; else the behaviour is undefined, whether the hardware hangs or goes on. To `return` above a
//!    barrier is legal. To go round it and live on is not, even if the thread exits right after.
//! 5. **Race.** Two threads access one cell, one of them writes it, and neither access happens before the other.
//! 6. **Levels.** An *error* is a race across warps, or of lanes of one warp that write different values to one cell.
//!    A *warning* is a read and a write within one warp: it mostly gives the expected answer, but lanes have not been
//!    in lockstep since compute capability 7.0. *Info* is for plain writes of the same value. `sync_warp` orders the
//!    lanes that its mask names and that have not exited. That the answer was right makes nothing clean.
//! 7. **Verdict and answer.** Races, barriers, reads of what nothing wrote and accesses out of bounds are each
//!    judged by these rules; whether the output was the expected one is a fact beside them, and decides none.
//! 8. **Uninitialised.** A read of a cell that no write precedes, and that no write races with: if one does, the
//!    finding is the race.
//! 9. **After a divergent barrier** no documented rule orders anything any more, so that the rest of that block is
//!    not judged.
//! 10. **Kinds.** Read after write, write after read and write after write name the order of the program as written,
//!     trips of loops first and then positions in the source, whichever way the run took.

pub mod extent;
pub mod findings;
pub mod grid;
mod hazard;
mod intern;
pub mod judge;
pub mod limits;
pub mod nest;
pub mod order;
mod place;
pub mod recorder;
mod report;
pub mod schedule;
mod site;
mod trace;

pub use hazard::{Hazard, Kind, Level, Party};
pub use intern::intern;
pub use judge::Scope;
pub use place::{Memory, Place, Space};
pub use report::{
    Divergence, EarlyExit, Fault, FaultKind, LostWrite, Report, Uninitialised, Waiting, WarpMisuse,
    Whereabouts,
};
pub use site::{Site, direct_path};
pub use trace::{BlockTrace, Event, Pair, What};
