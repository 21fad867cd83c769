//! The shape of a launch.

use race::limits::Dim3;

/// Grid, block and shared memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) grid: Dim3,
    pub(crate) block: Dim3,
    /// Dynamic shared memory in bytes, and all of it.
    pub(crate) dynamic_shared: u32,
    pub(crate) shared: u32,
}
