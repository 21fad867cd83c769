//! What the engine says of kernels whose right verdict is known.

mod broken;
mod control;
mod fuzz;
mod instruction;
mod memory;
mod order;
mod schedules;
mod shapes;
mod support;
