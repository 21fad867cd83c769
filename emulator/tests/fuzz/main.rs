//! Random small kernels against a brute-force oracle.
//!
//! A program is a tree of statements ([`program`]). One kernel interprets it on the emulator
//! ([`kernel`]); the [`oracle`] unrolls it, builds the graph of everything that happens and looks at every
//! pair of accesses. Both must say the same, down to the lines, under whatever schedule.
//!
//! A million programs: `cargo test --release -p cuda-std-emulator --test fuzz -- --ignored --nocapture`

mod kernel;
mod oracle;
mod program;

use std::sync::atomic::{AtomicU64, Ordering};

use cuda_std::emulator::{self, FaultKind, GlobalMemory, Launch, Policy, Report, Whereabouts};
use fastrand::Rng;
use oracle::{CellNumber, Divergence, Kind, Level, Verdict};
use program::{CELLS, Program, What};

/// What the emulator says of a program.
fn emulate(program: &Program, policy: Policy, seed: u64) -> Verdict {
    let mut cells = [[0_u32]; CELLS as usize];
    let mut memory = GlobalMemory::new();
    let [a, b, c] = &mut cells;
    let [a, b, c] = [
        memory.lend(kernel::GLOBAL[0], a),
        memory.lend(kernel::GLOBAL[1], b),
        memory.lend(kernel::GLOBAL[2], c),
    ];
    let report = Launch::new(1, program.threads)
        .policy(policy)
        .seed(seed)
        .run(&mut memory, || {
            kernel::interpret(program, &[a.as_mut_ptr(), b.as_mut_ptr(), c.as_mut_ptr()]);
        })
        .expect("the launch is within CUDA's limits");
    verdict(&report)
}

fn cell(name: &str) -> CellNumber {
    let (space, number) = name.split_at(1);
    number.parse::<u32>().expect("cells are numbered") + if space == "G" { CELLS } else { 0 }
}

fn verdict(report: &Report) -> Verdict {
    let mut verdict = Verdict::default();
    for hazard in &report.hazards {
        let cell = cell(hazard.place.name);
        let level = match hazard.level {
            emulator::Level::Info => Level::Info,
            emulator::Level::Warning => Level::Warning,
            emulator::Level::Error => Level::Error,
        };
        let (first, second) = (kernel::place(hazard.first.site), kernel::place(hazard.second.site));
        let kind = match hazard.kind {
            emulator::Kind::Raw => Kind::Raw,
            emulator::Kind::War => Kind::War,
            emulator::Kind::Waw => {
                let worst =
                    verdict.writes.entry((cell, first.min(second), first.max(second))).or_insert(level);
                *worst = level.max(*worst);
                continue;
            }
        };
        verdict.hazards.insert((cell, kind, level, first, second));
        verdict.pairs += hazard.bytes / 4;
    }
    for found in &report.uninitialised {
        *verdict.uninitialised.entry((cell(found.place.name), kernel::place(found.by.site))).or_default() +=
            found.reads;
    }
    verdict.divergence = report.divergence.as_ref().map(|divergence| Divergence {
        place: kernel::place(divergence.site),
        trips: divergence.trips.clone(),
        waiting: divergence.waiting.clone(),
        elsewhere: divergence
            .elsewhere
            .iter()
            .map(|(thread, whereabouts)| match whereabouts {
                Whereabouts::Waits { site, trips } => (*thread, Some((kernel::place(*site), trips.clone()))),
                Whereabouts::Skipped => (*thread, None),
            })
            .collect(),
    });
    verdict.outside_mask =
        report.warp_misuse.iter().map(|misuse| (kernel::place(misuse.site), misuse.mask)).collect();
    verdict.exited = report.early_exit.map_or(0, |exit| exit.threads);
    verdict.stuck = match report.fault.as_ref().map(|fault| &fault.what) {
        None => Vec::new(),
        Some(FaultKind::Stuck(waiting)) => {
            waiting.iter().map(|waiting| (waiting.thread, kernel::place(waiting.site))).collect()
        }
        Some(other) => panic!("an unexpected fault: {other:?}"),
    };
    verdict
}

