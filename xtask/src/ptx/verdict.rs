//! The PTX by which a kernel's *source* is judged.
//!
//! It is for reading, not for speed: every access, loop and barrier of the source is in it, once. What an
//! optimiser does to them is another question, which the PTX for a card answers.
//!
//! # Settings, and what they were chosen over
//!
//! * `opt-level=0` for the code generator. From 1 on, NVPTX's own passes merge two reads of one cell, forward a
//!   store to a read below it, and drop a store that is overwritten (EarlyCSE).
//! * No pass but four (`-Cno-prepopulate-passes -Cpasses=…`): the inliner puts core's and cuda_std's one-line
//!   functions and the kernel's own helpers into the kernel; `sroa` takes variables out of local memory;
//!   `instsimplify` and `infer-address-spaces` turn generic accesses into `.shared` and `.global` ones. None of
//!   them removes, merges or moves an access to memory that threads share, none unrolls, and none copies or
//!   merges a barrier. rustc's own opt-level 1 unrolls loops of few trips (three barriers where the source has
//!   one) and drops a read that it thinks it knows.
//! * No link-time optimisation. `core` and `cuda_std` are built so that their functions are compiled into the
//!   crate that uses them (`-Zhint-mostly-unused`). What stays outside are functions that must not be inlined,
//!   which are core's panics: a call of one is an `.extern .func` in `core::panicking` or the like, whose last
//!   argument is the `core::panic::Location` of the line (a pointer to file, its length, line and column). Tables
//!   of other crates would stay outside, too; where there are some, a second, linked compilation tells what is
//!   in them.
//! * No `JumpThreading` (rust-lang/rust#137086), no overflow checks, no debug assertions, no coverage: as on a card.
//! * `line-tables-only`: DWARF with the call sites of what was inlined. A driver rejects it.
//!
//! # What of the source is not in it
//!
//! * A read whose value nobody uses, and so a write to a copy: `{ TILE[t] }.write(x)` reads the tile for nothing
//!   and writes to a variable of the thread's own, and leaves no access at all.
//! * The second of two reads of one cell with no write, call or branch between them: one `ld` serves both.
//! * Code that cannot be reached, as in `if false`.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::kernels::{Kernels, module};
use super::libraries::{self, Libraries};
use super::tables;
use super::toolchain::{TARGET, Toolchain};
use crate::child;
use crate::workshop::Workshop;

/// New enough for all that cuda_std has: `warp_reduce` needs 8.0. No card ever sees it.
const ARCH: &str = "sm_80";

/// In this order.
const PASSES: &str = "cgscc(inline),function(sroa,instsimplify,require<domtree>,infer-address-spaces)";

/// The PTX of the kernels, as rustc writes it.
pub(super) fn compile(toolchain: &Toolchain, kernels: Kernels<'_>) -> Result<String> {
    let libraries = libraries::build(toolchain)?;
    let workshop = Workshop::new()?;
    let source = kernels.source();
    let root = match kernels {
        Kernels::Own => source.clone(),
        Kernels::File(file) => {
            let root = workshop.path().join("lib.rs");
            let text = format!(
                "#![no_std]\n#![allow(static_mut_refs, improper_ctypes_definitions)]\n{}",
                module(file)
            );
            fs::write(&root, text).with_context(|| format!("cannot write {}", root.display()))?;
            root
        }
    };
    let assembly = workshop.path().join("kernels.s");
    let emit = |linked: bool| {
        let mut rustc = command(toolchain, &libraries);
        if matches!(kernels, Kernels::Own) {
            // It is kept in the repository.
            rustc.args(toolchain.remap());
        }
        // rustc only links where it makes something of it.
        rustc.args(if linked { &["-Clto=fat", "--emit=link"][..] } else { &[] });
        rustc.arg(format!("--emit=asm={}", assembly.display()));
        rustc.arg("--out-dir").arg(workshop.path()).arg(&root);
        let status = child::status(&mut rustc)
            .with_context(|| format!("cannot start {}", toolchain.rustc.display()))?;
        if !status.success() {
            bail!("{} does not compile for {TARGET}; the compiler's message is above", source.display());
        }
        fs::read_to_string(&assembly).with_context(|| format!("rustc left no {}", assembly.display()))
    };
    let ptx = emit(false)?;
    if tables::missing(&ptx).next().is_none() {
        return Ok(ptx);
    }
    Ok(tables::supply(&ptx, &emit(true)?))
}

fn command(toolchain: &Toolchain, libraries: &Libraries) -> Command {
    let mut rustc = Command::new(&toolchain.rustc);
    rustc
        // rustc goes as deep as the source is nested, and by itself not as deep as we do.
        .env("RUST_MIN_STACK", crate::STACK.to_string())
        // The features and options named below are unstable; a released rustc lets them pass.
        .env("RUSTC_BOOTSTRAP", "1")
        .args(["--crate-name", "kernels", "--edition", "2024", "--crate-type", "cdylib"])
        // Warnings are for the learner's own cargo, which knows the lints of their crate.
        .args(["--cap-lints", "allow"])
        .args(["--target", TARGET, "-Zno-link", "-Zunstable-options"])
        .arg(format!("-Ctarget-cpu={ARCH}"))
        .args(["-Copt-level=0", "-Cno-prepopulate-passes", "-Cdebuginfo=line-tables-only"])
        .arg(format!("-Cpasses={PASSES}"))
        .args(["-Ccodegen-units=1", "-Cpanic=abort", "-Coverflow-checks=off", "-Cdebug-assertions=off"])
        .arg("-Zmir-enable-passes=-JumpThreading")
        // `#[kernel]` and `#[address_space]` expand to these.
        .arg("-Zcrate-attr=feature(abi_ptx,asm_experimental_arch)");
    libraries.pass_to(&mut rustc);
    rustc
}
