//! The exercise on a card that is made up, as it is under `host/tests/cuda`: it computes what the file at its start
//! computes, whatever the file says. So a wrong answer is the emulator's, and a right one the card's.
//!
//! Linux only, where a library can be put in the driver's place.
#![cfg(target_os = "linux")]

mod common;
#[path = "../../host/tests/cuda/library.rs"]
mod library;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{env, fs};

use common::exercise::{Exercise, START, below, without};
use common::{Done, end, folder, start_with};

/// A compute-sanitizer that finds a race where the PTX has its barrier below the last read.
const SANITIZER: &str = r#"#!/bin/sh
while [ "$1" != --log-file ]; do shift; done
log=$2; shift 2
"$@" || exit
while [ "$1" != --ptx ]; do shift; done
hazards=0
{
    echo "========= COMPUTE-SANITIZER"
    if awk '/ld.shared/ { read = NR } /bar.sync/ { barrier = NR } END { exit !(barrier > read) }' "$2"; then
        echo "========= Error: Race reported between Write access at k+0x40 in tile.rs:36"
        echo "=========     and Read access at k+0x80 in tile.rs:39 [4 hazards]"
        echo "========= "
        hazards=1
    fi
    echo "========= RACECHECK SUMMARY: $hazards hazards displayed"
} >"$log"
"#;

struct Machine {
    driver: PathBuf,
    bin: PathBuf,
}

impl Machine {
    fn new(name: &str, sanitizer: bool) -> Self {
        let machine = folder(&format!("{name}-machine"));
        let (driver, bin) = (machine.join("driver"), machine.join("bin"));
        library::make(&driver);
        fs::create_dir_all(&bin).expect("a folder");
        if sanitizer {
            let script = bin.join("compute-sanitizer");
            fs::write(&script, SANITIZER).expect("a script");
            fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("it is ours");
        }
        Self { driver, bin }
    }

    fn exercise(&self, exercise: &Exercise, settings: &str, answers: &str) -> Done {
        self.run(&exercise.folder, &["exercise", "--folder", "."], settings, answers)
    }

    fn run(&self, folder: &Path, args: &[&str], settings: &str, answers: &str) -> Done {
        let path = format!("{}:{}", self.bin.display(), env::var("PATH").unwrap_or_default());
        let variables = [
            ("LD_LIBRARY_PATH", self.driver.display().to_string()),
            ("FAKE_DRIVER", settings.to_owned()),
            ("PATH", path),
        ];
        end(start_with(folder, args, &variables), answers)
    }
}

/// The first table says what the card answered, the second what the emulator did.
fn both(done: &Done) -> (&str, &str) {
    let (card, emulator) = done.stdout.split_once("on the emulator:").expect("both are there");
    (card.split_once("on the Made-up Card: n = 262755, 3 runs").expect("the card").1, emulator)
}

const NO_COMPILER: &str = "no rustc here can compile for the GPU";

/// Run it with `cargo test --release -p xtask --test card -- --ignored`.
#[test]
#[ignore = "builds the program for a card, and `core` for the GPU"]
fn the_card_answers_and_the_checkers_judge() {
    let machine = Machine::new("card", true);
    let exercise = Exercise::new("card");
    exercise.save(&without());
    let step_1 = machine.exercise(&exercise, "", "64,128,256\nnone\n");
    if step_1.stderr.contains(NO_COMPILER) {
        eprintln!("skipped: {NO_COMPILER}");
        return;
    }
    let (card, emulator) = both(&step_1);
    assert!(card.contains("│    64 │              0 │     0 │     0 │"), "{card}");
    assert!(emulator.contains("│    64 │") && !emulator.contains("│    64 │              0 │"), "{emulator}");
    step_1.exits(0).says("Too many").says("That is what the runs showed.").does_not_say("hazard");

    exercise.save(&below());
    machine.exercise(&exercise, "", "no\n").exits(0).says("So it is");
    exercise.save(START);
    let step_3 = machine.exercise(&exercise, "", "Right answers prove nothing.\n");
    step_3.exits(0).says("is written.");
    let rows: Vec<_> = step_3.stdout.lines().filter(|line| line.contains("│ step ")).collect();
    assert_eq!(rows.len(), 8);
    let cells =
        |row: &str| row.split('│').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>()[1..7].join(" | ");
    assert_eq!(cells(rows[0]), "step 2 | 32 | right | right | RAW hazard, warning | error");
    assert_eq!(cells(rows[1]), "step 2 | 64 | right | wrong | RAW hazard, error | error");
    assert_eq!(cells(rows[5]), "step 3 | 64 | right | right | clean | no finding");
    assert!(step_3.stdout.lines().all(|line| line.chars().count() <= 80), "{}", step_3.stdout);
}

/// Run it with `cargo test --release -p xtask --test card -- --ignored`.
#[test]
#[ignore = "builds the program for a card, and `core` for the GPU"]
fn a_card_that_cannot_be_used_is_one_line_and_no_error() {
    let machine = Machine::new("no-card", false);
    let exercise = Exercise::new("no-card");
    for (settings, why) in [
        ("count=0", "the driver sees no card"),
        ("fail=cuEventQuery:700", "does not own"),
        ("fail=cuMemAlloc_v2:2", "give a smaller --n"),
        ("version=9000", "version"),
    ] {
        let done = machine.exercise(&exercise, settings, "");
        done.exits(0).says("on the emulator").says("Step 1:").does_not_say("Made-up");
        let lines: Vec<_> = done.stderr.lines().collect();
        assert_eq!(lines.len(), 1, "{done:?}");
        assert!(lines[0].ends_with("; the exercise runs on the emulator alone"), "{done:?}");
        assert!(lines[0].contains(why) || lines[0].contains(NO_COMPILER), "{done:?}");
    }
}

/// Run it with `cargo test --release -p xtask --test card -- --ignored`.
#[test]
#[ignore = "builds the program for a card, and `core` for the GPU"]
fn a_checker_judges_an_exhibit_at_its_sizes() {
    let machine = Machine::new("exhibit", true);
    let judged = machine.run(Path::new("."), &["racecheck", "barrier-in-the-right-place"], "", "");
    if judged.stderr.contains(NO_COMPILER) {
        eprintln!("skipped: {NO_COMPILER}");
        return;
    }
    judged.exits(0).says("racecheck on Made-up Card").says("docs/comparison.md");
    for block in ["32", "64", "128", "256"] {
        judged.says(&format!(" barrier-in-the-right-place | {block:<5} | "));
    }
    let odd =
        machine.run(Path::new("."), &["racecheck", "barrier-in-the-right-place", "--blocks", "48"], "", "");
    odd.exits(2);
    assert!(
        odd.stderr.ends_with("error: --block 48: give whole warps, a multiple of 32 from 32 to 1024\n"),
        "{odd:?}"
    );
}
