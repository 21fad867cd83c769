//! A kernel that interprets a program on the emulator, each statement from a place of its own.

use std::mem::MaybeUninit;
use std::sync::LazyLock;

use cuda_std::emulator::{GlobalPtr, Site, marks};
use cuda_std::{address_space, thread, warp};

use super::program::{CELLS, Cell, Mask, Number, PLACES, Program, Statement, What};

// A hazard names its array: with arrays of one cell, it names its cell.
#[address_space(shared)]
static mut S0: [MaybeUninit<u32>; 1] = [const { MaybeUninit::uninit() }; 1];
#[address_space(shared)]
static mut S1: [MaybeUninit<u32>; 1] = [const { MaybeUninit::uninit() }; 1];
#[address_space(shared)]
static mut S2: [MaybeUninit<u32>; 1] = [const { MaybeUninit::uninit() }; 1];

pub(crate) const GLOBAL: [&str; CELLS as usize] = ["G0", "G1", "G2"];

/// What to do at a place.
enum Action<'a> {
    Write(&'a Thread<'a>, Cell, u32, u32),
    Read(&'a Thread<'a>, Cell, u32),
    Barrier,
    SyncWarp(u32),
    Enter(&'a mut Option<marks::Outer>),
    Join,
    Where(&'a mut Option<Site>),
}

struct Thread<'a> {
    number: u32,
    global: &'a [*mut u32; CELLS as usize],
}

#[track_caller]
fn perform(action: Action<'_>) {
    // SAFETY: the emulator checks every access; a kernel's threads run one at a time.
    #[allow(static_mut_refs)]
    unsafe {
        match action {
            Action::Write(thread, cell, index, value) if cell.global => {
                let mut to = GlobalPtr::bind(thread.global[index as usize]);
                if cell.reference {
                    *to = value;
                } else {
                    to.write(value);
                }
            }
            Action::Read(thread, cell, index) if cell.global => {
                let _ = GlobalPtr::bind(thread.global[index as usize]).read();
            }
            Action::Write(_, _, 0, value) => S0[0].write(value),
            Action::Write(_, _, 1, value) => S1[0].write(value),
            Action::Write(_, _, _, value) => S2[0].write(value),
            Action::Read(_, _, index) => {
                let _ = match index {
                    0 => S0[0].assume_init(),
                    1 => S1[0].assume_init(),
                    _ => S2[0].assume_init(),
                };
            }
            Action::Barrier => thread::sync_threads(),
            Action::SyncWarp(mask) => warp::sync_warp(mask),
            Action::Enter(outer) => *outer = Some(marks::enter()),
            Action::Join => marks::join(),
            Action::Where(site) => *site = Some(Site::here()),
        }
    }
}

type Place = fn(Action<'_>);

/// A place: each use of this macro is one.
macro_rules! place {
    () => {
        |action| perform(action)
    };
}

#[rustfmt::skip]
static AT: [Place; PLACES] = [
    place!(), place!(), place!(), place!(), place!(), place!(), place!(), place!(),
    place!(), place!(), place!(), place!(), place!(), place!(), place!(), place!(),
    place!(), place!(), place!(), place!(), place!(), place!(), place!(), place!(),
    place!(), place!(), place!(), place!(), place!(), place!(), place!(), place!(),
    place!(), place!(), place!(), place!(), place!(), place!(), place!(), place!(),
    place!(), place!(), place!(), place!(), place!(), place!(), place!(), place!(),
];

/// Which place a report means.
pub(crate) fn place(site: Site) -> usize {
    static SITES: LazyLock<Vec<(u32, u32)>> = LazyLock::new(|| {
        let sites = AT.iter().map(|at| {
            let mut site = None;
            at(Action::Where(&mut site));
            site.map(|site| (site.line(), site.column())).expect("every place says where it is")
        });
        sites.collect()
    });
    let at = (site.line(), site.column());
    SITES.binary_search(&at).expect("reports name places of this table")
}

enum Flow {
    On,
    Break,
    Continue,
    Return,
}

/// The body of the kernel.
pub(crate) fn interpret(program: &Program, global: &[*mut u32; CELLS as usize]) {
    let thread = Thread { number: thread::thread_idx_x(), global };
    // As `#[kernel]` writes it.
    if !marks::start() {
        return;
    }
    loop {
        if !matches!(thread.block(&program.body, 0), Flow::Return) {
            marks::end();
        }
        if !marks::next_block() {
            break;
        }
    }
}

impl Thread<'_> {
    fn block(&self, body: &[Statement], trip: u32) -> Flow {
        for statement in body {
            let flow = self.statement(statement, trip);
            if !matches!(flow, Flow::On) {
                return flow;
            }
        }
        Flow::On
    }

    fn statement(&self, statement: &Statement, trip: u32) -> Flow {
        let number = |what: &Number| what.of(self.number, trip);
        let at = AT[statement.place];
        match &statement.what {
            What::Write(cell, value) => {
                at(Action::Write(self, *cell, number(&cell.index) % CELLS, number(value)));
            }
            What::Read(cell) => at(Action::Read(self, *cell, number(&cell.index) % CELLS)),
            What::Barrier => at(Action::Barrier),
            What::SyncWarp(mask) => at(Action::SyncWarp(Mask::of(*mask, self.number))),
            What::Return => return Flow::Return,
            What::Break => return Flow::Break,
            What::Continue => return Flow::Continue,
            What::If(condition, then, other) => {
                let mut outer = None;
                at(Action::Enter(&mut outer));
                let outer = outer.expect("just entered");
                let (number, arm) = if condition.holds(self.number, trip) { (0, then) } else { (1, other) };
                marks::arm(&outer, number);
                let flow = self.block(arm, trip);
                if !matches!(flow, Flow::On) {
                    return flow;
                }
                marks::leave(&outer);
                AT[statement.end](Action::Join);
            }
            What::Loop(trips, body) => {
                let mut outer = None;
                at(Action::Enter(&mut outer));
                let mut outer = outer.expect("just entered");
                for trip in 0..number(trips) {
                    marks::trip(&mut outer);
                    match self.block(body, trip) {
                        Flow::On | Flow::Continue => {}
                        Flow::Break => break,
                        Flow::Return => return Flow::Return,
                    }
                }
                marks::leave(&outer);
                AT[statement.end](Action::Join);
            }
        }
        Flow::On
    }
}
