//! The three kernels of the lesson.

mod reverse_tile_prefix;
mod reverse_tile_racy;
mod reverse_tile_synced;

pub use reverse_tile_prefix::reverse_tile_prefix;
pub use reverse_tile_racy::reverse_tile_racy;
pub use reverse_tile_synced::reverse_tile_synced;

/// The most threads a block may have, and so the most cells a tile needs.
pub const MAX_THREADS_PER_BLOCK: usize = 1024;
