//! Random programs, and the PTX of them.

use std::fmt::Write;

use fastrand::Rng;
use race::Scope;

/// Bytes of shared memory, and of the global buffer, that accesses go to.
pub(crate) const CELLS: u32 = 1024;
/// Flags in shared memory, and as many in global memory.
pub(crate) const FLAGS: u32 = 2;
/// Entries of the log for each thread: what its accesses to flags have read.
pub(crate) const LOG: u32 = 64;

/// A number made of the thread and the trip of the innermost loop.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Index {
    /// The thread, the block's last thread less this one, and the thread's global number.
    Thread(u32),
    Reversed,
    Xor(u32),
    Constant(u32),
    /// `(a * thread + b * trip + c) % d`, `d` a power of two.
    Mix(u32, u32, u32, u32),
}

impl Index {
    pub(crate) fn of(self, thread: u32, threads: u32, trip: u32) -> u32 {
        match self {
            Self::Thread(offset) => thread + offset,
            Self::Reversed => threads - 1 - thread,
            Self::Xor(with) => thread ^ with,
            Self::Constant(value) => value,
            Self::Mix(a, b, c, d) => (a * thread + b * trip + c) % d,
        }
    }

    fn random(random: &mut Rng) -> Self {
        match random.u32(..10) {
            0..3 => Self::Thread([0, 0, 1, 4][random.usize(..4)]),
            3..5 => Self::Reversed,
            5..7 => Self::Xor([1, 2, 16, 32, 3][random.usize(..5)]),
            7 => Self::Constant(random.u32(..3)),
            _ => Self::Mix(
                random.u32(..4),
                random.u32(..2) * 32,
                random.u32(..8),
                [1, 2, 16, 32, 64][random.usize(..5)],
            ),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Condition {
    ThreadBelow(u32),
    Even,
    LaneBelow(u32),
    WarpIs(u32),
    TripIs(u32),
    BlockIs(u32),
}

impl Condition {
    pub(crate) fn holds(self, thread: u32, block: u32, trip: u32) -> bool {
        match self {
            Self::ThreadBelow(limit) => thread < limit,
            Self::Even => thread.is_multiple_of(2),
            Self::LaneBelow(limit) => thread % 32 < limit,
            Self::WarpIs(warp) => thread / 32 == warp,
            Self::TripIs(of) => trip == of,
            Self::BlockIs(of) => block == of,
        }
    }

    fn random(random: &mut Rng) -> Self {
        match random.u32(..8) {
            0 | 1 => Self::ThreadBelow([1, 7, 16, 31, 32, 33, 48, 64][random.usize(..8)]),
            2 => Self::Even,
            3 | 4 => Self::LaneBelow([1, 8, 16, 31][random.usize(..4)]),
            5 => Self::WarpIs(random.u32(..2)),
            6 => Self::TripIs(random.u32(..2)),
            _ => Self::BlockIs(random.u32(..2)),
        }
    }
}

/// Lanes of a warp, as each lane names them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mask {
    Constant(u32),
    /// The lower half to the lanes in it, the upper half to the others.
    Halves,
    EvenOdd,
}

impl Mask {
    pub(crate) fn of(self, thread: u32) -> u32 {
        match self {
            Self::Constant(mask) => mask,
            Self::Halves if thread % 32 < 16 => 0xffff,
            Self::Halves => 0xffff_0000,
            Self::EvenOdd if thread.is_multiple_of(2) => 0x5555_5555,
            Self::EvenOdd => 0xaaaa_aaaa,
        }
    }

    fn random(random: &mut Rng) -> Self {
        match random.u32(..12) {
            0..6 => Self::Constant(u32::MAX),
            6 | 7 => Self::Halves,
            8 | 9 => Self::EvenOdd,
            10 => Self::Constant(0xffff),
            _ => Self::Constant(0x00ff_ff00),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Does {
    Load,
    Store,
    /// Adds.
    Atomic,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) does: Does,
    pub(crate) global: bool,
    /// Bytes.
    pub(crate) size: u32,
    pub(crate) index: Index,
    pub(crate) value: Index,
    /// Of a strong one.
    pub(crate) scope: Option<Scope>,
    /// A predicate instead of a branch decides whether it is made.
    pub(crate) guard: Option<Condition>,
}

/// An access to a flag: each writes a number of its own, and logs what it reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flag {
    pub(crate) does: Does,
    pub(crate) global: bool,
    pub(crate) number: u32,
    /// `None`: a weak one.
    pub(crate) scope: Option<Scope>,
    pub(crate) acquires: bool,
    pub(crate) releases: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    Access(Access),
    Flag(Flag),
    Fence(Scope),
    Barrier,
    SyncWarp(Mask),
    Ballot(Mask),
    /// Barrier `number` of these warps: the first arrive, the others wait. The line is that of the `bar.arrive`, and
    /// the next but two that of the `bar.sync`.
    Named {
        number: u32,
        arriving: u32,
        waiting: u32,
    },
    If(Condition, Vec<Statement>, Vec<Statement>),
    /// As many trips in threads for which the condition holds, or else.
    Loop {
        condition: Condition,
        trips: (u32, u32),
        body: Vec<Statement>,
        top: bool,
    },
    Return,
}

#[derive(Clone, Debug)]
pub(crate) struct Statement {
    /// Of the PTX, from 1.
    pub(crate) line: u32,
    pub(crate) what: What,
}

#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) threads: u32,
    pub(crate) blocks: u32,
    pub(crate) body: Vec<Statement>,
    pub(crate) ptx: String,
}

/// Does this end the thread, whichever way it goes?
pub(crate) fn always_returns(body: &[Statement]) -> bool {
    body.iter().any(|statement| match &statement.what {
        What::Return => true,
        What::If(_, then, other) => always_returns(then) && always_returns(other),
        What::Loop { body, top: false, .. } => always_returns(body),
        _ => false,
    })
}

/// What kinds of statements a program has.
struct Taste {
    flags: bool,
    /// Fences; then only flags are accessed by strong operations, of which the oracle knows who read what from whom.
    fences: bool,
    partial: bool,
    sizes: bool,
    odd_barriers: bool,
    /// Scopes that do not reach other blocks.
    small_scopes: bool,
}

impl Program {
    pub(crate) fn random(seed: u64) -> Self {
        let random = &mut Rng::with_seed(seed);
        let threads = [32, 64, 16, 48, 96, 33, 80][random.usize(..7)];
        let blocks = 1 + u32::from(random.u32(..3) == 0);
        let taste = Taste {
            flags: random.u32(..3) == 0,
            fences: random.bool(),
            partial: random.u32(..2) == 0,
            sizes: random.u32(..2) == 0,
            odd_barriers: random.u32(..4) == 0,
            small_scopes: random.u32(..3) == 0,
        };
        let count = random.usize(2..9);
        let mut body = block(random, &taste, count, 0, false);
        // Who arrives twice before anybody has waited is counted twice, or not: that depends on the schedule.
        let mut used = 0;
        for statement in &mut body {
            match &mut statement.what {
                What::Barrier => used = 0,
                What::Named { number, .. } => {
                    *number = used;
                    used += 1;
                }
                _ => {}
            }
        }
        let mut program = Self { threads, blocks, body, ptx: String::new() };
        let mut emitter = Emitter { threads, ..Emitter::default() };
        emitter.program(&mut program.body);
        program.ptx = emitter.text;
        program
    }
}

fn block(random: &mut Rng, taste: &Taste, count: usize, depth: u32, in_loop: bool) -> Vec<Statement> {
    let mut body: Vec<Statement> = Vec::new();
    for _ in 0..count {
        let what = statement(random, taste, depth, in_loop);
        let ends = matches!(what, What::Return);
        // What leaves a loop is no part of it in PTX: nothing else may stand beside it.
        if ends && in_loop && !body.is_empty() {
            continue;
        }
        body.push(Statement { line: 0, what });
        if ends {
            break;
        }
    }
    body
}

fn statement(random: &mut Rng, taste: &Taste, depth: u32, in_loop: bool) -> What {
    loop {
        return match random.u32(..40) {
            0..16 => What::Access(access(random, taste)),
            16..22 if depth == 0 || taste.odd_barriers || random.u32(..3) == 0 => What::Barrier,
            22..25 if taste.partial => What::SyncWarp(Mask::random(random)),
            25 => What::SyncWarp(Mask::Constant(u32::MAX)),
            26 => What::Ballot(Mask::random(random)),
            27..29 if depth < 3 => {
                let count = random.usize(1..4);
                let then = block(random, taste, count, depth + 1, in_loop);
                let count = if random.bool() { 0 } else { random.usize(1..3) };
                let mut other = block(random, taste, count, depth + 1, in_loop);
                // Nothing behind it could be reached.
                if always_returns(&then) && always_returns(&other) {
                    other.clear();
                }
                What::If(Condition::random(random), then, other)
            }
            29 | 30 if depth > 0 => What::Return,
            29 | 30 if depth == 0 => {
                let then = vec![Statement { line: 0, what: What::Return }];
                What::If(Condition::random(random), then, Vec::new())
            }
            31 | 32 if depth < 2 => {
                let first = random.u32(..3);
                let second = if taste.odd_barriers && random.bool() { random.u32(..4) } else { first };
                let count = random.usize(1..5);
                let body = block(random, taste, count, depth + 1, true);
                // One that nobody goes round is no loop in PTX.
                if always_returns(&body) {
                    continue;
                }
                let top = random.bool() || first == 0 || second == 0;
                What::Loop { condition: Condition::random(random), trips: (first, second), body, top }
            }
            33..38 if taste.flags => flag(random, taste),
            38 if taste.flags && taste.fences => What::Fence(scope(random, taste)),
            39 if taste.partial && depth == 0 => {
                let arriving = random.u32(..4);
                let waiting = random.u32(1..4) & !arriving;
                if waiting == 0 {
                    continue;
                }
                What::Named { number: 0, arriving, waiting }
            }
            _ => continue,
        };
    }
}

fn scope(random: &mut Rng, taste: &Taste) -> Scope {
    let scopes = [Scope::Device, Scope::System, Scope::Block];
    scopes[random.usize(..if taste.small_scopes { 3 } else { 2 })]
}

fn access(random: &mut Rng, taste: &Taste) -> Access {
    let logged = taste.flags && taste.fences;
    let does = match random.u32(..12) {
        0..5 => Does::Load,
        // Where there are fences, what a strong read has read would order accesses, and only flags log what they read.
        11 if !logged => Does::Atomic,
        _ => Does::Store,
    };
    let may_be_strong = !logged || matches!(does, Does::Store);
    let strong = matches!(does, Does::Atomic) || random.u32(..16) == 0 && may_be_strong;
    let size = if taste.sizes { [1, 2, 4, 8][random.usize(..4)] } else { 4 };
    let value = match random.u32(..6) {
        0..3 => Index::Thread(1),
        3 => Index::Constant(random.u32(..2)),
        _ => Index::Mix(0, 1, 0, 4),
    };
    Access {
        does,
        global: random.u32(..3) == 0,
        size: if matches!(does, Does::Atomic) { size.max(4) } else { size },
        index: Index::random(random),
        value,
        scope: strong.then(|| scope(random, taste)),
        guard: (random.u32(..10) == 0).then(|| Condition::random(random)),
    }
}

fn flag(random: &mut Rng, taste: &Taste) -> What {
    let does = [Does::Load, Does::Store, Does::Atomic][random.usize(..3)];
    let order = random.u32(..3) != 0;
    let (acquires, releases) = match does {
        Does::Load => (order, false),
        Does::Store => (false, order),
        Does::Atomic if order => [(true, true), (true, false), (false, true)][random.usize(..3)],
        Does::Atomic => (false, false),
    };
    let weak = !order && !matches!(does, Does::Atomic) && random.u32(..6) == 0;
    What::Flag(Flag {
        does,
        global: random.u32(..3) != 0,
        number: random.u32(..FLAGS),
        scope: (!weak).then(|| scope(random, taste)),
        acquires,
        releases,
    })
}

/// Writes PTX.
#[derive(Default)]
struct Emitter {
    threads: u32,
    text: String,
    lines: u32,
    labels: u32,
    predicates: u32,
    /// Registers of the trips of the loops around.
    trips: Vec<u32>,
    counters: u32,
    barriers: u32,
}

impl Emitter {
    fn line(&mut self, text: impl AsRef<str>) -> u32 {
        let _ = writeln!(self.text, "{}", text.as_ref());
        self.lines += 1;
        self.lines
    }

    fn program(&mut self, body: &mut [Statement]) {
        for text in [
            ".version 8.0",
            ".target sm_80",
            ".address_size 64",
            ".visible .entry k(.param .u64 g, .param .u64 h, .param .u64 i) {",
            ".reg .pred %p<256>; .reg .b32 %r<16>; .reg .b32 %c<64>; .reg .b64 %d<16>;",
        ] {
            self.line(text);
        }
        self.line(format!(".shared .align 16 .b8 S[{CELLS}]; .shared .align 16 .b8 F[{}];", 16 * FLAGS));
        self.line("mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;");
        self.line("sub.u32 %r3, %r2, %r0; sub.u32 %r3, %r3, 1; and.b32 %r4, %r0, 31; shr.u32 %r5, %r0, 5;");
        self.line("mov.u64 %d0, S; ld.param.u64 %d1, [g]; mov.u64 %d2, F; ld.param.u64 %d3, [h];");
        // What each thread counts from, for its flags, and where it logs.
        self.line(format!(
            "mad.lo.u32 %r6, %r1, %r2, %r0; mul.lo.u32 %r6, %r6, {LOG}; ld.param.u64 %d4, [i];"
        ));
        self.line("mul.wide.u32 %d5, %r6, 4; add.u64 %d4, %d4, %d5; mov.u32 %c63, 0;");
        self.block(body);
        self.line("ret;");
        self.line("}");
    }

    fn block(&mut self, body: &mut [Statement]) {
        for statement in body {
            self.statement(statement);
        }
    }

    fn trip(&self) -> String {
        self.trips.last().map_or_else(|| "0".into(), |trip| format!("%c{trip}"))
    }

    /// Leaves a number in `%r10`.
    fn index(&mut self, index: Index) {
        let trip = self.trip();
        match index {
            Index::Thread(offset) => self.line(format!("add.u32 %r10, %r0, {offset};")),
            Index::Reversed => self.line("mov.u32 %r10, %r3;"),
            Index::Xor(with) => self.line(format!("xor.b32 %r10, %r0, {with};")),
            Index::Constant(value) => self.line(format!("mov.u32 %r10, {value};")),
            Index::Mix(a, b, c, d) => {
                self.line(format!("mul.lo.u32 %r10, %r0, {a}; add.u32 %r10, %r10, {c};"));
                self.line(format!("mov.u32 %r11, {trip}; mad.lo.u32 %r10, %r11, {b}, %r10;"));
                self.line(format!("and.b32 %r10, %r10, {};", d - 1))
            }
        };
    }

    /// The predicate of a condition.
    fn condition(&mut self, condition: Condition) -> u32 {
        let p = self.predicates;
        self.predicates += 1;
        let trip = self.trip();
        match condition {
            Condition::ThreadBelow(limit) => self.line(format!("setp.lt.u32 %p{p}, %r0, {limit};")),
            Condition::Even => self.line(format!("and.b32 %r12, %r0, 1; setp.eq.u32 %p{p}, %r12, 0;")),
            Condition::LaneBelow(limit) => self.line(format!("setp.lt.u32 %p{p}, %r4, {limit};")),
            Condition::WarpIs(warp) => self.line(format!("setp.eq.u32 %p{p}, %r5, {warp};")),
            Condition::TripIs(of) => self.line(format!("setp.eq.u32 %p{p}, {trip}, {of};")),
            Condition::BlockIs(of) => self.line(format!("setp.eq.u32 %p{p}, %r1, {of};")),
        };
        p
    }

    /// Leaves a mask in `%r13`.
    fn mask(&mut self, mask: Mask) {
        match mask {
            Mask::Constant(mask) => self.line(format!("mov.u32 %r13, {mask};")),
            Mask::Halves => {
                let p = self.condition(Condition::LaneBelow(16));
                self.line(format!("selp.b32 %r13, 65535, 0xffff0000, %p{p};"))
            }
            Mask::EvenOdd => {
                let p = self.condition(Condition::Even);
                self.line(format!("selp.b32 %r13, 0x55555555, 0xaaaaaaaa, %p{p};"))
            }
        };
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    fn statement(&mut self, statement: &mut Statement) {
        let line = match &mut statement.what {
            What::Access(access) => {
                let access = *access;
                self.access(&access)
            }
            What::Flag(flag) => {
                let flag = *flag;
                self.flag(&flag)
            }
            What::Fence(scope) => {
                let scope = name(*scope);
                self.line(format!("fence.acq_rel{scope};"))
            }
            What::Barrier => self.line("bar.sync 0;"),
            What::SyncWarp(mask) => {
                self.mask(*mask);
                self.line("bar.warp.sync %r13;")
            }
            What::Ballot(mask) => {
                self.mask(*mask);
                let p = self.condition(Condition::Even);
                self.line(format!("vote.sync.ballot.b32 %r14, %p{p}, %r13;"))
            }
            What::Named { number, arriving, waiting } => {
                let count =
                    32 * ((*arriving | *waiting) & ((1 << self.threads.div_ceil(32)) - 1)).count_ones();
                // Each its own: who comes to one again before all have left it makes a mess of both.
                self.barriers += 1;
                *number = self.barriers;
                let (arriving, waiting, number) = (*arriving, *waiting, *number);
                let p = self.among(arriving);
                let (q, past) = (self.among(waiting), self.label());
                let other = self.label();
                self.line(format!("@!%p{p} bra {other};"));
                let line = self.line(format!("bar.arrive {number}, {count};"));
                self.line(format!("{other}: @!%p{q} bra {past};"));
                self.line(format!("bar.sync {number}, {count};"));
                self.line(format!("{past}:"));
                line
            }
            What::If(condition, then, other) => {
                let p = self.condition(*condition);
                let (otherwise, end) = (self.label(), self.label());
                let line = self.line(format!("@!%p{p} bra {otherwise};"));
                self.block(then);
                if other.is_empty() {
                    self.line(format!("{otherwise}:"));
                } else {
                    if !matches!(then.last().map(|last| &last.what), Some(What::Return)) {
                        self.line(format!("bra {end};"));
                    }
                    self.line(format!("{otherwise}:"));
                    self.block(other);
                    self.line(format!("{end}:"));
                }
                line
            }
            What::Loop { condition, trips, body, top } => {
                let p = self.condition(*condition);
                let (trip, limit) = (self.counters, self.counters + 1);
                self.counters += 2;
                self.line(format!(
                    "selp.u32 %c{limit}, {}, {}, %p{p}; mov.u32 %c{trip}, 0;",
                    trips.0, trips.1
                ));
                let (head, end) = (self.label(), self.label());
                let line = self.line(format!("{head}:"));
                let q = self.predicates;
                self.predicates += 1;
                if *top {
                    self.line(format!("setp.ge.u32 %p{q}, %c{trip}, %c{limit}; @%p{q} bra {end};"));
                }
                self.trips.push(trip);
                self.block(body);
                self.trips.pop();
                self.line(format!("add.u32 %c{trip}, %c{trip}, 1;"));
                if *top {
                    self.line(format!("bra {head};"));
                } else {
                    self.line(format!("setp.lt.u32 %p{q}, %c{trip}, %c{limit}; @%p{q} bra {head};"));
                }
                self.line(format!("{end}:"));
                line
            }
            What::Return => self.line("ret;"),
        };
        statement.line = line;
    }

    /// The predicate of being in one of these warps.
    fn among(&mut self, warps: u32) -> u32 {
        let p = self.predicates;
        self.predicates += 1;
        self.line(format!("mov.u32 %r12, {warps}; shr.u32 %r12, %r12, %r5; and.b32 %r12, %r12, 1;"));
        self.line(format!("setp.eq.u32 %p{p}, %r12, 1;"));
        p
    }

    fn access(&mut self, access: &Access) -> u32 {
        let guard = access.guard.map_or_else(String::new, |condition| {
            let p = self.condition(condition);
            format!("@%p{p} ")
        });
        self.index(access.value);
        self.line("mov.u32 %r9, %r10; cvt.u64.u32 %d9, %r9;");
        self.index(access.index);
        let (base, space) = if access.global { (1, ".global") } else { (0, ".shared") };
        self.line(format!("mul.wide.u32 %d8, %r10, {}; add.u64 %d8, %d8, %d{base};", access.size));
        let ty = ["", ".u8", ".u16", "", ".u32", "", "", "", ".u64"][access.size as usize];
        let (into, from) = if access.size == 8 { ("%d10", "%d9") } else { ("%r14", "%r9") };
        let order = access.scope.map_or("", name);
        let relaxed = if access.scope.is_some() { ".relaxed" } else { "" };
        self.line(match access.does {
            Does::Load => format!("{guard}ld{relaxed}{order}{space}{ty} {into}, [%d8];"),
            Does::Store => format!("{guard}st{relaxed}{order}{space}{ty} [%d8], {from};"),
            Does::Atomic => format!("{guard}atom{relaxed}{order}{space}.add{ty} {into}, [%d8], {from};"),
        })
    }

    fn flag(&mut self, flag: &Flag) -> u32 {
        let (base, space) = if flag.global { (3, ".global") } else { (2, ".shared") };
        let at = 16 * flag.number;
        let order = match (flag.scope, flag.acquires, flag.releases) {
            (None, ..) => String::new(),
            (Some(scope), acquires, releases) => {
                let order = match (acquires, releases) {
                    (true, true) => ".acq_rel",
                    (true, false) => ".acquire",
                    (false, true) => ".release",
                    (false, false) => ".relaxed",
                };
                format!("{order}{}", name(scope))
            }
        };
        self.line("add.u32 %c63, %c63, 1; add.u32 %r9, %r6, %c63; mov.u32 %r14, 0;");
        let line = self.line(match flag.does {
            Does::Load => format!("ld{order}{space}.u32 %r14, [%d{base}+{at}];"),
            Does::Store => format!("st{order}{space}.u32 [%d{base}+{at}], %r9;"),
            Does::Atomic => format!("atom{order}{space}.exch.b32 %r14, [%d{base}+{at}], %r9;"),
        });
        self.line("mul.wide.u32 %d10, %c63, 4; add.u64 %d10, %d10, %d4; st.global.u32 [%d10], %r14;");
        line
    }
}

fn name(scope: Scope) -> &'static str {
    match scope {
        Scope::Block => ".cta",
        Scope::Device => ".gpu",
        Scope::System => ".sys",
    }
}
