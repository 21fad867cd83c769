//! Rows are a shorter way to the same report: a block that is traced is judged cell by cell, and both ways have to
//! find the same, in random kernels that step together.

use std::mem::MaybeUninit;

use cuda_std::emulator::{GlobalMemory, GlobalPtr, Launch, Report, marks};
use cuda_std::{address_space, thread, warp};
use fastrand::Rng;

const CELLS: usize = 128;

// Two arrays, so that rows of one are not taken for rows of the other.
#[address_space(shared)]
static mut A: [MaybeUninit<u32>; CELLS] = [const { MaybeUninit::uninit() }; CELLS];
#[address_space(shared)]
static mut B: [MaybeUninit<u32>; CELLS] = [const { MaybeUninit::uninit() }; CELLS];

/// A number that depends on the thread.
#[derive(Clone, Copy, Debug)]
enum Number {
    Thread,
    FromTheEnd,
    Neighbour,
    Linear(usize, usize),
    Mixed(usize),
}

impl Number {
    fn random(rng: &mut Rng) -> Self {
        match rng.usize(..8) {
            0 | 1 => Self::Thread,
            2 | 3 => Self::FromTheEnd,
            4 => Self::Neighbour,
            5 | 6 => Self::Linear(rng.usize(..4), rng.usize(..CELLS)),
            _ => Self::Mixed(rng.usize(..)),
        }
    }

