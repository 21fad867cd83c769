//! The audit on what a real compiler makes of a real kernel.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// Runs `cargo xtask ptx`, or says why there is no point.
fn ptx(output: &str, flags: &[&str]) -> Option<(Output, PathBuf)> {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(output);
    let _ = std::fs::remove_file(&path);
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["ptx", "--compiler", "rustc", "--output"])
        .arg(&path)
        .args(flags)
        .output()
        .expect("xtask was just built");
    if String::from_utf8_lossy(&output.stderr).contains("no rustc here can compile for the GPU") {
        eprintln!("skipped: no rustc here can compile for the GPU");
        return None;
    }
    Some((output, path))
}

/// The verdict on the kernel whose barrier a compiler is tempted to copy.
fn textbook(output: &Output) -> String {
    let table = String::from_utf8_lossy(&output.stdout);
    let row = table.lines().find(|line| line.contains("reverse_tile_textbook"));
    row.unwrap_or_else(|| panic!("no such row: {output:?}")).to_owned()
}

#[test]
fn jump_threading_splits_the_textbook_kernel_and_the_audit_sees_it() {
    let Some((output, _)) = ptx("split.ptx", &["--jump-threading"]) else { return };
    assert!(output.status.success(), "{output:?}");
    let row = textbook(&output);
    assert!(row.ends_with("| split"), "{row}");
    let table = String::from_utf8_lossy(&output.stdout);
    let said = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("reverse_tile_textbook: copies of kernels-gpu/src/exhibits/split_barrier.rs:"),
        "{table}"
    );
}

#[test]
fn without_jump_threading_every_kernel_passes() {
    let Some((output, path)) = ptx("whole.ptx", &[]) else { return };
    assert!(output.status.success(), "{output:?}");
    let row = textbook(&output);
    assert!(row.ends_with("| ok"), "{row}");
    let ptx = std::fs::read_to_string(path).expect("the PTX");
    for kernel in ["reverse_tile_racy", "reverse_tile_synced", "reverse_tile_prefix"] {
        assert!(ptx.contains(&format!(".entry {kernel}(")), "{kernel} is missing");
    }
    // A tile whose type knows what was done to it costs nothing.
    let [typed, bare] = ["typed_tile", "loop_two_barriers"].map(|kernel| instructions(&ptx, kernel));
    assert!(typed.len() > 20 && typed == bare, "{typed:?} {bare:?}");
}

#[test]
fn two_runs_at_once_leave_one_whole_file() {
    let Some((output, whole)) = ptx("alone.ptx", &[]) else { return };
    assert!(output.status.success(), "{output:?}");
    let together = whole.with_file_name("together.ptx");
    let start = || {
        let mut ptx = Command::new(env!("CARGO_BIN_EXE_xtask"));
        ptx.args(["ptx", "--compiler", "rustc", "--output"]).arg(&together).stdout(Stdio::null());
        ptx.spawn().expect("xtask was just built")
    };
    for mut run in [start(), start()] {
        assert!(run.wait().expect("it runs").success());
    }
    let read = |path: &PathBuf| std::fs::read_to_string(path).expect("the PTX");
    assert_eq!(read(&together), read(&whole));
}

/// A kernel's instructions, without what they work on.
fn instructions<'a>(ptx: &'a str, kernel: &str) -> Vec<&'a str> {
    let entry = ptx.split_once(&format!(".entry {kernel}(")).expect("the kernel").1;
    let body = entry.lines().take_while(|line| *line != "}").map(str::trim);
    let statements = body.filter(|line| line.ends_with(';') && !line.starts_with('.'));
    statements.filter_map(|line| line.split_whitespace().find(|word| !word.starts_with('@'))).collect()
}

#[test]
fn an_unknown_architecture_is_refused_in_one_line() {
    let Some((output, path)) = ptx("unknown.ptx", &["--arch", "sm_1"]) else { return };
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("does not know the architecture sm_1") && error.lines().count() == 1, "{error}");
    assert!(!path.exists());
}
