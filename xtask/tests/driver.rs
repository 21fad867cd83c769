//! Drivers that are none, each made up as a file that the loader finds first.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod common;

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use common::{end, folder, start_with};

const LIBRARY: &str = "libcuda.so.1";

/// A library of its own, with nothing of a driver in it.
fn foreign(folder: &Path) -> Vec<u8> {
    fs::write(folder.join("foreign.rs"), "").expect("a file");
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let made = Command::new(rustc)
        .args(["--crate-type", "cdylib", "--edition", "2024", "-o", "foreign.so", "foreign.rs"])
        .current_dir(folder)
        .status();
    assert!(made.expect("rustc starts").success());
    fs::read(folder.join("foreign.so")).expect("it was made")
}

#[test]
fn a_broken_driver_is_told_from_none_and_how_it_is_broken() {
    let folder = folder("driver-broken");
    let foreign = foreign(&folder);
    // The machine in an ELF header: aarch64 is 183.
    let mut other = foreign.clone();
    other[18..20].copy_from_slice(&183_u16.to_le_bytes());
    for (file, why) in [
        (&b""[..], "file too short"),
        (
            b"#!/bin/sh\nexit 1\n# not a library, and long enough for its header to be read\n",
            "invalid ELF header",
        ),
        (&other, "is no library for this machine (x86_64)"),
        (&foreign, "cuInit"),
    ] {
        fs::write(folder.join(LIBRARY), file).expect("a file");
        let named = [("LD_LIBRARY_PATH", folder.to_string_lossy().into_owned())];
        let doctor = end(start_with(&folder, &["doctor"], &named), "");
        doctor.exits(0).says_in_words("and it cannot be used").says_in_words(why);
        let run = end(start_with(&folder, &["run", "--device", "cuda"], &named), "");
        run.exits(2).ends_with_error("the NVIDIA driver cannot be used").ends_with_error(why);
    }
}
