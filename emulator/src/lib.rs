//! The part of Rust-CUDA's `cuda_std` that the lesson uses, under the same paths.
//!
//! On a host target it is an [`emulator`]; on `nvptx64` a thin layer over rustc's intrinsics.

#![cfg_attr(target_arch = "nvptx64", no_std)]

#[cfg(not(target_arch = "nvptx64"))]
pub mod emulator;
#[cfg(not(target_arch = "nvptx64"))]
pub mod thread;
#[cfg(not(target_arch = "nvptx64"))]
pub mod warp;

pub use cuda_std_emulator_macros::{address_space, kernel};

/// What `use cuda_std::prelude::*` brings in a kernel.
pub mod prelude {
    #[cfg(not(target_arch = "nvptx64"))]
    pub use crate::thread;
    pub use crate::{address_space, kernel};
}
