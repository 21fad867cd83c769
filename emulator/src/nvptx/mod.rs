//! The GPU side: a thin layer over the intrinsics of rustc's `nvptx64-nvidia-cuda` target.

mod panic;
mod shared;
pub mod thread;
pub mod warp;

pub use shared::{SharedArray, SharedVariable};
