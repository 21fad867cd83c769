//! One kernel for every sentence of the lesson that the three kernels of [`crate::lesson`] do not show.

mod barrier_below_the_read;
mod barrier_in_both_arms;
mod exited_writer;
mod guard_by_return;
mod in_place_scan;
mod loop_one_barrier;
mod loop_two_barriers;
mod partial_block;
mod ragged_loop;
mod same_value_writers;
mod split_barrier;
mod thread_dependent_if;
mod tiled_multiply;
mod two_blocks;
mod two_launches;
mod two_writers;
mod typed_tile;
mod uniform_if;
mod uninitialised_slot;
mod warp_scope;
mod warp_scope_synced;
mod write_to_a_copy;

pub use barrier_below_the_read::barrier_below_the_read;
pub use barrier_in_both_arms::barrier_in_both_arms;
pub use exited_writer::exited_writer;
pub use guard_by_return::guard_by_return;
pub use in_place_scan::in_place_scan;
pub use loop_one_barrier::loop_one_barrier;
pub use loop_two_barriers::loop_two_barriers;
pub use partial_block::partial_block;
pub use ragged_loop::ragged_loop;
pub use same_value_writers::same_value_writers;
pub use split_barrier::reverse_tile_textbook;
pub use thread_dependent_if::thread_dependent_if;
pub use tiled_multiply::tiled_multiply;
pub use two_blocks::two_blocks;
pub use two_launches::{first_launch, second_launch};
pub use two_writers::two_writers;
pub use typed_tile::typed_tile;
pub use uniform_if::uniform_if;
pub use uninitialised_slot::uninitialised_slot;
pub use warp_scope::warp_scope;
pub use warp_scope_synced::warp_scope_synced;
pub use write_to_a_copy::write_to_a_copy;

/// How often the kernels with a loop go round it: twice is enough for one trip to meet the next.
pub const TRIPS: usize = 3;
