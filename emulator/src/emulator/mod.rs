//! The emulator: runs kernels on a host and judges what they do.
//!
//! A host program lends buffers with [`GlobalMemory`], describes a [`Launch`], runs it with a closure
//! that calls the kernel, and gets a [`Report`].

mod accesses;
mod barrier;
mod block;
mod fiber;
mod findings;
#[doc(hidden)]
pub mod futures;
mod global;
mod grid;
mod judging;
mod launch;
mod limits;
pub mod marks;
mod nest;
mod order;
mod report;
mod schedule;
mod shared;
mod site;
mod trace;
mod value;
mod worker;

pub use global::{GlobalPtr, GlobalSlice};
pub use launch::{DEFAULT_TICK_LIMIT, DevicePtr, GlobalMemory, Launch};
pub use limits::{Dim3, LaunchError, MAX_BLOCK, MAX_BLOCK_THREADS, MAX_GRID, MAX_STATIC_SHARED};
pub use report::{
    Divergence, EarlyExit, Fault, FaultKind, Hazard, Kind, Level, LostWrite, Party, Place, Report, Space,
    Uninitialised, Waiting, WarpMisuse, Whereabouts,
};
pub use schedule::{Explorer, MAX_EXHAUSTIVE_BLOCK, Policy, Schedule, ScheduleError, Trace};
#[doc(hidden)]
pub use shared::{Array, SharedStatic, Slot};
pub use site::Site;
pub use trace::{BlockTrace, Event, Pair, What};
pub use value::CellValue;

pub(crate) use barrier::{block_barrier, warp_barrier};
pub(crate) use block::{Block, with};
