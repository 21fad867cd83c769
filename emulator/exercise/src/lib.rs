//! The kernel of the exercise, wherever its file is: cargo wants to know where a crate lies once and for all,
//! so the module is declared in a file that `cargo xtask exercise` makes and names.

#![cfg(target_arch = "nvptx64")]
#![no_std]
// As in kernels-gpu, where the reasons stand.
#![allow(static_mut_refs, improper_ctypes_definitions)]
// The learner's file need not be as tidy as ours.
#![allow(missing_docs, unreachable_pub, dead_code)]

/// The most threads a block may have, and so the most cells a tile needs.
const MAX_THREADS_PER_BLOCK: usize = 1024;

include!(env!("EXERCISE_MODULE"));
