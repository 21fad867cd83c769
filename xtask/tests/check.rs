//! `cargo xtask check` on files of a learner's own.

mod common;

use std::fs;
use std::path::Path;

use common::{Done, folder, run, start};

/// Writes `text` as `kernel.rs` in a folder of its own and checks it there, on the engine that every machine has.
fn check(name: &str, text: &str, flags: &[&str]) -> Done {
    let folder = folder(&format!("check-{name}"));
    fs::write(folder.join("kernel.rs"), text).expect("the file can be written");
    run(&folder, &[&["check", "kernel.rs", "--engine", "source"], flags].concat(), "")
}

/// A kernel over shared `S`, with `t` and `b` at hand.
fn kernel(parameters: &str, body: &str) -> String {
    format!(
        "use core::mem::MaybeUninit;
use cuda_std::{{address_space, kernel, thread}};

#[kernel]
pub unsafe fn mine({parameters}) {{
    #[address_space(shared)]
    static mut S: [MaybeUninit<f32>; 1024] = [const {{ MaybeUninit::uninit() }}; 1024];
    let t = thread::thread_idx_x() as usize;
    let b = thread::block_dim_x() as usize;
    let i = thread::index_1d() as usize;
    unsafe {{ {body} }}
}}
"
    )
}

#[test]
fn a_file_that_cannot_be_checked_is_one_line() {
    let two = "#[kernel] pub unsafe fn a() {} #[kernel] pub unsafe fn b(x: char) {}";
    check("none", "pub fn f() {}", &[]).is_one_error("kernel.rs: no function with #[kernel]");
    check("two", two, &[]).is_one_error("several kernels; choose one with --kernel: a, b");
    check("which", two, &["--kernel", "c"]).is_one_error("no kernel `c`; there is a, b");
    check("type", two, &["--kernel", "b"]).is_one_error("parameter `x : char`");
    check("private", "#[kernel] unsafe fn a() {}", &[]).is_one_error("kernel `a` is private");
    check("arg", two, &["--kernel", "a", "--arg", "x=1"]).is_one_error("has no parameter `x`");
    check("form", two, &["--kernel", "a", "--arg", "x"]).is_one_error("write it as --arg NAME=VALUE");
    check("n", two, &["--n", "0"]).is_one_error("--n 0");
    check("much", two, &["--n", "999999999999999"]).is_one_error("too many blocks");
    check("block", two, &["--block", "0"]).is_one_error("--block");
    check("flag", two, &["--frobnicate"]).is_one_error("unexpected argument");
    check("syntax", "\npub fn f( {}", &[])
        .is_one_error("kernel.rs:2:13: this does not parse as Rust: this file contains an unclosed");
    check("no-rust", "# It isn't\n\nRust at all.\n", &[]).is_one_error("this does not parse as Rust: ");
    run(&folder("check-nothing"), &["check", "nothing.rs"], "").is_one_error("cannot read nothing.rs");
}

#[test]
fn a_file_that_does_not_compile_is_shown_as_rustc_shows_it() {
    let lacks = check("lacks", &kernel("out: *mut f32", "thread::nothing_of_ours(); *out = 1.0;"), &[]);
    lacks.exits(2).ends_with_error("does not compile with this project's cuda_std");
    assert!(lacks.stderr.contains("cannot find function `nothing_of_ours`"), "{lacks:?}");
}

#[test]
fn a_race_is_found_at_every_size_and_at_its_level() {
    let racy = kernel(
        "input: &[f32], out: *mut f32",
        "
        S[t].write(if i < input.len() { input[i] } else { 0.0 });
        if i < input.len() { *out.add(i) = S[b - 1 - t].assume_init(); }
    ",
    );
    let done = check("racy", &racy, &["--format", "json", "--block", "32,96"]);
    let report: serde_json::Value = serde_json::from_str(&done.exits(1).stdout).expect("JSON");
    assert_eq!(report["launches"][0]["race"], "RAW hazard, warning");
    assert_eq!(report["launches"][1]["race"], "RAW hazard, error");
    assert_eq!(report["clean"], false);
}

