//! The made-up driver as a library, which the loader takes for the real one where it finds it first.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

const FAKE: &str = include_str!("fake_driver.rs");
const SYMBOLS: &str = include_str!("../../../xtask/src/link/symbols.txt");

/// Compiles it into a folder, for `LD_LIBRARY_PATH`.
pub(crate) fn make(folder: &Path) {
    fs::create_dir_all(folder).expect("a folder");
    let missing = SYMBOLS.lines().filter(|name| !FAKE.contains(&format!("fn {name}(")));
    let stubs: String = missing
        .map(|name| format!("#[unsafe(no_mangle)] pub extern \"C\" fn {name}() -> u32 {{ 999 }}\n"))
        .collect();
    fs::write(folder.join("driver.rs"), format!("{FAKE}\n{stubs}")).expect("a file");
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let status = Command::new(rustc)
        .args(["--crate-type", "cdylib", "--edition", "2024", "-Cpanic=abort"])
        .args(["-Anon_snake_case", "-Aunsafe_op_in_unsafe_fn", "-Aunused_unsafe"])
        .arg("-Clink-arg=-Wl,-soname,libcuda.so.1")
        .args(["-o", "libcuda.so.1", "driver.rs"])
        .current_dir(folder)
        .status();
    assert!(status.expect("rustc starts").success());
}
