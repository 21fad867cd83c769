//! Two runs at once do not disturb each other: not as processes, and not within one.

use std::process::{Command, Output, Stdio};
use std::{env, fs, process, thread};

use cuda_std::emulator::{Policy, Schedule};
use host::args::Engine;
use host::device::{Emulator, Kernel};
use host::reference::{POISON, input};

const LESSON: &str = env!("CARGO_BIN_EXE_lesson");
const EXPLAIN: &str = env!("CARGO_BIN_EXE_explain");

/// Programs that take long enough to run side by side.
const PROGRAMS: [(&str, &[&str]); 5] = [
    (LESSON, &["--device", "emulator", "--n", "50003", "--seed", "1"]),
    (LESSON, &["--device", "emulator", "--n", "50003", "--seed", "2", "--format", "json"]),
    (env!("CARGO_BIN_EXE_exhibit"), &["exhibit", "two-blocks", "--format", "json"]),
    (env!("CARGO_BIN_EXE_explore"), &["reverse_tile_racy", "--schedules", "200"]),
    (env!("CARGO_BIN_EXE_explore"), &["loop-one-barrier", "--schedules", "100", "--policy", "independent"]),
];

fn start((program, args): (&str, &[&str])) -> process::Child {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("it was just built")
}

fn end(program: process::Child) -> Output {
    program.wait_with_output().expect("it ends")
}

#[test]
fn programs_at_once_say_what_each_says_alone() {
    let alone: Vec<_> = PROGRAMS.into_iter().map(|program| end(start(program))).collect();
    let at_once: Vec<_> = PROGRAMS.into_iter().chain(PROGRAMS).map(start).collect();
    for ((at_once, alone), program) in
        at_once.into_iter().map(end).zip(alone.iter().cycle()).zip(PROGRAMS.iter().cycle())
    {
        assert!(!alone.stdout.is_empty(), "{program:?}: {alone:?}");
        assert_eq!(&at_once, alone, "{program:?}");
    }
}

#[test]
fn a_page_that_two_write_at_once_is_one_of_theirs() {
    let file = |name: &str| env::temp_dir().join(format!("at-once-{name}-{}.html", process::id()));
    let write = |block: &str, name: &str| {
        let path = file(name);
        start((EXPLAIN, &["needs-a-barrier", "--block", block, "-o", path.to_str().expect("text")]))
    };
    let read = |name: &str| fs::read_to_string(file(name)).expect("a page");
    let both = [write("64", "64"), write("128", "128"), write("64", "shared"), write("128", "shared")];
    for page in both.map(end) {
        assert!(page.status.success(), "{page:?}");
    }
    let [small, large, shared] = ["64", "128", "shared"].map(read);
    assert_ne!(small, large);
    assert!(shared == small || shared == large, "{} bytes are neither page", shared.len());
    for name in ["64", "128", "shared"] {
        fs::remove_file(file(name)).expect("it is there");
    }
}

#[test]
fn launches_at_once_leave_what_each_leaves_alone() {
    let kernels = [
        Kernel::ReverseTileRacy,
        Kernel::ReverseTileSynced,
        Kernel::ReverseTilePrefix { keep: 40 },
        Kernel::ReverseTileRacy,
    ];
    let launch = |seed: usize| {
        let input = input(20_003);
        let mut out = vec![POISON; input.len()];
        let schedule = Schedule::seeded(Policy::Lockstep, seed as u64);
        let launched = Emulator::launch_as(Engine::Source, &schedule, kernels[seed], 64, &input, &mut out);
        let (report, trace) = launched.expect("a legal launch");
        let bits: Vec<_> = out.into_iter().map(f32::to_bits).collect();
        (report, trace, bits)
    };
    let alone: Vec<_> = (0..kernels.len()).map(launch).collect();
    assert_ne!(alone[0].2, alone[3].2, "two seeds leave two answers");
    thread::scope(|scope| {
        let at_once: Vec<_> =
            (0..kernels.len()).cycle().take(16).map(|seed| scope.spawn(move || launch(seed))).collect();
        for (at_once, alone) in at_once.into_iter().zip(alone.iter().cycle()) {
            assert_eq!(&at_once.join().expect("it does not panic"), alone);
        }
    });
}
