//! Shapes from suites that others wrote for their checkers, in our own words, with their verdicts.

#[path = "../common/mod.rs"]
mod common;
mod nvidia;
mod oclgrind;
