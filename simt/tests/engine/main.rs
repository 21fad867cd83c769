//! What the engine says of kernels whose right verdict is known.

mod faults;
mod fuzz;
mod memory;
mod shapes;
mod support;
mod warps;