    fn of(self, thread: usize, threads: usize) -> usize {
        let number = match self {
            Self::Thread => thread,
            Self::FromTheEnd => threads - 1 - thread,
            Self::Neighbour => thread ^ 1,
            Self::Linear(factor, offset) => factor * thread + offset,
            Self::Mixed(seed) => (thread ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40,
        };
        number % CELLS
    }
}

#[derive(Clone, Copy, Debug)]
enum What {
    Write(u8, Number, Number),
    Read(u8, Number),
    /// Reads one element and writes another, from one place.
    Move(Number, Number),
    Barrier,
    SyncWarp,
    Return,
}

/// A statement, for the threads whose number is below `below`, or not below it.
#[derive(Clone, Copy, Debug)]
struct Statement {
    what: What,
    below: Option<(Number, usize, bool)>,
}

fn random(rng: &mut Rng) -> Vec<Statement> {
    let statement = |rng: &mut Rng| {
        let what = match rng.usize(..20) {
            0..7 => What::Write(rng.u8(..3), Number::random(rng), Number::random(rng)),
            7..14 => What::Read(rng.u8(..3), Number::random(rng)),
            14 => What::Move(Number::random(rng), Number::random(rng)),
            15 => What::Return,
            16 if rng.bool() => What::SyncWarp,
            _ => What::Barrier,
        };
        let waits = matches!(what, What::Barrier | What::SyncWarp);
        // Seldom: nothing is judged behind a divergent barrier.
        let every = rng.u8(..if waits { 30 } else { 3 }) > 0;
        let below = (!every).then(|| (Number::random(rng), rng.usize(..CELLS), rng.bool()));
        Statement { what, below }
    };
    (0..rng.usize(1..10)).map(|_| statement(rng)).collect()
}

#[track_caller]
fn move_element(from: GlobalPtr<u32>, mut to: GlobalPtr<u32>) {
    // SAFETY: the emulator checks every access.
    let element = unsafe { from.read() };
    *to = element;
}

type Place = fn(What, usize, usize, *mut u32);

/// Each use of this macro is a place of its own.
macro_rules! place {
    () => {
        |what, t, n, out| {
            // SAFETY: the emulator checks every access; a kernel's threads run one at a time.
            #[allow(static_mut_refs)]
            unsafe {
                match what {
                    What::Write(0, cell, value) => A[cell.of(t, n)].write(value.of(t, n) as u32),
                    What::Write(1, cell, value) => B[cell.of(t, n)].write(value.of(t, n) as u32),
                    What::Write(_, cell, value) => {
                        *GlobalPtr::bind(out).add(cell.of(t, n)) = value.of(t, n) as u32;
                    }
                    What::Read(0, cell) => drop(A[cell.of(t, n)].assume_init()),
                    What::Read(1, cell) => drop(B[cell.of(t, n)].assume_init()),
                    What::Read(_, cell) => drop(GlobalPtr::bind(out).add(cell.of(t, n)).read()),
                    What::Move(from, to) => {
                        let out = GlobalPtr::bind(out);
                        move_element(out.add(from.of(t, n)), out.add(to.of(t, n)));
                    }
                    What::Barrier => thread::sync_threads(),
                    What::SyncWarp => warp::sync_warp(!0),
                    What::Return => {}
                }
            }
        }
    };
}

static AT: [Place; 9] =
    [place!(), place!(), place!(), place!(), place!(), place!(), place!(), place!(), place!()];

fn interpret(program: &[Statement], threads: usize, out: *mut u32) {
    let thread = thread::thread_idx_x() as usize;
    // As `#[kernel]` writes it.
    if !marks::start() {
        return;
    }
    loop {
        let mut returned = false;
        for (statement, at) in program.iter().zip(AT) {
            let taken =
                |(number, below, is): (Number, usize, bool)| (number.of(thread, threads) < below) == is;
            if statement.below.is_none_or(taken) {
                returned = matches!(statement.what, What::Return);
                if returned {
                    break;
                }
                at(statement.what, thread, threads, out);
            }
        }
        if !returned {
            marks::end();
        }
        if !marks::next_block() {
            break;
        }
    }
}

/// What is found, and what memory holds afterwards.
fn run(program: &[Statement], threads: u32, seed: u64, cell_by_cell: bool) -> (Report, Vec<u32>) {
    let launch = Launch::new(1, threads).seed(seed);
    run_as(program, threads, if cell_by_cell { launch.trace(0) } else { launch })
}

fn run_as(program: &[Statement], threads: u32, launch: Launch) -> (Report, Vec<u32>) {
    let mut out = vec![7; CELLS];
    let mut memory = GlobalMemory::new();
    let pointer = memory.lend("out", &mut out);
    let kernel = || interpret(program, threads as usize, pointer.as_mut_ptr());
    let mut report = launch.run(&mut memory, kernel).expect("the launch is within CUDA's limits");
    report.trace = None;
    (report, out)
}

/// How many programs were racy, read what nothing had written, and had nothing found.
fn agree(programs: u64) -> [u64; 3] {
    let mut found = [0; 3];
    for number in 0..programs {
        let mut rng = Rng::with_seed(number);
        let mut program = random(&mut rng);
        let threads = [5, 32, 33, 64, 96, 128, 256][rng.usize(..7)];
        let both = |program: &[Statement]| {
            (run(program, threads, number, false), run(program, threads, number, true))
        };
        let disagree = |program: &Vec<Statement>| {
            let (rows, cells) = both(program);
            rows != cells
        };
        if disagree(&program) {
            let without =
                |program: &[Statement], left_out| [&program[..left_out], &program[left_out + 1..]].concat();
            let smaller = |program: &[Statement]| {
                (0..program.len()).map(|left_out| without(program, left_out)).find(disagree)
            };
            while let Some(next) = smaller(&program) {
                program = next;
            }
            let (rows, cells) = both(&program);
            panic!("program {number}, {threads} threads: {program:#?}\nrows: {rows:#?}\ncells: {cells:#?}");
        }
        let report = both(&program).0.0;
        let clean = report == Report::default();
        let facts = [!report.hazards.is_empty(), !report.uninitialised.is_empty(), clean];
        found.iter_mut().zip(facts).for_each(|(count, fact)| *count += u64::from(fact));
    }
    found
}

#[test]
fn rows_and_cells_agree() {
    let found = agree(2000);
    println!("{found:?}");
    assert!(found.iter().all(|&count| count > 300), "racy, uninitialised, clean: {found:?}");
}

#[test]
fn neither_workers_nor_a_traced_block_show() {
    for number in 0..300 {
        let mut rng = Rng::with_seed(number);
        let program = random(&mut rng);
        let (blocks, threads) = (rng.u32(2..6), [5, 32, 33, 64, 128][rng.usize(..5)]);
        let launch = Launch::new(blocks, threads).seed(number);
        let alone = run_as(&program, threads, launch.workers(1));
        let traced = u64::from(rng.u32(..blocks));
        for other in [launch.workers(3), launch.workers(2).trace(traced)] {
            let other = run_as(&program, threads, other);
            assert_eq!(alone, other, "program {number}, {blocks} blocks of {threads}: {program:#?}");
        }
    }
}

#[test]
fn rows_do_not_begin_where_exited_threads_are_behind() {
    let all = |what| Statement { what, below: None };
    let program = [
        Statement { what: What::Return, below: Some((Number::Thread, 20, true)) },
        all(What::Barrier),
        // All write one cell: that is told by cells.
        all(What::Write(1, Number::Linear(0, 100), Number::Thread)),
        all(What::Barrier),
        all(What::Write(0, Number::Linear(0, 100), Number::Thread)),
    ];
    let [rows, cells] = [false, true].map(|cell_by_cell| run(&program, 64, 0, cell_by_cell));
    assert_eq!(rows, cells);
}

/// Here no mark shows that some skip the barrier: they come to their end.
#[test]
fn early_reads_stand_behind_a_divergent_barrier() {
    let program = [
        Statement { what: What::Read(0, Number::Thread), below: None },
        Statement { what: What::Barrier, below: Some((Number::Thread, 20, true)) },
    ];
    let [rows, cells] = [false, true].map(|cell_by_cell| run(&program, 64, 0, cell_by_cell));
    assert!(rows.0.divergence.is_some() && !rows.0.uninitialised.is_empty());
    assert_eq!(rows, cells);
}

/// A minute: `cargo test --release -p cuda-std-emulator --test rows -- --ignored`
#[test]
#[ignore = "long"]
fn rows_and_cells_agree_on_a_hundred_thousand() {
    agree(100_000);
}
