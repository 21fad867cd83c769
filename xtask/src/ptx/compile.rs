//! Kernels to PTX, by rustc's own target.

use anyhow::Result;

use super::kernels::Kernels;
use super::toolchain::Toolchain;
use super::{card, verdict};

/// What the PTX is for.
#[derive(Clone, Copy)]
pub(crate) enum Purpose<'a> {
    /// Judging the source: little optimised, and with DWARF (`verdict.rs`).
    Verdict,
    /// A card to run.
    Card {
        /// Such as `sm_75`.
        arch: &'a str,
        /// Turn the MIR pass on that splits barriers.
        jump_threading: bool,
        /// Say nothing where it does not compile.
        quiet: bool,
    },
}

/// The PTX of the kernels, as rustc writes it.
///
/// A kernel is an `.entry` of its own name. Its parameters are those of the source in their order, except that
/// a slice is two: the pointer, and the length in elements. A shared array is a `.shared` variable whose name
/// is the source's up to the first `$`. Dynamic shared memory is `cuda_std_dynamic_shared`.
///
/// # Errors
///
/// If rustc or cargo cannot be started, or the kernels do not compile; rustc has said why.
pub(crate) fn compile(toolchain: &Toolchain, kernels: Kernels<'_>, purpose: Purpose<'_>) -> Result<String> {
    match purpose {
        Purpose::Verdict => verdict::compile(toolchain, kernels),
        Purpose::Card { arch, jump_threading, quiet } => {
            card::compile(toolchain, kernels, arch, jump_threading, quiet)
        }
    }
}
