//! Random small kernels as data.

use fastrand::Rng;

/// Cells of shared memory, and as many of global memory.
pub(crate) const CELLS: u32 = 3;

/// Statements a program may have: each has a place of its own in the source of the interpreter.
pub(crate) const PLACES: usize = 48;

/// A number that may depend on the thread.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    Constant(u32),
    /// Thread / divisor % modulus.
    Thread {
        divisor: u32,
        modulus: u32,
    },
    /// The trip of the innermost loop.
    Trip,
}

impl Number {
    pub(crate) fn of(self, thread: u32, trip: u32) -> u32 {
        match self {
            Self::Constant(value) => value,
            Self::Thread { divisor, modulus } => thread / divisor % modulus,
            Self::Trip => trip,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Condition {
    ThreadBelow(u32),
    LaneBelow(u32),
    ThreadIs(u32),
    EvenThread,
    EvenTrip,
    Always,
}

impl Condition {
    pub(crate) fn holds(self, thread: u32, trip: u32) -> bool {
        match self {
            Self::ThreadBelow(limit) => thread < limit,
            Self::LaneBelow(limit) => thread % 32 < limit,
            Self::ThreadIs(which) => thread == which,
            Self::EvenThread => thread.is_multiple_of(2),
            Self::EvenTrip => trip.is_multiple_of(2),
            Self::Always => true,
        }
    }
}

/// The mask of a `sync_warp`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mask {
    Full,
    /// The caller's aligned group of this many lanes.
    Group(u32),
    Fixed(u32),
}

impl Mask {
    pub(crate) fn of(self, thread: u32) -> u32 {
        let lane = thread % 32;
        match self {
            Self::Full => u32::MAX,
            Self::Group(lanes) => ((1 << lanes) - 1) << (lane / lanes * lanes),
            Self::Fixed(mask) => mask,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) global: bool,
    /// Written through a reference, where it is global.
    pub(crate) reference: bool,
    pub(crate) index: Number,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    Write(Cell, Number),
    Read(Cell),
    Barrier,
    SyncWarp(Mask),
    Return,
    Break,
    Continue,
    If(Condition, Vec<Statement>, Vec<Statement>),
    Loop(Number, Vec<Statement>),
}

/// A statement at its place; a branch or loop ends at a second place.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) place: usize,
    pub(crate) end: usize,
    pub(crate) what: What,
}

#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) threads: u32,
    pub(crate) body: Vec<Statement>,
}

/// A statement that has no place yet.
fn statement(what: What) -> Statement {
    Statement { place: 0, end: 0, what }
}

/// What this program may do; each program leaves some out, so that the mix has clean ones too.
struct Generator<'a> {
    rng: &'a mut Rng,
    threads: u32,
    divergent: bool,
    exits: bool,
    masks: bool,
    /// One thread at a time writes, so that what orders it is all that matters.
    tidy: bool,
    left: u32,
}

/// Where a statement stands.
#[derive(Clone, Copy)]
struct Context {
    depth: u32,
    looping: bool,
    /// Every thread that lives comes here.
    uniform: bool,
}

impl Program {
    pub(crate) fn random(rng: &mut Rng) -> Self {
        const THREADS: [u32; 12] = [2, 3, 5, 31, 32, 33, 33, 34, 36, 40, 64, 67];
        let threads = THREADS[rng.usize(..THREADS.len())];
        let mut generator = Generator {
            threads,
            divergent: rng.bool(),
            exits: rng.bool(),
            masks: rng.u32(..5) < 2,
            tidy: rng.u32(..3) > 0,
            left: rng.u32(4..16),
            rng,
        };
        let mut body = if generator.rng.u32(..3) > 0 { generator.first_writes() } else { Vec::new() };
        body.extend(generator.block(Context { depth: 0, looping: false, uniform: true }));
        number(&mut body, &mut 0);
        Self { threads, body }
    }

    /// The programs that lack one statement of this one, or have one unwrapped or fewer threads.
    pub(crate) fn smaller(&self) -> Vec<Self> {
        let mut all = Vec::new();
        for threads in [2, 3, 32, 33, 34, self.threads.saturating_sub(1)] {
            if threads < self.threads && threads > 0 {
                all.push(Self { threads, body: self.body.clone() });
            }
        }
        for body in smaller(&self.body) {
            let mut body = body;
            number(&mut body, &mut 0);
            all.push(Self { threads: self.threads, body });
        }
        all
    }
}

fn smaller(body: &[Statement]) -> Vec<Vec<Statement>> {
    let mut all = Vec::new();
    for at in 0..body.len() {
        let with = |instead: Vec<Statement>| {
            let mut body = body.to_vec();
            body.splice(at..=at, instead);
            body
        };
        all.push(with(Vec::new()));
        let statement = &body[at];
        match &statement.what {
            What::If(condition, then, other) => {
                all.push(with(then.clone()));
                let with_what = |what| with(vec![Statement { what, ..statement.clone() }]);
                all.extend(
                    smaller(then)
                        .into_iter()
                        .map(|then| with_what(What::If(*condition, then, other.clone()))),
                );
                all.extend(
                    smaller(other)
                        .into_iter()
                        .map(|other| with_what(What::If(*condition, then.clone(), other))),
                );
            }
            What::Loop(trips, inner) => {
                let with_what = |what| with(vec![Statement { what, ..statement.clone() }]);
                all.extend(smaller(inner).into_iter().map(|inner| with_what(What::Loop(*trips, inner))));
            }
            _ => {}
        }
    }
    all
}

