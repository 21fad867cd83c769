//! Executes PTX on a CPU, warp by warp, and judges what its threads do to each other.
//!
//! [`Kernel::load`] makes a program of a kernel in a [`ptx::Module`]; a [`Launch`] runs it in a [`Memory`] and gives an
//! [`Outcome`] with a [`race::Report`]. What the card's driver would compile is what runs here, so whatever compiles
//! to PTX can be judged.
//!
//! The lanes of a warp run together for as long as they are at one instruction. Under the schedule `lockstep`, lanes
//! that have gone apart meet again at the immediate post-dominator of the branch; under the others they run apart.

mod access;
mod address;
pub mod alu;
mod arithmetic;
mod block;
mod code;
mod collective;
mod dim;
mod error;
mod execute;
mod frame;
mod launch;
mod lower;
mod memory;
mod paths;
mod register;
mod system;
mod view;
mod warp;

pub use error::{LaunchError, LoadError};
pub use launch::{DEFAULT_LOOP_BUDGET, Kernel, Launch, MAX_SHARED, Outcome, Parameter};
pub use memory::{DevicePointer, Memory};
