//! What the emulator must say of a program, by brute force: every event is a node of a graph, the
//! happens-before relation is its transitive closure, and every pair of accesses is looked at.
//!
//! Nothing here is shared with the emulator.

use std::collections::{BTreeMap, BTreeSet};

use super::program::{CELLS, Cell, Program, Statement, What};

/// A read against a write, by which of them stands first in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Raw,
    War,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Info,
    Warning,
    Error,
}

/// Shared cells first, then global ones.
pub(crate) type CellNumber = u32;

/// A barrier: its place, and the trips of the loops around it.
pub(crate) type Barrier = (usize, Vec<u32>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Divergence {
    pub(crate) place: usize,
    pub(crate) trips: Vec<u32>,
    pub(crate) waiting: Vec<u32>,
    /// Thread, and the barrier where it waits instead; `None` if it went past.
    pub(crate) elsewhere: Vec<(u32, Option<Barrier>)>,
}

/// Everything that is compared. None of it may depend on the schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Reads against writes: cell, kind, level, place of the first and of the second. Writes against
    /// writes are in `writes`.
    pub(crate) hazards: BTreeSet<(CellNumber, Kind, Level, usize, usize)>,
    /// Writes against writes by cell and places, lower place first: the worst level.
    pub(crate) writes: BTreeMap<(CellNumber, usize, usize), Level>,
    /// How often a read against a write happened, over all.
    pub(crate) pairs: u64,
    /// Reads of a cell that nothing wrote, by cell and place.
    pub(crate) uninitialised: BTreeMap<(CellNumber, usize), u64>,
    pub(crate) divergence: Option<Divergence>,
    /// Places and masks of `sync_warp` calls by lanes that their mask leaves out.
    pub(crate) outside_mask: BTreeSet<(usize, u32)>,
    /// The threads that wait for ever, and where.
    pub(crate) stuck: Vec<(u32, usize)>,
    /// The most threads that had exited when a barrier completed.
    pub(crate) exited: u32,
}

/// Where in a statement: a branch has arms, a loop has trips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Within {
    Whole,
    Arm(u32),
    Trip(u32),
}

/// Where in the program, from the outside in.
type Path = Vec<(usize, Within)>;

#[derive(Clone, Debug)]
enum Do {
    Access {
        cell: CellNumber,
        value: Option<u32>,
    },
    Barrier,
    SyncWarp(u32),
    Return,
    /// The end of the kernel.
    End,
}

#[derive(Clone, Debug)]
struct Event {
    at: Path,
    what: Do,
}

fn place(path: &Path) -> usize {
    path.last().map_or(0, |step| step.0)
}

fn trips(path: &Path) -> Vec<u32> {
    let trip = |step: &(usize, Within)| match step.1 {
        Within::Trip(trip) => Some(trip),
        _ => None,
    };
    path.iter().filter_map(trip).collect()
}

enum Flow {
    On,
    Break,
    Continue,
    Return,
}

/// All that one thread does. Control flow depends on nothing that another thread writes.
struct Unrolling {
    thread: u32,
    path: Path,
    events: Vec<Event>,
}

impl Unrolling {
    fn of(program: &Program, thread: u32) -> Vec<Event> {
        let mut unrolling = Self { thread, path: Vec::new(), events: Vec::new() };
        if !matches!(unrolling.block(&program.body, 0), Flow::Return) {
            unrolling.event(Do::End);
        }
        unrolling.events
    }

    fn event(&mut self, what: Do) -> Flow {
        self.events.push(Event { at: self.path.clone(), what });
        Flow::On
    }

    fn block(&mut self, body: &[Statement], trip: u32) -> Flow {
        for statement in body {
            let flow = self.statement(statement, trip);
            if !matches!(flow, Flow::On) {
                return flow;
            }
        }
        Flow::On
    }

    fn statement(&mut self, statement: &Statement, trip: u32) -> Flow {
        let thread = self.thread;
        let cell = |cell: &Cell| cell.index.of(thread, trip) % CELLS + if cell.global { CELLS } else { 0 };
        self.path.push((statement.place, Within::Whole));
        let flow = match &statement.what {
            What::Write(to, value) => {
                self.event(Do::Access { cell: cell(to), value: Some(value.of(thread, trip)) })
            }
            What::Read(from) => self.event(Do::Access { cell: cell(from), value: None }),
            What::Barrier => self.event(Do::Barrier),
            What::SyncWarp(mask) => self.event(Do::SyncWarp(mask.of(thread))),
            What::Return => {
                self.event(Do::Return);
                Flow::Return
            }
            What::Break => Flow::Break,
            What::Continue => Flow::Continue,
            What::If(condition, then, other) => {
                let holds = condition.holds(thread, trip);
                self.within(Within::Arm(u32::from(!holds)));
                self.block(if holds { then } else { other }, trip)
            }
            What::Loop(trips, body) => self.looping(trips.of(thread, trip), body),
        };
        self.path.pop();
        flow
    }

