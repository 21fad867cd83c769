//! Executes PTX on a CPU, warp by warp.

pub mod alu;
