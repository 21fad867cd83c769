//! Launches the kernel of `tile.rs` on the emulator and compares its answer with the reference.
//! `cargo xtask exercise` runs this; there is nothing to do here.

// As in kernels-gpu, where the reasons stand.
#![allow(static_mut_refs, improper_ctypes_definitions)]

mod tile;

use std::process::ExitCode;

use cuda_std::emulator::GlobalMemory;
use host::harness::{self, Outcome};
use host::reference::{POISON, input, reversed_tiles};

/// The most threads a block may have, and so the most cells a tile needs.
const MAX_THREADS_PER_BLOCK: usize = 1024;

fn main() -> ExitCode {
    harness::main("reverse_tile_synced", |case| {
        let input = input(case.n());
        let mut out = vec![POISON; case.n()];
        let mut memory = GlobalMemory::new();
        let pointer = memory.lend("out", &mut out);
        // SAFETY: `input` is not empty and `out` is as long; the emulator checks what the kernel does.
        let report = case.launch().run(&mut memory, || unsafe {
            tile::reverse_tile_synced(&input, pointer.as_mut_ptr());
        })?;
        Ok(Outcome::compared(report, &out, &reversed_tiles(&input, case.block())))
    })
}
