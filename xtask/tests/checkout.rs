//! Where the project lies and where cargo builds it, however either was told.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{end, folder, start_with};

/// What the command knows a checkout by, with a learner's file.
#[test]
fn a_copy_of_the_project_is_judged_and_written_alone() {
    let copy = folder("checkout-copy");
    let original = Path::new(env!("CARGO_MANIFEST_DIR")).join("../exercise");
    let files = |folder: &Path| {
        let mut names: Vec<_> = fs::read_dir(folder.join("src"))
            .expect("the folder")
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        names.sort();
        (names, fs::read(folder.join("src/tile.rs")).expect("the learner's file"))
    };
    let before = files(&original);
    for mark in ["Cargo.toml", "xtask/Cargo.toml", "kernels-gpu/Cargo.toml", "exercise/src/tile.rs"] {
        fs::create_dir_all(copy.join(mark).parent().expect("a folder")).expect("a folder");
        fs::write(copy.join(mark), "").expect("a file");
    }
    // As cargo calls it there.
    let package = copy.join("xtask").to_string_lossy().into_owned();
    let reset = start_with(&copy, &["exercise", "--reset"], &[("CARGO_MANIFEST_DIR", package)]);
    end(reset, "").exits(0).says("exercise/src/tile.rs.bak");
    assert!(!fs::read(copy.join("exercise/src/tile.rs")).expect("it is back").is_empty());
    assert_eq!(files(&original), before, "the original was written to");
}

/// Run it with `cargo test --release -p xtask --test checkout -- --ignored`.
#[test]
#[ignore = "builds the libraries once more, for a target that is named"]
fn a_target_that_is_named_has_a_folder_of_its_own() {
    let rustc = Command::new("rustc").arg("-vV").output().expect("rustc starts");
    let said = String::from_utf8(rustc.stdout).expect("UTF-8");
    let host = said.lines().find_map(|line| line.strip_prefix("host: ")).expect("a line").to_owned();
    let lesson = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels-gpu/src/lesson");
    for args in [
        &["check", "reverse_tile_synced.rs", "--engine", "source"][..],
        &["run", "--device", "emulator", "--n", "300"],
    ] {
        let named = start_with(&lesson, args, &[("CARGO_BUILD_TARGET", host.clone())]);
        end(named, "").exits(0);
    }
}
