//! Which source files are libraries.

/// Whether a file is one whose lines say nothing to who wrote the kernel: of Rust's library, of our `cuda_std`, of
/// CUDA's headers.
pub(crate) fn is_library(file: &str) -> bool {
    let file = file.replace('\\', "/");
    ["/library/core/", "/library/alloc/", "/emulator/src/", "/.cargo/registry/", "/cuda/include/"]
        .iter()
        .any(|part| file.contains(part))
        || (file.starts_with("emulator/src/")
            || file.ends_with(".hpp")
            || file.contains("/targets/x86_64-linux/include/"))
}
