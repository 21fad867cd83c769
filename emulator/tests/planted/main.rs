//! Faults planted in the checker: each must be found by its tests.
//!
//! A fault is a change of the source, made in a copy of the project, so that the checker itself has no hooks.
//! Minutes: `cargo test --release -p cuda-std-emulator --test planted -- --ignored --nocapture`

mod faults;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

use faults::{FAULTS, Fault};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the emulator lies in the workspace")
}

impl Fault {
    fn path(&self, project: &Path) -> PathBuf {
        project.join(self.file)
    }

    /// The file without the fault and with it.
    fn plant(&self, project: &Path) -> [String; 2] {
        let source = fs::read_to_string(self.path(project)).expect("the checker's source");
        let source = source.replace("\r\n", "\n");
        assert_eq!(source.matches(self.from).count(), 1, "{}: {}", self.file, self.from);
        let planted = source.replace(self.from, self.to);
        [source, planted]
    }
}

/// A fault that no longer fits the source would never be planted.
#[test]
fn every_fault_has_its_place() {
    for fault in FAULTS {
        let [before, planted] = fault.plant(root());
        assert_ne!(before, planted, "{}", fault.what);
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == "target" || name.to_string_lossy().starts_with('.') {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to.join(name))?;
        } else {
            fs::copy(entry.path(), to.join(name))?;
        }
    }
    Ok(())
}

/// Runs the checker's tests in the copy, until one fails. `None` if they do not even build.
fn tests_pass(copy: &Path) -> Option<bool> {
    let cargo = |test: &[&str]| {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(copy).env("CARGO_TARGET_DIR", copy.with_file_name("build"));
        // Most of the time goes into building.
        command.envs([("CARGO_INCREMENTAL", "1"), ("CARGO_PROFILE_DEV_DEBUG", "0")]);
        command.args(["test", "--quiet"]).args(test);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.status().expect("cargo runs").success()
    };
    let emulator = ["fuzz", "semantics", "traps", "rows"];
    let emulator = emulator.map(|test| ["--package", "cuda-std-emulator", "--test", test].to_vec());
    for test in emulator.into_iter().chain([vec!["--package", "race", "--lib"]]) {
        if !cargo(&[&test[..], &["--no-run"]].concat()) {
            return None;
        }
        if !cargo(&test) {
            return Some(false);
        }
    }
    Some(true)
}

#[test]
#[ignore = "minutes; the command is at the top of the file"]
fn every_fault_is_found() {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let tree = target.join("planted").join("tree");
    let _ = fs::remove_dir_all(&tree);
    copy(root(), &tree).expect("room for a copy of the project");
    assert_eq!(tests_pass(&tree), Some(true), "without a fault");
    let mut survived = Vec::new();
    for fault in FAULTS {
        let path = fault.path(&tree);
        let [before, planted] = fault.plant(&tree);
        fs::write(&path, planted).expect("the copy can be written");
        let passed = tests_pass(&tree);
        fs::write(&path, before).expect("the copy can be written");
        let verdict = match passed {
            None => "does not build",
            Some(true) => "survived",
            Some(false) => "killed",
        };
        println!("{verdict}: {}", fault.what);
        if verdict != "killed" {
            survived.push(fault.what);
        }
    }
    println!("{}/{} planted faults killed", FAULTS.len() - survived.len(), FAULTS.len());
    assert_eq!(survived, [""; 0]);
}