#[test]
fn deep_nesting_is_no_crash() {
    let deep = format!("{}b{}", "(".repeat(3000), ")".repeat(3000));
    let chain = "b".to_owned() + &" + b".repeat(20_000);
    let folder = folder("check-nesting");
    for (condition, command) in [(&chain, "lint"), (&deep, "lint"), (&deep, "check")] {
        let text = kernel("out: *mut f32", &format!("if {condition} > 2 {{ thread::sync_threads(); }}"));
        fs::write(folder.join("kernel.rs"), text).expect("the file can be written");
        run(&folder, &[command, "kernel.rs"], "").exits(0).says("1 barrier: 0 findings");
    }
}

#[test]
fn a_kernel_that_prints_or_ends_the_program_is_told_in_one_line() {
    let prints = "println!(\"{t}\"); *out = b as f32 + i as f32;";
    let done =
        check("prints", &kernel("out: *mut f32", prints), &["--format", "json", "--block", "1", "--n", "1"]);
    let report: serde_json::Value = serde_json::from_str(&done.exits(0).stdout).expect("JSON");
    assert_eq!(report["clean"], true);
    assert_eq!(done.stderr, "note: the kernel prints, as none on a GPU does; what it printed is not shown\n");
    for code in [0, 2] {
        let ends = kernel("out: *mut f32", &format!("*out = 1.0; std::process::exit({code})"));
        check(&format!("ends-{code}"), &ends, &["--format", "json"])
            .is_one_error(&format!("ended with exit code {code} before its report"));
    }
}

/// Run it with `cargo test --release -p xtask --test check -- --ignored`.
#[test]
#[ignore = "compiles a program for each kernel"]
fn the_kernels_of_the_lesson() {
    let lesson = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels-gpu/src/lesson");
    for (file, code, says) in [
        ("reverse_tile_synced.rs", 0, "every block is full; --n 4099 tries a last one that is not"),
        ("reverse_tile_prefix.rs", 0, "keep = 2"),
        ("reverse_tile_racy.rs", 1, "RAW hazard, error"),
    ] {
        run(&lesson, &["check", file, "--engine", "source"], "").exits(code).says(says);
    }
}

/// Run it with `cargo test --release -p xtask --test check -- --ignored`.
#[test]
#[ignore = "needs a compiler for the GPU"]
fn a_barrier_that_the_compiler_splits_is_seen_without_a_card() {
    let exhibits = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels-gpu/src/exhibits");
    run(&exhibits, &["check", "split_barrier.rs", "--engine", "ptx", "--n", "4099"], "")
        .exits(0)
        .says("nothing found")
        .says_in_words(
            "the compiler CHANGED the verdict: with blocks of 32 threads barrier ok in the source",
        );
}

/// Run it with `cargo test --release -p xtask --test check -- --ignored`.
#[test]
#[ignore = "compiles a program for each kernel"]
fn every_kind_of_finding() {
    let out = "out: *mut f32";
    for (name, parameters, body, says) in [
        ("divergent", out, "if t < b / 2 { thread::sync_threads(); } *out.add(i % 4096) = 1.0;", "divergent"),
        ("bounds", out, "*out.add(i) = 1.0;", "out of bounds"),
        (
            "init",
            "out: *mut f32, n: u32",
            "if i < n as usize { *out.add(i) = S[t].assume_init(); }",
            "uninitialised",
        ),
        ("copy", out, "{ S[t] }.write(1.0); let _ = out;", "write lost"),
        ("panic", "x: *const f32, many: &[u8]", "let _ = (x, many[many.len()]);", "panic"),
    ] {
        check(name, &kernel(parameters, body), &["--n", "4099"]).exits(1).says(says);
    }
}

/// Run it with `cargo test --release -p xtask --test check -- --ignored`.
#[test]
#[ignore = "compiles a program for each kernel"]
fn arguments_of_every_type() {
    let parameters = "n: &[u8], case: u16, memory: f64, flag: bool, from: *const i32, out: *mut bool";
    let body =
        "if i < n.len() { *out.add(i) = *from.add(i) > n[i] as i32 && memory > 2.5 && flag && case == 7; }";
    let text = kernel(parameters, body);
    check("types", &text, &["--arg", "case=7", "--arg", "memory=3.5"])
        .exits(0)
        .says("case = 7, memory = 3.5");
    check("range", &text, &["--arg", "case=70000"]).exits(2).ends_with_error("--arg case=70000: not a u16");
}

