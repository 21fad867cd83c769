//! Rust-CUDA: the compiler that the kernels are written for, what it needs, and how to call it.

pub(crate) mod build;
pub(crate) mod check;
mod fetch;
pub(crate) mod parts;
mod toolchain;

use crate::cargo::root;

/// Where it lives.
pub(crate) const REPOSITORY: &str = "https://github.com/Rust-GPU/rust-cuda";

/// The revision that `kernels-gpu` depends on.
pub(crate) const REVISION: &str = "946c91f080770f30d42d7c706ac8185969274073";

/// The toolchain that this revision is bound to, by its use of rustc's own crates.
pub(crate) const NIGHTLY: &str = "nightly-2026-04-02";

/// The revision, as people name it.
pub(crate) fn short_revision() -> &'static str {
    &REVISION[..7]
}

fn manifest() -> std::path::PathBuf {
    root().join("kernels-gpu/Cargo.toml")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_files_of_kernels_gpu_name_the_same_revision_and_toolchain() {
        let read = |file: &str| fs::read_to_string(root().join("kernels-gpu").join(file)).expect(file);
        let dependency = format!("git = \"{REPOSITORY}\", rev = \"{REVISION}\"");
        for file in ["Cargo.toml", "builder/Cargo.toml"] {
            assert!(read(file).contains(&dependency), "{file}");
        }
        assert!(read("rust-toolchain.toml").contains(&format!("channel = \"{NIGHTLY}\"")));
    }

    #[test]
    fn the_lock_file_holds_the_last_glam_that_cuda_std_compiles_with() {
        let lock = fs::read_to_string(root().join("kernels-gpu/Cargo.lock")).expect("it is committed");
        assert!(lock.contains("name = \"glam\"\nversion = \"0.30.9\"\n"));
        assert!(lock.contains(&format!("{REPOSITORY}?rev={REVISION}#{REVISION}")));
    }
}
