//! Shapes from suites that others wrote for their checkers, in our own words, with their verdicts.

// What is wrong with these kernels is what they are for.
#![allow(clippy::if_same_then_else, clippy::while_immutable_condition)]

#[path = "../common/mod.rs"]
mod common;
mod nvidia;
mod oclgrind;
