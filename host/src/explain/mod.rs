//! The picture: one page of HTML for a kernel, drawn from what the emulator recorded.
//!
//! A [`Preset`] names a kernel; [`scene`] runs it under several schedules and keeps what a page needs
//! of each trace; [`page`] puts it into one file that needs nothing else.

pub mod frames;
pub mod page;
pub mod preset;
pub mod scene;
pub mod source;
pub mod verdict;
pub mod write;

pub use page::{index, page};
pub use preset::{PRESETS, Preset, find};
pub use scene::{Choice, Scene};