/// The programs behind one number, and how to run it.
fn case(number: u64) -> (Program, Policy, u64) {
    let mut rng = Rng::with_seed(number);
    let program = Program::random(&mut rng);
    let policy = [Policy::Lockstep, Policy::Independent, Policy::Random][rng.usize(..3)];
    (program, policy, rng.u64(..))
}

/// Fails with the smallest program found on which the two disagree.
fn check(number: u64) -> Verdict {
    let (mut program, policy, seed) = case(number);
    let disagree = |program: &Program| oracle::judge(program) != emulate(program, policy, seed);
    let verdict = oracle::judge(&program);
    if verdict == emulate(&program, policy, seed) {
        return verdict;
    }
    while let Some(smaller) = program.smaller().into_iter().find(disagree) {
        program = smaller;
    }
    let (oracle, emulator) = (oracle::judge(&program), emulate(&program, policy, seed));
    panic!(
        "program {number}, {policy:?}, seed {seed}\n{program:#?}\noracle: {oracle:#?}\nemulator: {emulator:#?}"
    );
}

fn has(program: &Program, what: impl Fn(&What) -> bool + Copy) -> bool {
    fn any(body: &[program::Statement], what: impl Fn(&What) -> bool + Copy) -> bool {
        body.iter().any(|statement| {
            what(&statement.what)
                || match &statement.what {
                    What::If(_, then, other) => any(then, what) || any(other, what),
                    What::Loop(_, inner) => any(inner, what),
                    _ => false,
                }
        })
    }
    any(&program.body, what)
}

/// How many programs had what.
#[derive(Default)]
struct Mix {
    counts: [AtomicU64; MIX.len()],
}

const MIX: [&str; 10] = [
    "racy",
    "divergent",
    "with exits before a barrier",
    "with returns",
    "with warp masks",
    "with loops",
    "uninitialised",
    "stuck",
    "with a caller outside its mask",
    "clean",
];

impl Mix {
    fn count(&self, program: &Program, verdict: &Verdict) {
        let races = !verdict.hazards.is_empty() || !verdict.writes.is_empty();
        let divergent = verdict.divergence.is_some();
        let uninitialised = !verdict.uninitialised.is_empty();
        let misuse = !verdict.stuck.is_empty() || !verdict.outside_mask.is_empty();
        let facts = [
            races,
            divergent,
            verdict.exited > 0,
            has(program, |what| matches!(what, What::Return)),
            has(program, |what| matches!(what, What::SyncWarp(_))),
            has(program, |what| matches!(what, What::Loop(..))),
            uninitialised,
            !verdict.stuck.is_empty(),
            !verdict.outside_mask.is_empty(),
            !(races || divergent || uninitialised || misuse),
        ];
        for (count, fact) in self.counts.iter().zip(facts) {
            count.fetch_add(u64::from(fact), Ordering::Relaxed);
        }
    }

    fn shares(&self, programs: u64) -> Vec<(&'static str, f64)> {
        let share = |count: &AtomicU64| count.load(Ordering::Relaxed) as f64 / programs as f64;
        MIX.into_iter().zip(self.counts.iter().map(share)).collect()
    }
}

fn fuzz(programs: u64) {
    let mix = Mix::default();
    let next = AtomicU64::new(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= programs {
                        break;
                    }
                    let verdict = check(number);
                    mix.count(&case(number).0, &verdict);
                }
            });
        }
    });
    println!("{programs} programs, 0 disagreements");
    for (what, share) in mix.shares(programs) {
        println!("  {:5.1} % {what}", 100.0 * share);
    }
    for (what, share) in mix.shares(programs) {
        let rare = ["stuck", "with a caller outside its mask"].contains(&what);
        assert!(rare || share >= 0.1, "{what}: {:.1} % is less than a tenth", 100.0 * share);
    }
}

#[test]
fn a_thousand_programs() {
    fuzz(1_000);
}

#[test]
#[ignore = "minutes; the command is at the top of the file"]
fn a_million_programs() {
    fuzz(1_000_000);
}
