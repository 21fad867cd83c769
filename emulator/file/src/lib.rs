//! The kernels of one file, wherever it is: cargo wants to know where a crate lies once and for all, so the
//! module is declared in a file that `cargo xtask` makes and names (xtask/src/ptx/kernels.rs).

#![cfg(target_arch = "nvptx64")]
#![no_std]
// As in kernels-gpu, where the reasons stand.
#![allow(static_mut_refs, improper_ctypes_definitions)]
// The file need not be as tidy as ours, nor use all that it is offered.
#![allow(missing_docs, unreachable_pub, dead_code, unused_imports)]

include!(env!("FILE_MODULE"));
