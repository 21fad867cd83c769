//! The GPU side: what a kernel finds in Rust-CUDA's `cuda_std`, over the intrinsics of rustc's
//! `nvptx64-nvidia-cuda` target.
//!
//! Names and signatures are those of Rust-CUDA at revision 946c91f. Left out: what needs an allocator
//! (`Box`, `Vec`, `format!`), `half`, `vek`, `ptr`, the raw `intrinsics` of libdevice, and the functions of
//! `FloatExt` that no library here has.
//!
//! Everything is inlined into its kernel, so that a kernel's PTX is whole without a linker.

pub mod atomic;
pub mod float;
pub mod float_ext;
pub mod io;
pub mod mem;
pub mod misc;
mod panic;
pub mod shared;
pub mod thread;
pub mod warp;

pub use glam;
pub use shared::{SharedArray, SharedVariable};
