//! The kernels of the lesson: what the block barrier `thread::sync_threads()` guarantees.
//!
//! * [`lesson`] holds the three kernels that the lesson is about, one a file. Start with
//!   `lesson/reverse_tile_racy.rs` and `lesson/reverse_tile_synced.rs`: they differ by one line.
//! * [`exhibits`] holds one kernel for every other sentence of the lesson. Some are wrong on purpose.
//! * [`tile`] is a shared tile with which the missing barrier does not compile.

#![no_std]
// cuda_builder says `no_std` on the command line too, and rustc would call the line above unused.
#![allow(unused_attributes)]
// A shared array is a `static mut`: one for every block, written by all its threads. Taking a
// reference into it is what `TILE[t].write(x)` does, and what this lint exists to stop. It is allowed
// here, once, because shared memory has no other spelling in cuda_std; what the lint protects from
// is what the block barrier is for.
#![allow(static_mut_refs)]
// Kernels take slices, as (pointer, length); the ABI on both sides is the same Rust compiler's.
#![allow(improper_ctypes_definitions)]

pub mod exhibits;
pub mod lesson;
pub mod tile;