    fn within(&mut self, within: Within) {
        self.path.last_mut().expect("the statement's own step").1 = within;
    }

    fn looping(&mut self, trips: u32, body: &[Statement]) -> Flow {
        for trip in 0..trips {
            self.within(Within::Trip(trip));
            match self.block(body, trip) {
                Flow::On | Flow::Continue => {}
                Flow::Break => break,
                Flow::Return => return Flow::Return,
            }
        }
        Flow::On
    }
}

/// Did a thread that ended so go past this barrier? Paths agree up to one step. If that step is one
/// branch, the thread returned in the other arm: above the barrier. Else it came to a later statement, or
/// to a later trip.
fn went_past(end: &Event, barrier: &Path) -> bool {
    if matches!(end.what, Do::End) {
        return true;
    }
    match end.at.iter().zip(barrier).find(|(a, b)| a != b) {
        Some((a, b)) if a.0 == b.0 && matches!(a.1, Within::Arm(_)) => false,
        Some((a, b)) => a > b,
        None => false,
    }
}

/// A node of the graph: an access, or a barrier that completed.
struct Node {
    /// The nodes right before it.
    after: Vec<usize>,
    access: Option<Access>,
}

#[derive(Clone)]
struct Access {
    thread: u32,
    at: Path,
    cell: CellNumber,
    value: Option<u32>,
}

/// The run of one block, thread by thread up to where each waits.
struct Judge {
    threads: Vec<Vec<Event>>,
    /// Each thread's next event.
    next: Vec<usize>,
    last_node: Vec<Option<usize>>,
    /// Ended since the last block barrier.
    ended: Vec<u32>,
    alive: Vec<bool>,
    nodes: Vec<Node>,
    verdict: Verdict,
}

/// The verdict on a program.
pub(crate) fn judge(program: &Program) -> Verdict {
    let threads: Vec<_> = (0..program.threads).map(|thread| Unrolling::of(program, thread)).collect();
    let count = threads.len();
    let mut judge = Judge {
        threads,
        next: vec![0; count],
        last_node: vec![None; count],
        ended: Vec::new(),
        alive: vec![true; count],
        nodes: Vec::new(),
        verdict: Verdict::default(),
    };
    judge.run();
    judge.judge_pairs();
    judge.verdict
}

impl Judge {
    fn run(&mut self) {
        loop {
            for thread in 0..self.threads.len() {
                while self.advance(thread) {}
            }
            let living: Vec<_> = (0..self.threads.len()).filter(|&thread| self.alive[thread]).collect();
            if living.is_empty() {
                return;
            }
            if self.release_a_warp(&living) {
                continue;
            }
            if !living.iter().all(|&thread| matches!(self.event(thread).what, Do::Barrier)) {
                let waits = |&thread: &usize| (thread as u32, place(&self.event(thread).at));
                self.verdict.stuck = living.iter().map(waits).collect();
                return;
            }
            self.release_the_block(&living);
        }
    }

    fn event(&self, thread: usize) -> &Event {
        &self.threads[thread][self.next[thread]]
    }

    fn judging(&self) -> bool {
        self.verdict.divergence.is_none()
    }

    /// Takes one step; false if the thread waits or has ended.
    fn advance(&mut self, thread: usize) -> bool {
        if !self.alive[thread] {
            return false;
        }
        let event = self.event(thread).clone();
        match event.what {
            Do::Access { cell, value } => {
                if self.judging() {
                    let access = Access { thread: thread as u32, at: event.at, cell, value };
                    let after = self.last_node[thread].into_iter().collect();
                    self.nodes.push(Node { after, access: Some(access) });
                    self.last_node[thread] = Some(self.nodes.len() - 1);
                }
            }
            Do::SyncWarp(mask) if mask >> (thread % 32) & 1 == 0 => {
                self.verdict.outside_mask.insert((place(&event.at), mask));
            }
            Do::Barrier | Do::SyncWarp(_) => return false,
            Do::Return | Do::End => {
                self.alive[thread] = false;
                self.ended.push(thread as u32);
                return false;
            }
        }
        self.next[thread] += 1;
        true
    }

    /// Lets one group of lanes go whose living members all wait with the same mask.
    fn release_a_warp(&mut self, living: &[usize]) -> bool {
        for &thread in living {
            let Do::SyncWarp(mask) = self.event(thread).what else { continue };
            let named = |other: &&usize| **other / 32 == thread / 32 && mask >> (**other % 32) & 1 == 1;
            let members: Vec<_> = living.iter().filter(named).copied().collect();
            let here = |&other: &usize| matches!(self.event(other).what, Do::SyncWarp(its) if its == mask);
            if members.iter().all(here) {
                self.join(&members);
                return true;
            }
        }
        false
    }

