//! Files that are none, or that are meant to hang or to break whoever reads them.

mod common;

use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, iter};

use common::{Done, folder, run};

/// A kernel with this body, and other items behind it.
fn kernel(body: &str, items: &str) -> String {
    format!(
        "use core::mem::MaybeUninit;
use cuda_std::{{address_space, kernel, thread}};

#[kernel]
pub unsafe fn mine(out: *mut f32) {{
    let t = thread::thread_idx_x() as usize;
    {body}
    let _ = (t, out);
}}
{items}"
    )
}

/// Lints and checks a file that neither can read.
#[track_caller]
fn is_refused(folder: &Path, file: &str, why: &str) {
    for command in ["lint", "check"] {
        run(folder, &[command, file], "").is_one_error(why);
    }
}

#[test]
fn what_is_no_file_or_has_no_end_is_not_read() {
    let folder = folder("bad-files");
    fs::create_dir(folder.join("folder.rs")).expect("a folder");
    run(&folder, &["check", "folder.rs"], "").is_one_error("cannot read folder.rs: it is no file");
    let large = iter::repeat_n("// much\n", 200_000).collect::<String>();
    fs::write(folder.join("large.rs"), large).expect("a file");
    is_refused(&folder, "large.rs", "cannot read large.rs: it has more than 1048576 bytes");
    fs::write(folder.join("binary.rs"), b"\xff\xfe\x00").expect("a file");
    is_refused(&folder, "binary.rs", "cannot read binary.rs");
    is_refused(&folder, "none.rs", "cannot read none.rs");
}

#[test]
#[cfg(unix)]
fn pipes_devices_and_circles_of_links_are_not_waited_for() {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    let folder = folder("bad-links");
    is_refused(&folder, "/dev/zero", "cannot read /dev/zero: it is no file");
    let made = Command::new("mkfifo").arg(folder.join("pipe.rs")).status().expect("mkfifo starts");
    assert!(made.success());
    is_refused(&folder, "pipe.rs", "cannot read pipe.rs: it is no file");
    run(&folder, &["lint", "."], "").is_one_error("pipe.rs: it is no file");
    fs::remove_file(folder.join("pipe.rs")).expect("it is there");
    symlink("circle.rs", folder.join("circle.rs")).expect("a link");
    is_refused(&folder, "circle.rs", "cannot read circle.rs");
    fs::remove_file(folder.join("circle.rs")).expect("it is there");
    // A folder that is in itself.
    fs::create_dir(folder.join("inner")).expect("a folder");
    symlink("..", folder.join("inner/outer")).expect("a link");
    fs::write(folder.join("inner/kernel.rs"), kernel("thread::sync_threads();", "")).expect("a file");
    run(&folder, &["lint", "."], "").exits(0).says("1 barrier: 0 findings");
}

/// Each of these would take more stack than there is.
#[test]
fn what_is_nested_too_deep_is_refused() {
    let folder = folder("bad-nesting");
    let nested =
        |open: &str, close: &str, times: usize| format!("{}1{}", open.repeat(times), close.repeat(times));
    for (name, body, why) in [
        ("brackets", format!("if {} > 2 {{}}", nested("(", ")", 100_000)), "nested too deep"),
        ("references", format!("let x: {}u8;", "&".repeat(100_000)), "too long"),
        ("generics", format!("let x: {};", nested("V<", ">", 50_000)), "too long"),
        ("prefixes", format!("let x = {}1;", "-".repeat(100_000)), "too long"),
        ("chain", format!("if t == 0 {{}} {}", "else if t == 1 {} ".repeat(30_000)), "too long"),
    ] {
        let file = format!("{name}.rs");
        fs::write(folder.join(&file), kernel(&body, "")).expect("a file");
        run(&folder, &["lint", &file], "").is_one_error(why);
    }
    let deepest = format!("let x: {}u8; let y = {};", "&".repeat(3900), nested("(", ")", 3900));
    fs::write(folder.join("deepest.rs"), kernel(&deepest, "")).expect("a file");
    run(&folder, &["lint", "deepest.rs"], "").exits(0);
}

/// Run it with `cargo test --release -p xtask --test bad_input -- --ignored`.
#[test]
#[ignore = "waits for the limit of each, after what was built for them"]
fn what_keeps_the_compiler_busy_ends_within_its_time() {
    let folder = folder("bad-bombs");
    fs::write(folder.join("first.rs"), kernel("", "")).expect("a file");
    run(&folder, &["check", "first.rs", "--engine", "source"], "").exits(0);
    let types = (0..40).map(|level| match level {
        0 => "fn f0<T: Copy>(x: T) -> T { x }\n".to_owned(),
        level => format!("fn f{level}<T: Copy>(x: T) -> impl Copy {{ f{}((x, x)) }}\n", level - 1),
    });
    let tile = "#[address_space(shared)]
        static mut S: [MaybeUninit<f32>; 1 << 34] = [const { MaybeUninit::uninit() }; 1 << 34];
        unsafe { S[t].write(1.0) };";
    let constant = "const N: usize = { let mut i = 1_usize; while i > 0 { i = i % 1000 + 1; } i };";
    let twice = "macro_rules! m { ($($x:tt)*) => { m!($($x)* $($x)*) } }";
    for (name, body, items) in [
        ("loop", "let _ = N;", constant.to_owned()),
        ("types", "let _ = f39(0_u8);", types.collect()),
        ("macro", "m!(a a a a a a a a);", twice.to_owned()),
        ("tile", tile, String::new()),
    ] {
        let file = format!("{name}.rs");
        fs::write(folder.join(&file), kernel(body, &items)).expect("a file");
        let start = Instant::now();
        let done: Done = run(&folder, &["check", &file, "--engine", "source", "--timeout", "5"], "");
        assert!(start.elapsed() < Duration::from_secs(20), "{name}: {:?}", start.elapsed());
        done.exits(2);
        let last = done.stderr.lines().last().unwrap_or_default();
        assert!(
            last.contains("has not come to an end within 5 s")
                || last.contains("does not compile")
                || last.contains("the compiler itself failed"),
            "{name}: {done:#?}"
        );
    }
}