/// Run it with `cargo test --release -p xtask --test check -- --ignored`.
#[test]
#[ignore = "waits for kernels that never end"]
fn an_endless_loop_is_told_within_its_time() {
    let looping = kernel("out: *mut f32", "loop { if *out.add(i % 4096) == 0.5 { break; } }");
    check("loop", &looping, &[]).exits(2).ends_with_error("still going round a loop");
    let helper =
        kernel("out: *mut f32", "spin(); *out = 1.0;") + "fn spin() { loop { core::hint::spin_loop() } }";
    check("helper", &helper, &["--timeout", "20"])
        .exits(2)
        .ends_with_error("within 20 s: does it loop for ever? --timeout SECONDS gives it longer");
    let deep = kernel("out: *mut f32", "*out = deep(t as f32);")
        + "#[inline(never)] fn deep(x: f32) -> f32 { if x < 0.0 { x } else { deep(x + 1.0) * x + deep(x) } }";
    check("deep", &deep, &[]).exits(2).ends_with_error("crashed");
}

/// Run it with `cargo test --release -p xtask --test check -- --ignored`.
#[test]
#[ignore = "compiles two programs"]
fn two_checks_at_once_do_not_disturb_each_other() {
    let folder = folder("check-at-once");
    fs::write(folder.join("good.rs"), kernel("out: *mut f32", "let _ = (out, b, i);")).expect("written");
    fs::write(folder.join("bad.rs"), kernel("out: *mut f32", "*out.add(i) = 1.0;")).expect("written");
    let good = start(&folder, &["check", "good.rs", "--engine", "source"]);
    let bad = start(&folder, &["check", "bad.rs", "--engine", "source", "--n", "4099"]);
    Done::from(good.wait_with_output().expect("it ran")).exits(0).says("nothing found");
    Done::from(bad.wait_with_output().expect("it ran")).exits(1).says("out of bounds");
}

/// Ctrl-C, and a polite kill.
#[test]
#[cfg(unix)]
fn an_interrupt_leaves_no_program_and_no_folder_behind() {
    use std::process::{Command, Stdio};
    use std::thread;
    use std::time::Duration;

    let kill = |signal: &str, id: &str| {
        let kill = Command::new("kill").args([signal, id]).stderr(Stdio::null()).status();
        kill.expect("kill starts").success()
    };
    for signal in ["-INT", "-TERM"] {
        let folder = folder(&format!("check-interrupt{signal}"));
        let spin = "fn spin() -> ! {
            let me = std::process::id().to_string() + \" \" + std::env::current_exe().unwrap().to_str().unwrap();
            let late = \"sleep 2; echo alive > grandchild\";
            std::process::Command::new(\"sh\").args([\"-c\", late]).spawn().unwrap();
            std::fs::write(\"part\", me).unwrap();
            std::fs::rename(\"part\", \"runs\").unwrap();
            loop { core::hint::spin_loop() }
        }";
        let looping = kernel("out: *mut f32", "*out = b as f32 + i as f32 + t as f32; spin();") + spin;
        fs::write(folder.join("kernel.rs"), looping).expect("the file can be written");
        let mut child = start(&folder, &["check", "kernel.rs", "--engine", "source"]);
        let runs = folder.join("runs");
        while !runs.exists() {
            assert!(child.try_wait().expect("it can be asked").is_none(), "it ended before the kernel ran");
            thread::sleep(Duration::from_millis(10));
        }
        let runs = fs::read_to_string(runs).expect("the kernel wrote it");
        let (program, path) = runs.split_once(' ').expect("two words");
        assert!(kill("-0", program) && Path::new(path).exists());
        assert!(kill(signal, &child.id().to_string()));
        let done = Done::from(child.wait_with_output().expect("it ran"));
        done.exits(130);
        assert_eq!(done.stderr, "");
        assert!(!kill("-0", program), "{program} still runs");
        assert!(!Path::new(path).parent().expect("its folder").exists(), "{path} is still there");
        thread::sleep(Duration::from_millis(2500));
        assert!(!folder.join("grandchild").exists(), "what the kernel started goes on");
    }
}
