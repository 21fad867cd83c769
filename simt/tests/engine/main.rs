//! What the engine says of kernels whose right verdict is known.

mod faults;
mod fuzz;
mod litmus;
mod support;
mod table;
mod warps;
