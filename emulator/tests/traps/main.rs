//! Traps: small kernels that a checker easily gets wrong.

#[path = "../common/mod.rs"]
mod common;
mod faults;
mod flow;
mod memory;
