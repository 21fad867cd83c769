//! What the engine says of kernels whose right verdict is known.

mod broken;
mod control;
mod faults;
mod fuzz;
mod instruction;
mod litmus;
mod memory;
mod order;
mod schedules;
mod shapes;
mod support;
mod table;
mod warps;
