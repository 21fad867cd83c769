//! What is compiled: the project's kernels, or those of any file.

use std::path::{Path, PathBuf};

use crate::cargo::root;

/// What is compiled.
#[derive(Clone, Copy)]
pub(crate) enum Kernels<'a> {
    /// Those of the project.
    Own,
    /// All in one file, and in the modules it declares. The path is absolute.
    File(&'a Path),
}

impl Kernels<'_> {
    /// Where the source begins.
    pub(super) fn source(self) -> PathBuf {
        match self {
            Self::Own => root().join("kernels-gpu/src/lib.rs"),
            Self::File(file) => file.to_owned(),
        }
    }
}

/// A module that holds `file`; around it is what a file of this project's own kernels finds at home, as
/// `crate::` and `super::`, so that a copy of one compiles anywhere.
pub(super) fn module(file: &Path) -> String {
    let tile = root().join("kernels-gpu/src/tile.rs");
    format!(
        "::cuda_std::declare_dynamic_shared!();
pub mod lesson {{ pub const MAX_THREADS_PER_BLOCK: usize = 1024; }}
use lesson::*;
/// As in kernels-gpu/src/exhibits/mod.rs.
pub const TRIPS: usize = 3;
{}#[path = {file:?}]
mod file;
",
        // Its shared array would be in the PTX of every file.
        if uses_tile(file) { format!("#[path = {tile:?}]\nmod tile;\n") } else { String::new() }
    )
}

/// Whether the file speaks of the project's typed tile. One that cannot be read is for rustc to complain of.
fn uses_tile(file: &Path) -> bool {
    std::fs::read_to_string(file).is_ok_and(|text| text.contains("crate::tile"))
}
