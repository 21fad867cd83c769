//! The registers and the local memory of a call.

/// Where the registers and the local memory of a call begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) w: u32,
    pub(crate) d: u32,
    pub(crate) p: u32,
    /// In bytes.
    pub(crate) local: u32,
    pub(crate) function: u32,
    /// How many calls deep it is.
    pub(crate) depth: u32,
}
