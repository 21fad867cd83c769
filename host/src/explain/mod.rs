//! The picture: one page of HTML for an exhibit, drawn from what the emulator recorded.
//!
//! [`choice`](mod@choice) says which runs a page offers; [`scene`](mod@scene) makes one and keeps what a page needs of its
//! trace; [`page`](mod@page) puts them into one file that needs nothing else.

pub mod choice;
pub mod frames;
pub mod page;
pub mod scene;
pub mod source;
pub mod verdict;

pub use choice::{Choice, Extent, choices, sizes};
pub use page::{index, page};
pub use scene::Scene;
