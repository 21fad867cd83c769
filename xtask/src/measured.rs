//! The parts of commands that `cargo bench` measures, without the process around them.

use anyhow::Result;

use crate::cargo::root;
use crate::lint::{self, Source};
use crate::ptx;

/// Lints a file with this text, and returns the number of findings.
///
/// # Errors
///
/// If it is not valid Rust.
pub fn lint(text: &str) -> Result<usize> {
    let source = Source { name: "measured.rs".to_owned(), text: text.to_owned() };
    Ok(lint::check(&[source])?.findings.len())
}

/// Audits PTX against the kernels of this project, and returns the number of kernels that it judged.
///
/// # Errors
///
/// If the PTX or the kernels cannot be read.
pub fn audit(text: &str) -> Result<usize> {
    Ok(ptx::audit(text, &root().join("kernels-gpu/src/lib.rs"), true)?.len())
}
