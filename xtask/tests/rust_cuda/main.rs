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
    let root = machine(name);
    (stand_in(&root, ptx, ""), root.join("target/ptx/kernels-compute_75.ptx"))
}

/// A machine with all that cuda_builder needs, the stand-in for cargo among it.
#[cfg(target_os = "linux")]
fn machine(name: &str) -> PathBuf {
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
    root
}

/// Runs the stand-in there; what its LLVM says of line tables, if anything, is why it cannot make them.
#[cfg(target_os = "linux")]
fn stand_in(root: &Path, ptx: &Path, llvm: &str) -> Output {
    xtask(
        &["ptx", "--compiler", "cuda-builder", "--arch", "compute_75"],
        &[
            ("RUSTUP_TOOLCHAIN", Path::new("mine")),
            ("RUSTUP_HOME", &root.join("rustup")),
            ("LD_LIBRARY_PATH", &root.join("built")),
            ("CUDA_PATH", &root.join("cuda")),
            ("LIBCLANG_PATH", root),
            ("CARGO_TARGET_DIR", &root.join("target")),
            ("FAKE_PTX", ptx),
            ("FAKE_LLVM", Path::new(llvm)),
        ],
    )
}

#[test]
#[cfg(target_os = "linux")]
fn line_tables_that_cannot_be_made_are_tried_once() {
    let root = machine("no-lines");
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/upstream/split-barrier/after.ptx");
    let runs = || {
        let runs = std::fs::read_to_string(root.join("target/ptx/cuda-builder/runs")).expect("it ran");
        runs.lines().map(|run| run.contains("--no-lines")).collect::<Vec<_>>()
    };
    for (wanted, notes) in [(&[false, true][..], 1), (&[false, true, true], 0)] {
        let output =
            stand_in(&root, &docs, "Intrinsic has incorrect return type! llvm.nvvm.match.any.sync.i32");
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(error.matches("cannot make line tables").count(), notes, "{error}");
        assert!(!error.contains("a page of output"), "{error}");
        assert_eq!(runs(), wanted);
    }
    // Any other failure is told, and nothing is tried again.
    let root = machine("other-failure");
    let said = root.join("target/ptx/cuda-builder/.rustc_info.json");
    std::fs::create_dir_all(said.parent().expect("a folder")).expect("a folder");
    std::fs::write(&said, "{}").expect("a file");
    let output = stand_in(&root, &docs, "error: something else");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("something else") && !error.contains("line tables"), "{error}");
    assert!(!said.exists(), "cargo would repeat what a broken backend said");
    assert_eq!(
        std::fs::read_to_string(root.join("target/ptx/cuda-builder/runs")).expect("it ran").lines().count(),
        1
    );
}

/// As libNVVM writes it where it was asked for line tables.
#[test]
#[cfg(target_os = "linux")]
fn debug_information_and_the_paths_in_it_stay_behind() {
    let root = machine("debug");
    let kernels: String = ["racy", "synced", "prefix"]
        .map(|kernel| {
            let barrier = if kernel == "racy" { "" } else { "\t.loc\t2 281 14\n\tbar.sync 0;\n" };
            format!(".visible .entry reverse_tile_{kernel}()\n{{\n\t.loc\t7 30 5\n{barrier}\tret;\n}}\n")
        })
        .concat();
    let ptx = format!(
        ".version 8.8\n.target sm_75, debug\n.address_size 64\n{kernels}\
         \t.file\t2 \"/home/me/cuda_std/src/thread.rs\"\n\t.file\t7 \"/home/me/kernels-gpu/src/lesson/a.rs\"\n\
         \t.section\t.debug_str\n\t{{\n.b8 47,104,111,109,101 // /home/me\n\t}}\n"
    );
    std::fs::write(root.join("debug.ptx"), ptx).expect("a file");
    let output = stand_in(&root, &root.join("debug.ptx"), "");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let written =
        std::fs::read_to_string(root.join("target/ptx/kernels-compute_75.ptx")).expect("it was written");
    assert!(written.contains(".target sm_75\n") && written.contains("\t.loc\t1 30 5\n"), "{written}");
    for gone in ["debug", "/home/me", ".b8", "281"] {
        assert!(!written.contains(gone), "{gone} is in {written}");
    }
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
    for (file, shared, verdict) in [("before.ptx", "3", "split"), ("after.ptx", "2", "ok")] {
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