/// Gives each statement its place, in the order of the text.
fn number(body: &mut [Statement], next: &mut usize) {
    for statement in body {
        statement.place = *next;
        *next += 1;
        match &mut statement.what {
            What::If(_, then, other) => {
                number(then, next);
                number(other, next);
            }
            What::Loop(_, inner) => number(inner, next),
            _ => continue,
        }
        statement.end = *next;
        *next += 1;
    }
}

impl Generator<'_> {
    fn block(&mut self, at: Context) -> Vec<Statement> {
        let mut body = Vec::new();
        let count = if at.depth == 0 { u32::MAX } else { self.rng.u32(1..5) };
        for _ in 0..count {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            let what = self.statement(at);
            body.push(statement(what));
        }
        body
    }

    /// One thread writes every cell before a barrier.
    fn first_writes(&mut self) -> Vec<Statement> {
        let write = |index| {
            let cell = Cell { global: false, reference: false, index: Number::Constant(index) };
            statement(What::Write(cell, Number::Constant(0)))
        };
        let writer = Condition::ThreadIs(self.rng.u32(..self.threads));
        let writes = What::If(writer, (0..CELLS).map(write).collect(), Vec::new());
        vec![statement(writes), statement(What::Barrier)]
    }

    fn statement(&mut self, at: Context) -> What {
        let may_wait = at.uniform || self.divergent;
        match self.rng.u32(..100) {
            0..22 if self.tidy => {
                let write = statement(What::Write(self.cell(), self.value(at)));
                What::If(Condition::ThreadIs(self.rng.u32(..self.threads)), vec![write], Vec::new())
            }
            0..22 => What::Write(self.cell(), self.value(at)),
            22..32 => What::Read(self.cell()),
            32..58 if may_wait => What::Barrier,
            58..67 if self.masks => What::SyncWarp(self.mask()),
            67..78 if self.exits => What::If(self.condition(), vec![statement(What::Return)], Vec::new()),
            78..80 if at.looping && self.divergent => What::Break,
            80..82 if at.looping && self.divergent => What::Continue,
            82..91 if at.depth < 3 => self.branch(at),
            91..96 if at.depth < 2 => self.looping(at),
            _ => What::Read(self.cell()),
        }
    }

    fn branch(&mut self, at: Context) -> What {
        let condition = self.condition();
        let uniform = at.uniform && matches!(condition, Condition::EvenTrip | Condition::Always);
        let inner = Context { depth: at.depth + 1, uniform, ..at };
        let then = self.block(inner);
        let other = if self.rng.bool() { self.block(inner) } else { Vec::new() };
        What::If(condition, then, other)
    }

    fn looping(&mut self, at: Context) -> What {
        let ragged = self.divergent && self.rng.u32(..3) == 0;
        let trips = if ragged {
            Number::Thread { divisor: self.rng.u32(1..33), modulus: 3 }
        } else {
            Number::Constant(self.rng.u32(1..4))
        };
        let uniform = at.uniform && !ragged;
        What::Loop(trips, self.block(Context { depth: at.depth + 1, looping: true, uniform }))
    }

    fn cell(&mut self) -> Cell {
        let index = match self.rng.u32(..4) {
            0 | 1 => Number::Constant(self.rng.u32(..CELLS)),
            2 => Number::Thread { divisor: 1, modulus: CELLS },
            _ => Number::Thread { divisor: 32, modulus: CELLS },
        };
        Cell { global: self.rng.u32(..4) == 0, reference: self.rng.bool(), index }
    }

    fn value(&mut self, at: Context) -> Number {
        match self.rng.u32(..5) {
            0 | 1 => Number::Constant(self.rng.u32(..2)),
            2 => Number::Thread { divisor: 1, modulus: 1 << 16 },
            3 if at.looping => Number::Trip,
            _ => Number::Thread { divisor: 16, modulus: 2 },
        }
    }

    fn mask(&mut self) -> Mask {
        match self.rng.u32(..16) {
            0..6 => Mask::Full,
            6..15 => Mask::Group([2, 4, 16][self.rng.usize(..3)]),
            _ => Mask::Fixed(self.rng.u32(..)),
        }
    }

    fn condition(&mut self) -> Condition {
        match self.rng.u32(..8) {
            0 | 1 => Condition::ThreadBelow(self.rng.u32(..=self.threads)),
            2 => Condition::LaneBelow(self.rng.u32(1..32)),
            3 | 4 => Condition::ThreadIs(self.rng.u32(..self.threads)),
            5 => Condition::EvenThread,
            6 => Condition::EvenTrip,
            _ => Condition::Always,
        }
    }
}
