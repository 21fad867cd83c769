//! The part of Rust-CUDA's `cuda_std` that the lesson uses, under the same paths.
//!
//! On a host target it is an [`emulator`]; on `nvptx64` a layer over rustc's intrinsics, which has more of
//! `cuda_std` than the emulator.

#![cfg_attr(target_arch = "nvptx64", no_std)]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(asm_experimental_arch, core_float_math, link_llvm_intrinsics, stdarch_nvptx),
    allow(internal_features)
)]

#[cfg(not(target_arch = "nvptx64"))]
pub mod emulator;
#[cfg(not(target_arch = "nvptx64"))]
pub mod thread;
#[cfg(not(target_arch = "nvptx64"))]
pub mod warp;

pub use cuda_std_emulator_macros::{address_space, kernel};

#[cfg(target_arch = "nvptx64")]
#[doc(hidden)]
pub mod nvptx;
#[cfg(target_arch = "nvptx64")]
pub use {
    core::{assert_eq, assert_ne},
    cuda_std_emulator_macros::{print, println},
    nvptx::float::GpuFloat,
    nvptx::float_ext::FloatExt,
    nvptx::{atomic, float, glam, io, mem, misc, shared, thread, warp},
};

/// What `use cuda_std::prelude::*` brings in a kernel.
pub mod prelude {
    #[cfg(target_arch = "nvptx64")]
    pub use crate::{assert_eq, assert_ne, print, println};
    pub use crate::{kernel, thread};
}
