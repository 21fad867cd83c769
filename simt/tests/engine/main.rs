//! What the engine says of kernels whose right verdict is known.

mod fuzz;
mod instruction;
mod support;
