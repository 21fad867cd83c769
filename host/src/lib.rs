//! Launches the kernels of the lesson, compares with a CPU reference, reports and gates.
//!
//! Nothing here reads a clock.

pub mod answer;
pub mod args;
pub mod data;
pub mod device;
pub mod docs;
pub mod exhibits;
pub mod explain;
pub mod explore;
pub mod harness;
pub mod judge;
pub mod kept;
#[cfg(feature = "cuda")]
pub mod launch;
pub mod lesson;
mod library;
pub mod memory;
pub mod program;
pub mod reference;
pub mod report;
pub mod verdict;
