//! Machines made up, each without a piece.

use super::*;
use crate::machine::tests::Fake;

const NIGHTLY_FOLDER: &str = "home/.rustup/toolchains/nightly-2026-04-02-x86_64-unknown-linux-gnu";
const HEADER: &str = "usr/local/cuda/include/cuda.h=#define CUDA_VERSION 12090";

/// All that cuda_builder needs.
fn files() -> Vec<String> {
    let in_nightly = [
        "bin/rustc=rustc 1.96.0-nightly (0123456 2026-04-01)",
        "lib/rustlib/src/rust/library/alloc/src/lib.rs",
        "lib/rustlib/x/lib/librustc_driver-1.so",
        "lib/rustlib/x/bin/llvm-nm",
    ];
    let others = [
        "llvm7/bin/llvm-config=7.1.0\n",
        HEADER,
        "usr/local/cuda/nvvm/lib64/libnvvm.so",
        "usr/lib/llvm-18/lib/libclang-18.so.1",
    ];
    let in_nightly = in_nightly.map(|file| format!("{NIGHTLY_FOLDER}/{file}"));
    in_nightly.into_iter().chain(others.map(str::to_owned)).collect()
}

const VARIABLES: [(&str, &str); 3] =
    [("HOME", "home"), ("PATH", "bin"), ("LLVM_CONFIG", "llvm7/bin/llvm-config")];

fn machine(files: &[String], more: &[(&str, &str)]) -> Fake {
    let files: Vec<_> = files.iter().map(String::as_str).collect();
    let variables: Vec<_> = VARIABLES.iter().chain(more).copied().collect();
    Fake::new(&files, &variables)
}

/// Puts `by` in the place of the only file of whose name this is a part; without `by`, nothing.
fn instead_of(part: &str, by: Option<&str>) -> Vec<String> {
    let (gone, mut kept): (Vec<_>, Vec<_>) = files().into_iter().partition(|file| file.contains(part));
    assert_eq!(gone.len(), 1, "{part}");
    kept.extend(by.map(str::to_owned));
    kept
}

/// What is refused, in one line with a way out.
#[track_caller]
fn assert_refused(machine: &Fake, why: &str, fix: &str) {
    let line = Parts::find(&machine.0).err().expect("something is missing").to_string();
    let line = line.replace(&machine.0.root.display().to_string(), "");
    assert!(line.starts_with(why) && line.contains(fix), "{line}");
    assert_eq!(line.lines().count(), 1);
    let pieces = pieces(&machine.0);
    assert!(pieces.iter().any(|piece| piece.found.is_err()), "the doctor sees it too");
}

#[test]
fn a_machine_with_everything_is_described_with_all_versions() {
    let Fake(machine) = &machine(&files(), &[]);
    let parts = Parts::find(machine).expect("everything is there");
    assert_eq!(
        parts.describe(machine),
        "cuda_builder 946c91f (rustc 1.96.0-nightly (0123456 2026-04-01), LLVM 7.1.0, libNVVM of CUDA 12.9)"
    );
    assert!(pieces(machine).iter().all(|piece| piece.found.is_ok()));
}

#[test]
fn a_bare_machine_lacks_every_piece() {
    let Fake(machine) = &Fake::new(&[], &[]);
    assert!(pieces(machine).iter().all(|piece| piece.found.is_err()));
}

#[test]
fn each_missing_piece_is_told_with_the_way_to_get_it() {
    let nightly: Vec<_> = files().into_iter().filter(|file| !file.contains(NIGHTLY_FOLDER)).collect();
    assert_refused(
        &machine(&nightly, &[]),
        "nightly-2026-04-02 is not installed",
        "`rustup toolchain install nightly-2026-04-02 --component rust-src,rustc-dev,llvm-tools`",
    );
    for (part, why, fix) in [
        ("library/alloc", " has no rust-src", "rustup component add rust-src"),
        ("librustc_driver", " has no rustc-dev", "rustup component add rustc-dev"),
        ("llvm-nm", " has no llvm-tools", "rustup component add llvm-tools"),
    ] {
        let why = format!("the toolchain /{NIGHTLY_FOLDER}{why}");
        assert_refused(&machine(&instead_of(part, None), &[]), &why, fix);
    }
    assert_refused(
        &machine(&instead_of("llvm-config", None), &[]),
        "/llvm7/bin/llvm-config does not run",
        "LLVM_CONFIG",
    );
    assert_refused(&machine(&instead_of("cuda.h", None), &[]), "the CUDA toolkit /usr/local/cuda has no", "");
    assert_refused(
        &machine(&instead_of("libnvvm", None), &[]),
        "the CUDA toolkit /usr/local/cuda has no libNVVM (nvvm/lib64/libnvvm.so)",
        "developer.nvidia.com/cuda-downloads",
    );
    let kit: Vec<_> = files().into_iter().filter(|file| !file.contains("cuda/")).collect();
    assert_refused(&machine(&kit, &[]), "no CUDA toolkit", "developer.nvidia.com/cuda-downloads");
    assert_refused(&machine(&instead_of("libclang", None), &[]), "no libclang", "libclang-dev");
}

