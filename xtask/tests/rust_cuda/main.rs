//! What the Rust-CUDA commands say where something is missing, and what they do with what cuda_builder makes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn xtask(args: &[&str], variables: &[(&str, &Path)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(args)
        .envs(variables.iter().copied())
        .output()
        .expect("xtask was just built")
}

fn empty(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a folder of our own");
    path
}

/// Exit code 2, and one line with this in it.
#[track_caller]
fn assert_cannot_run(output: &Output, parts: &[&str]) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    for part in parts {
        assert!(error.contains(part), "{part} is not in {error}");
    }
}

#[test]
fn without_a_network_the_real_cuda_std_is_out_of_reach() {
    let home = empty("cargo-home");
    let output =
        xtask(&["check-cuda-std"], &[("CARGO_HOME", &home), ("CARGO_NET_OFFLINE", Path::new("true"))]);
    assert_cannot_run(&output, &["cannot get Rust-CUDA 946c91f", "offline", "insteadOf"]);
}

#[test]
fn a_toolchain_that_is_not_installed_is_named() {
    let nothing = empty("nothing");
    let output = xtask(
        &["ptx", "--compiler", "cuda-builder"],
        &[("RUSTUP_TOOLCHAIN", Path::new("mine")), ("RUSTUP_HOME", &nothing), ("PATH", &nothing)],
    );
    assert_cannot_run(&output, &["cuda_builder cannot run here", "mine, which is not installed", "rustup"]);
}

#[test]
fn an_architecture_is_a_name_and_not_a_path() {
    let output = xtask(&["ptx", "--compiler", "cuda-builder", "--arch", "sm_../x"], &[]);
    assert_cannot_run(&output, &["--arch sm_../x", "sm_75 or compute_75"]);
}

/// `cargo xtask ptx --compiler cuda-builder` with a stand-in for cargo, and with this PTX.
#[cfg(target_os = "linux")]
fn with_stand_in(name: &str, ptx: &Path) -> (Output, PathBuf) {
    let root = empty(name);
    for (file, text) in [
        ("rustup/toolchains/mine/lib/rustlib/src/rust/library/alloc/src/lib.rs", ""),
        ("built/librustc_codegen_nvvm.so", ""),
        ("cuda/include/cuda.h", "#define CUDA_VERSION 12090\n"),
        ("cuda/nvvm/lib64/libnvvm.so", ""),
    ] {
        let file = root.join(file);
        std::fs::create_dir_all(file.parent().expect("it lies in the root")).expect("a folder");
        std::fs::write(file, text).expect("a file");
    }
    let programs = root.join("rustup/toolchains/mine/bin");
    std::fs::create_dir(&programs).expect("a folder");
    let cargo = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rust_cuda/cargo");
    std::os::unix::fs::symlink(cargo, programs.join("cargo")).expect("a link");
    let output = xtask(
        &["ptx", "--compiler", "cuda-builder", "--arch", "compute_75"],
        &[
            ("RUSTUP_TOOLCHAIN", Path::new("mine")),
            ("RUSTUP_HOME", &root.join("rustup")),
            ("LD_LIBRARY_PATH", &root.join("built")),
            ("CUDA_PATH", &root.join("cuda")),
            ("LIBCLANG_PATH", &root),
            ("CARGO_TARGET_DIR", &root.join("target")),
            ("FAKE_PTX", ptx),
        ],
    );
    (output, root.join("target/ptx/kernels-compute_75.ptx"))
}

#[test]
#[cfg(target_os = "linux")]
fn a_compile_error_ends_with_what_to_do() {
    let (output, ptx) = with_stand_in("compile-error", Path::new(""));
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("the compiler's own words"), "{error}");
    let last = error.lines().last().unwrap_or_default();
    assert!(last.contains("cuda_builder did not compile the kernels") && last.contains("rustc"), "{error}");
    assert!(!ptx.exists());
}

#[test]
#[cfg(target_os = "linux")]
fn what_cuda_builder_makes_is_audited() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/upstream/split-barrier");
    for (file, shared, verdict) in [("before.ptx", "3", "count"), ("after.ptx", "2", "ok")] {
        let (output, ptx) = with_stand_in(file, &docs.join(file));
        let table = String::from_utf8_lossy(&output.stdout);
        let row = table.lines().find(|line| line.contains("reverse_tile_textbook")).unwrap_or_default();
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        assert!(cells.ends_with(&[shared, verdict]), "{table}");
        // It has none of the lesson's kernels.
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.contains("error: the PTX has no kernel reverse_tile_synced"), "{error}");
        assert!(!ptx.exists());
    }
}
