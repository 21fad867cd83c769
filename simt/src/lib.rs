//! Executes PTX on a CPU, warp by warp.
