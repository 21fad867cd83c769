//! What the lesson promises about the kernels' files.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace")
}

/// The library's root file, by cargo's own reading of the manifest.
fn library(manifest: &str) -> PathBuf {
    // `--no-deps` asks for no git dependency to be fetched.
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"])
        .arg(root().join(manifest))
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let kernels = packages.iter().find(|package| package["name"] == "kernels").expect("the package kernels");
    let targets = kernels["targets"].as_array().expect("targets");
    let is_library = |target: &&serde_json::Value| {
        target["kind"]
            .as_array()
            .is_some_and(|kinds| kinds.iter().any(|kind| kind == "rlib" || kind == "lib"))
    };
    let library = targets.iter().find(is_library).expect("a library");
    PathBuf::from(library["src_path"].as_str().expect("a path")).canonicalize().expect("the file is there")
}

#[test]
fn both_manifests_compile_the_same_files() {
    assert_eq!(library("kernels-gpu/Cargo.toml"), library("emulator/kernels/Cargo.toml"));
}

/// From `#[kernel]` on, under a common name.
fn kernel(name: &str) -> Vec<String> {
    let file = root().join(format!("kernels-gpu/src/lesson/{name}.rs"));
    let text = std::fs::read_to_string(file).expect("the kernel's file");
    let start = text.find("#[kernel]").expect("one kernel a file");
    text[start..].replace(name, "kernel").lines().map(str::to_owned).collect()
}

#[test]
fn racy_and_synced_differ_by_exactly_the_barrier() {
    let (racy, synced) = (kernel("reverse_tile_racy"), kernel("reverse_tile_synced"));
    assert_eq!(racy.len(), synced.len());
    let differ: Vec<_> = racy.iter().zip(&synced).filter(|(racy, synced)| racy != synced).collect();
    let [(racy, synced)] = differ[..] else { panic!("{differ:#?}") };
    assert!(racy.trim_start().starts_with("//"), "{racy}");
    assert_eq!(synced.trim(), "thread::sync_threads();");
}
