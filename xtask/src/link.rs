//! What the card's program links against: a library with the names of the driver's functions and nothing
//! behind them. It is made here, so that neither a toolkit nor a driver is needed to build; at run time the
//! loader takes the driver's own library, and never this one, which it does not know by the name asked for.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result, bail};

use crate::cargo::{self, target_dir};
use crate::child;
use crate::workshop::Workshop;

/// Every function of the driver that cust names.
const SYMBOLS: &str = include_str!("link/symbols.txt");

/// `CUDA_ERROR_STUB_LIBRARY`: what the functions return, should anything call them after all.
const STUB_LIBRARY: u32 = 34;

/// The variable that tells cust's build script where to look, and its value. Its build script gives up
/// without one unless a CUDA toolkit is installed.
pub(crate) fn search_path() -> Result<(&'static str, OsString)> {
    // On Windows it wants the layout of a toolkit.
    let name = if cfg!(windows) { "CUDA_PATH" } else { "CUDA_LIBRARY_PATH" };
    // One that names what has gone since would stop the build.
    if let Some(named) = env::var_os(name).filter(|named| has_library(Path::new(named))) {
        return Ok((name, named));
    }
    let root = target_dir().join("cuda-link");
    make(&root).with_context(|| format!("cannot make the library to link against in {}", root.display()))?;
    Ok((name, root.into_os_string()))
}

/// Whether cust's build script will find the driver's library for linking here.
fn has_library(root: &Path) -> bool {
    if cfg!(windows) {
        return root.join("include/cuda.h").is_file() && root.join("lib/x64/cuda.lib").is_file();
    }
    // The variable may name several, and the build script looks in these folders of each.
    let folders = ["lib64", "lib64/stubs", "targets/x86_64-linux/lib", "targets/x86_64-linux/lib/stubs"];
    env::split_paths(root)
        .any(|root| folders.iter().any(|folder| root.join(folder).join("libcuda.so").is_file()))
}

/// Makes it elsewhere and puts it in place when it is done: another command may do the same meanwhile.
fn make(root: &Path) -> Result<()> {
    let dir = root.join(if cfg!(windows) { "lib/x64" } else { "lib64" });
    let linked = dir.join(if cfg!(windows) { "cuda.lib" } else { "libcuda.so" });
    let source = root.join("stub.rs");
    let text = source_text();
    if linked.is_file() && fs::read_to_string(&source).is_ok_and(|old| old == text) {
        return Ok(());
    }
    fs::create_dir_all(&dir)?;
    let workshop = Workshop::new()?;
    let made_from = workshop.path().join("stub.rs");
    fs::write(&made_from, &text)?;
    fs::rename(compile(&made_from, workshop.path())?, linked)?;
    if cfg!(windows) {
        // What cust's build script takes for the mark of a toolkit.
        let include = root.join("include");
        fs::create_dir_all(&include)?;
        fs::write(include.join("cuda.h"), "")?;
    }
    // Last: it says that the rest is there.
    command::file::write(&source, &text)
}

fn source_text() -> String {
    let functions = SYMBOLS.lines().map(|name| {
        format!("#[unsafe(no_mangle)]\npub extern \"C\" fn {name}() -> u32 {{\n    {STUB_LIBRARY}\n}}\n")
    });
    format!("#![allow(non_snake_case)]\n{}", functions.collect::<String>())
}

/// What to link to, made from the source in a folder.
#[cfg(not(windows))]
fn compile(source: &Path, dir: &Path) -> Result<PathBuf> {
    let library = dir.join(driver::LIBRARY);
    // The name that goes into the program, and by which the loader finds the driver's own.
    rustc(source, &library, &[&format!("-Clink-arg=-Wl,-soname,{}", driver::LIBRARY)])?;
    Ok(library)
}

#[cfg(windows)]
fn compile(source: &Path, dir: &Path) -> Result<PathBuf> {
    // The import library takes the name to load from the library's. Two linkers call it by two names.
    let library = dir.join(driver::LIBRARY);
    rustc(source, &library, &[])?;
    let names = ["nvcuda.dll.lib", "libnvcuda.dll.a"].map(|name| dir.join(name));
    names.into_iter().find(|file| file.is_file()).context("rustc left no import library")
}

fn rustc(source: &Path, output: &Path, args: &[&str]) -> Result<()> {
    let mut compile = cargo::rustc();
    compile
        .args(["--crate-name", "cuda_stub", "--crate-type", "cdylib", "--edition", "2024", "-Cpanic=abort"])
        .args(args)
        .arg("-o")
        .args([output, source]);
    let status = child::status(&mut compile).context("cannot start rustc")?;
    if !status.success() {
        bail!("rustc's message is above");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(not(windows))]
    fn a_folder_without_the_library_is_not_taken() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(!has_library(&folder.path().join("gone")) && !has_library(folder.path()));
        fs::create_dir_all(folder.path().join("lib64/stubs")).expect("a folder");
        assert!(!has_library(folder.path()));
        fs::write(folder.path().join("lib64/stubs/libcuda.so"), "").expect("a file");
        assert!(has_library(folder.path()));
    }

    #[test]
    fn the_symbols_are_a_sorted_list_of_the_drivers_functions() {
        let symbols: Vec<_> = SYMBOLS.lines().collect();
        assert!(symbols.is_sorted_by(|a, b| a < b));
        assert!(symbols.iter().all(|name| name.starts_with("cu")));
        assert!(symbols.contains(&"cuModuleLoadDataEx"), "the host calls it itself");
    }
}