/// What the kernel starts holds the output open, and goes on.
#[test]
#[cfg(unix)]
fn a_program_that_a_kernel_starts_ends_with_it() {
    let folder = folder("bad-grandchild");
    let starts = "if thread::index_1d() == 0 {
        std::process::Command::new(\"sh\").args([\"-c\", \"sleep 60 & sleep 5; echo alive > grandchild\"]).spawn().unwrap();
    }";
    fs::write(folder.join("kernel.rs"), kernel(starts, "")).expect("a file");
    let start = Instant::now();
    let done = run(&folder, &["check", "kernel.rs", "--engine", "source", "--block", "32", "--n", "32"], "");
    done.exits(1).says("no GPU has this");
    assert!(start.elapsed() < Duration::from_secs(50), "{:?}", start.elapsed());
    std::thread::sleep(Duration::from_secs(6));
    assert!(!folder.join("grandchild").exists(), "what the kernel started goes on");
}

/// Where nobody can end anything any more, the system does.
#[test]
#[cfg(target_os = "linux")]
fn a_command_that_is_killed_takes_its_program_with_it() {
    let folder = folder("bad-killed");
    let spins = "spin();";
    let spin = "fn spin() -> ! {
        std::fs::write(\"part\", std::process::id().to_string()).unwrap();
        std::fs::rename(\"part\", \"runs\").unwrap();
        loop { core::hint::spin_loop() }
    }";
    fs::write(folder.join("kernel.rs"), kernel(spins, spin)).expect("a file");
    let mut command = common::start(&folder, &["check", "kernel.rs", "--engine", "source"]);
    let runs = folder.join("runs");
    while !runs.exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let program = fs::read_to_string(&runs).expect("the kernel wrote it");
    let state = || fs::read_to_string(format!("/proc/{program}/stat")).unwrap_or_default();
    assert!(state().contains("(program)"));
    command.kill().expect("it runs");
    command.wait().expect("it ran");
    let start = Instant::now();
    // Gone, or dead and not yet buried.
    while !matches!(state().rsplit(") ").next().and_then(|rest| rest.chars().next()), None | Some('Z')) {
        assert!(start.elapsed() < Duration::from_secs(10), "{program} still runs");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_length_that_its_type_cannot_hold_is_told_before_anything_is_compiled() {
    let folder = folder("bad-length");
    let text =
        "use cuda_std::kernel;\n#[kernel]\npub unsafe fn mine(out: *mut f32, n: u8) { let _ = (out, n); }\n";
    fs::write(folder.join("kernel.rs"), text).expect("a file");
    let check =
        |flags: &[&str]| run(&folder, &[&["check", "kernel.rs", "--engine", "source"], flags].concat(), "");
    check(&[]).is_one_error("`n: u8` cannot hold n = 4096; give a smaller --n, or --arg n=VALUE");
    check(&["--arg", "n=300"]).is_one_error("--arg n=300: not a u8");
    check(&["--arg", "n=7"]).exits(0);
    check(&["--n", "255"]).exits(0);
}

#[test]
#[cfg(target_os = "linux")]
fn more_memory_than_there_is_is_not_asked_for() {
    let folder = folder("bad-memory");
    let text = "use cuda_std::kernel;\n#[kernel]\npub unsafe fn mine(out: *mut f32) { let _ = out; }\n";
    fs::write(folder.join("kernel.rs"), text).expect("a file");
    let much = run(
        &folder,
        &["check", "kernel.rs", "--engine", "source", "--n", "1000000000000", "--block", "1024"],
        "",
    );
    much.exits(2).ends_with_error("no memory for 1000000000000 elements; give a smaller --n");
    for (n, why) in [
        ("0", "--n 0 leaves nothing to do"),
        ("1000000000000", "blocks of 64 threads"),
        ("9223372036854775808", "blocks of 64 threads"),
    ] {
        run(&folder, &["explore", "reverse_tile_racy", "--n", n], "").exits(2).ends_with_error(why);
    }
    let blocks = ["explore", "reverse_tile_racy", "--block", "1024", "--n", "1000000000000"];
    run(&folder, &blocks, "").exits(2).ends_with_error("no memory for 1000000000000 elements");
}

#[test]
fn a_schedule_of_another_launch_is_not_replayed() {
    let folder = folder("bad-replay");
    let replay = |kernel: &str, schedule: &str| {
        run(&folder, &["explore", kernel, "--block", "2", "--n", "2", "--replay", schedule], "")
    };
    replay("reverse_tile_synced", "exhaustive:1").exits(0);
    // Two threads: nobody is third.
    replay("reverse_tile_synced", "exhaustive:2").exits(2).ends_with_error("is of another launch");
    let long = format!("exhaustive:{}1", "0".repeat(100));
    replay("reverse_tile_synced", &long).exits(2).ends_with_error("is of another launch");
    replay("reverse_tile_synced", "exhaustive:?").exits(2).ends_with_error("not a schedule");
    replay("reverse_tile_synced", "random:99999999999999999999").exits(2).ends_with_error("not a schedule");
}
