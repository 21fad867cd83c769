//! The emulator: runs kernels on a host and judges what they do.
//!
//! A host program lends buffers with [`GlobalMemory`], describes a [`Launch`], runs it with a closure
//! that calls the kernel, and gets a [`Report`].

mod accesses;
mod barrier;
mod block;
mod fiber;
#[doc(hidden)]
pub mod futures;
mod global;
mod judging;
mod launch;
pub mod marks;
mod shared;
mod trace;
mod value;
mod worker;

pub use global::{GlobalPtr, GlobalSlice};
pub use launch::{DEFAULT_TICK_LIMIT, DevicePtr, GlobalMemory, Launch};
#[doc(hidden)]
pub use shared::{Array, SharedStatic, Slot};
pub use value::CellValue;

pub use race::limits::{
    Dim3, LaunchError, MAX_BLOCK, MAX_BLOCK_THREADS, MAX_EXHAUSTIVE_BLOCK, MAX_GRID, MAX_STATIC_SHARED, WARP,
};
pub use race::schedule::{Explorer, Policy, Schedule, ScheduleError, Trace};
pub use race::{
    BlockTrace, Divergence, EarlyExit, Event, Fault, FaultKind, Hazard, Kind, Level, LostWrite, Pair, Party,
    Place, Report, Site, Space, Uninitialised, Waiting, WarpMisuse, What, Whereabouts,
};

pub(crate) use barrier::{block_barrier, warp_barrier};
pub(crate) use block::{Block, with};