#[test]
fn another_llvm_and_an_old_toolkit_are_named() {
    let llvm = instead_of("llvm-config", Some("llvm7/bin/llvm-config=14.0.6"));
    assert_refused(&machine(&llvm, &[]), "/llvm7/bin/llvm-config is of LLVM 14.0.6, not 7", "LLVM_CONFIG");
    let kit = instead_of("cuda.h", Some("usr/local/cuda/include/cuda.h=#define CUDA_VERSION 11080"));
    assert_refused(
        &machine(&kit, &[]),
        "the CUDA toolkit /usr/local/cuda is 11.8, older than 12",
        "a CUDA toolkit 12 or newer",
    );
}

#[test]
fn without_rustup_the_rustc_on_the_path_has_to_be_the_pinned_one() {
    // The made-up rustc has one answer for all questions.
    let mut plain: Vec<_> = files().into_iter().filter(|file| !file.contains(NIGHTLY_FOLDER)).collect();
    plain.push("bin/rustc=rustc 1.96.0 (ac68faa20 2026-05-25)".to_owned());
    assert_refused(
        &machine(&plain, &[]),
        "the rustc on PATH is rustc 1.96.0 (ac68faa20 2026-05-25), not nightly-2026-04-02",
        "RUSTUP_TOOLCHAIN=NAME",
    );
}

#[test]
fn the_toolchain_that_the_learner_names_wins() {
    let mut files = files();
    files.push("home/.rustup/toolchains/mine/lib/rustlib/src/rust/library/alloc/src/lib.rs".to_owned());
    let mut fake = machine(&files, &[]);
    let machine = &mut fake.0;
    machine.variables.insert("RUSTUP_TOOLCHAIN".into(), "mine".into());
    let line = Parts::find(machine).err().expect("mine has no rustc-dev").to_string();
    assert!(line.contains("toolchains/mine has no rustc-dev"), "{line}");
    // rustup names the lesson's own to all that it starts.
    machine.variables.insert("RUSTUP_TOOLCHAIN".into(), "stable-x86_64-unknown-linux-gnu".into());
    assert!(Parts::find(machine).is_ok());
    machine.variables.insert("RUSTUP_TOOLCHAIN".into(), "yours".into());
    let line = Parts::find(machine).err().expect("there is none").to_string();
    assert!(line.starts_with("RUSTUP_TOOLCHAIN names yours, which is not installed"), "{line}");
}

#[test]
fn a_built_backend_needs_neither_llvm_nor_rustc_dev() {
    let mut files: Vec<_> = instead_of("librustc_driver", Some("built/librustc_codegen_nvvm.so"));
    files.retain(|file| !file.contains("llvm-config"));
    let machine = machine(&files, &[(LIBRARY_PATH, "built")]);
    assert!(Parts::find(&machine.0).is_ok_and(|parts| parts.backend.is_ok()));
    assert!(pieces(&machine.0).iter().any(|piece| piece.name == "built backend"));
}

#[test]
fn the_doctor_names_the_toolchain_that_counts_and_the_driver_that_its_ptx_needs() {
    let Fake(pinned) = &machine(&files(), &[]);
    assert_eq!(pieces(pinned)[0].name, NIGHTLY);
    // Values of variables begin at the root of the made-up machine, as paths.
    let Fake(named) = &machine(&files(), &[("RUSTUP_TOOLCHAIN", "mine")]);
    assert_eq!(pieces(named)[0].name, "RUSTUP_TOOLCHAIN");
    let libnvvm = pieces(pinned).into_iter().find(|piece| piece.name == "libNVVM").expect("a piece");
    let found = libnvvm.found.expect("it is there");
    assert!(found.ends_with("its PTX 8.8 needs a driver for CUDA 12.9 (branch 575) or newer"), "{found}");
}