    fn join(&mut self, members: &[usize]) {
        let after = members.iter().filter_map(|&thread| self.last_node[thread]).collect();
        self.nodes.push(Node { after, access: None });
        for &thread in members {
            self.last_node[thread] = Some(self.nodes.len() - 1);
            self.next[thread] += 1;
        }
    }

    /// All that live wait at a block barrier. At the same one?
    fn release_the_block(&mut self, living: &[usize]) {
        let mut waiting: BTreeMap<&Path, Vec<u32>> = BTreeMap::new();
        for &thread in living {
            waiting.entry(&self.event(thread).at).or_default().push(thread as u32);
        }
        // The barrier that most wait at; of several, that of the lowest thread.
        let rank = |(_, threads): &(&&Path, &Vec<u32>)| (threads.len(), std::cmp::Reverse(threads[0]));
        let (&at, here) = waiting.iter().max_by_key(rank).expect("somebody lives");
        let skipped = |&&thread: &&u32| {
            let end = self.threads[thread as usize].last().expect("every thread ends");
            went_past(end, at)
        };
        let skipped: Vec<_> = self.ended.iter().filter(skipped).map(|&thread| (thread, None)).collect();
        if self.judging() {
            if waiting.len() > 1 || !skipped.is_empty() {
                let other = |&thread: &usize| {
                    let path = &self.event(thread).at;
                    (path != at).then(|| (thread as u32, Some((place(path), trips(path)))))
                };
                let mut elsewhere = skipped;
                elsewhere.extend(living.iter().filter_map(other));
                elsewhere.sort_unstable();
                let (place, trips) = (place(at), trips(at));
                let waiting = here.clone();
                self.verdict.divergence = Some(Divergence { place, trips, waiting, elsewhere });
            } else {
                let exited = (self.threads.len() - living.len()) as u32;
                self.verdict.exited = self.verdict.exited.max(exited);
            }
        }
        self.ended.clear();
        self.join(living);
    }

    /// Which nodes happen before each node, as sets of bits.
    fn closure(&self) -> Vec<Vec<u64>> {
        let words = self.nodes.len().div_ceil(64);
        let mut before: Vec<Vec<u64>> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let mut set = vec![0; words];
            for &earlier in &node.after {
                for (to, from) in set.iter_mut().zip(&before[earlier]) {
                    *to |= from;
                }
                set[earlier / 64] |= 1 << (earlier % 64);
            }
            before.push(set);
        }
        before
    }

    fn judge_pairs(&mut self) {
        let before = self.closure();
        let happens_before = |a: usize, b: usize| before[b][a / 64] >> (a % 64) & 1 == 1;
        for cell in 0..2 * CELLS {
            let accesses: Vec<_> = self
                .nodes
                .iter()
                .enumerate()
                .filter_map(|(number, node)| Some((number, node.access.as_ref()?)))
                .filter(|(_, access)| access.cell == cell)
                .collect();
            for (at, &(a, first)) in accesses.iter().enumerate() {
                for &(b, second) in &accesses[at + 1..] {
                    let ordered = happens_before(a, b) || happens_before(b, a);
                    if first.thread != second.thread && !ordered {
                        self.verdict.pair(first, second);
                    }
                }
                let written =
                    |&(write, by): &(usize, &Access)| by.value.is_some() && !happens_before(a, write);
                if cell < CELLS && first.value.is_none() && !accesses.iter().any(written) {
                    *self.verdict.uninitialised.entry((cell, place(&first.at))).or_default() += 1;
                }
            }
        }
    }
}

impl Verdict {
    /// Two accesses of two threads to one cell that nothing orders.
    fn pair(&mut self, a: &Access, b: &Access) {
        let (first, second) = if (&a.at, a.thread) < (&b.at, b.thread) { (a, b) } else { (b, a) };
        let places = (place(&first.at), place(&second.at));
        let kind = match (first.value, second.value) {
            (None, None) => return,
            (Some(one), Some(other)) => {
                let level = if one == other { Level::Info } else { Level::Error };
                let key = (a.cell, places.0.min(places.1), places.0.max(places.1));
                let worst = self.writes.entry(key).or_insert(level);
                *worst = level.max(*worst);
                return;
            }
            (Some(_), None) => Kind::Raw,
            (None, Some(_)) => Kind::War,
        };
        let level = if a.thread / 32 == b.thread / 32 { Level::Warning } else { Level::Error };
        self.hazards.insert((a.cell, kind, level, places.0, places.1));
        self.pairs += 1;
    }
}
