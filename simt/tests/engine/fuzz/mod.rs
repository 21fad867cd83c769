//! Random programs against a brute-force oracle.
//!
//! A million of them, on all cores (hours):
//! `FUZZ=1000000 cargo test --release -p simt --test engine -- --ignored --nocapture random_programs_many`

mod oracle;
mod program;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

use race::schedule::Schedule;
use race::{FaultKind, Report, Whereabouts};
use simt::Launch;

use crate::support::{POLICIES, Run, kernel};
use oracle::{Divergence, Kind, Level, Verdict, judge};
use program::{CELLS, FLAGS, LOG, Program};

/// The PTX of a random program.
pub(crate) fn program(seed: u64) -> String {
    Program::random(seed).ptx
}

/// What the engine reports, in the oracle's words.
fn told(report: &Report) -> Verdict {
    let mut verdict = Verdict::default();
    for hazard in &report.hazards {
        let level = match hazard.level {
            race::Level::Info => Level::Info,
            race::Level::Warning => Level::Warning,
            race::Level::Error => Level::Error,
        };
        let (name, first, second) = (hazard.place.name, hazard.first.site.line(), hazard.second.site.line());
        let kind = match hazard.kind {
            race::Kind::Raw => Kind::Raw,
            race::Kind::War => Kind::War,
            race::Kind::Waw => {
                let worst = verdict.writes.entry((name, first, second)).or_insert(level);
                *worst = level.max(*worst);
                continue;
            }
        };
        *verdict.hazards.entry((name, kind, level, first, second)).or_default() += hazard.bytes;
    }
    for found in &report.uninitialised {
        *verdict.uninitialised.entry((found.place.name, found.by.site.line())).or_default() += found.reads;
    }
    verdict.misuse = report.warp_misuse.iter().map(|misuse| (misuse.site.line(), misuse.mask)).collect();
    verdict.divergence = report.divergence.as_ref().map(|found| Divergence {
        line: found.site.line(),
        trips: found.trips.clone(),
        waiting: found.waiting.clone(),
        elsewhere: found
            .elsewhere
            .iter()
            .map(|(thread, at)| match at {
                Whereabouts::Waits { site, .. } => (*thread, Some(site.line())),
                Whereabouts::Skipped => (*thread, None),
            })
            .collect(),
    });
    verdict.stuck = matches!(report.fault.as_ref().map(|fault| &fault.what), Some(FaultKind::Stuck(_)));
    verdict.exited = report.early_exit.map_or(0, |exit| exit.threads);
    verdict
}

/// What differs, if anything.
fn difference(expected: &Verdict, told: &Verdict) -> Option<String> {
    if expected.stuck || told.stuck {
        return (expected.stuck != told.stuck).then(|| format!("stuck: {} {}", expected.stuck, told.stuck));
    }
    let mut words = Vec::new();
    fn maps<K: Ord + std::fmt::Debug, V: PartialEq + std::fmt::Debug>(
        words: &mut Vec<String>,
        what: &str,
        expected: &BTreeMap<K, V>,
        told: &BTreeMap<K, V>,
    ) {
        for key in expected.keys().chain(told.keys()).collect::<BTreeSet<_>>() {
            let (a, b) = (expected.get(key), told.get(key));
            if a != b {
                words.push(format!("{what} {key:?}: expected {a:?}, told {b:?}"));
            }
        }
    }
    maps(&mut words, "race", &expected.hazards, &told.hazards);
    maps(&mut words, "write race", &expected.writes, &told.writes);
    let perhaps = |key: &&(oracle::Array, u32)| expected.perhaps_uninitialised.contains(*key);
    for key in expected.uninitialised.keys().chain(told.uninitialised.keys()).collect::<BTreeSet<_>>() {
        let count = |verdict: &Verdict| verdict.uninitialised.get(key).copied().unwrap_or(0);
        let (a, b) = (count(expected), count(told));
        if a != b && !(perhaps(&key) && b > a) {
            words.push(format!("uninitialised {key:?}: expected {a}, told {b}"));
        }
    }
    if expected.divergence != told.divergence {
        words.push(format!("divergence: expected {:?}, told {:?}", expected.divergence, told.divergence));
    }
    if expected.divergence.is_none() {
        if expected.misuse != told.misuse {
            words.push(format!("misuse: expected {:x?}, told {:x?}", expected.misuse, told.misuse));
        }
        if expected.exited != told.exited {
            words.push(format!("exited: expected {}, told {}", expected.exited, told.exited));
        }
    }
    (!words.is_empty()).then(|| words.join("\n"))
}

/// Runs a program under every policy. What differs from the oracle, if anything.
fn check(seed: u64) -> Result<bool, String> {
    let program = Program::random(seed);
    let kernel = kernel(&program.ptx);
    let log = vec![0_u8; (program.blocks * program.threads * LOG * 4) as usize];
    let buffers = [vec![0_u8; CELLS as usize], vec![0; 16 * FLAGS as usize], log];
    let mut expected: Option<(Vec<u32>, Verdict)> = None;
    for policy in POLICIES {
        let launch = Launch::new(program.blocks, program.threads).schedule(Schedule::seeded(policy, seed));
        let done = Run::new(&kernel, launch.workers(1), &buffers).go();
        let log: Vec<u32> = done.buffers[2]
            .chunks_exact(4)
            .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
            .collect();
        if expected.as_ref().is_none_or(|(of, _)| *of != log) {
            let Some(verdict) = judge(&program, &log) else { return Ok(false) };
            expected = Some((log, verdict));
        }
        let Some((_, expected)) = &expected else { return Ok(false) };
        let told = told(&done.outcome.report);
        if let Some(difference) = difference(expected, &told) {
            return Err(format!(
                "seed {seed}, {} of {} x {} threads:\n{difference}\n{}",
                Schedule::seeded(policy, seed),
                program.blocks,
                program.threads,
                numbered(&program.ptx)
            ));
        }
    }
    Ok(true)
}

/// The PTX of the program of this seed.
pub(crate) fn text(seed: u64) -> String {
    Program::random(seed).ptx
}

fn numbered(text: &str) -> String {
    let line = |(number, line): (usize, &str)| format!("{:4} {line}\n", number + 1);
    text.lines().enumerate().map(line).collect()
}

/// Runs the programs of these seeds on several threads; says what the first ones that differ are.
fn check_all(from: u64, count: u64) {
    let (next, judged) = (AtomicU64::new(from), AtomicU64::new(0));
    let failures = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, Into::into) {
            scope.spawn(|| {
                while failures.lock().expect("nobody panicked").len() < 4 {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= from + count {
                        break;
                    }
                    match check(seed) {
                        Ok(whole) => drop(judged.fetch_add(u64::from(whole), Ordering::Relaxed)),
                        Err(difference) => {
                            failures.lock().expect("nobody panicked").push(difference);
                        }
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("nobody panicked");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let judged = judged.into_inner();
    println!("{judged} of {count} programs judged, under {} policies each", POLICIES.len());
    assert!(judged * 10 >= count * 9);
}

#[test]
fn random_programs() {
    check_all(0, 600);
}

#[test]
#[ignore = "hours; the command is at the top of the file"]
fn random_programs_many() {
    let number =
        |name: &str, other| std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(other);
    check_all(number("FUZZ_FROM", 1 << 32), number("FUZZ", 1_000_000));
}
