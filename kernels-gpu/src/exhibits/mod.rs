//! One kernel for every sentence of the lesson that the three kernels of [`crate::lesson`] do not show.

mod split_barrier;

pub use split_barrier::reverse_tile_textbook;
