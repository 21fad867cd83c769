//! The host half of the attributes: what the emulator needs.

mod body;
mod calls;
mod flat;
mod kernel;
mod names;
mod shared;

pub(crate) use kernel::kernel;
pub(crate) use shared::shared;
