//! Traps: small kernels that a checker easily gets wrong.

// What is wrong with these kernels is what they are for.
#![allow(clippy::if_same_then_else, clippy::while_immutable_condition)]

#[path = "../common/mod.rs"]
mod common;
mod faults;
mod flow;
mod memory;
