//! The verdict on a program by brute force: every event of every thread, an explicit graph of what happens before what,
//! its transitive closure, and every pair of accesses. Only which write a flag was read from is taken from the run.

use std::collections::{BTreeMap, BTreeSet};

use race::Scope;

use super::program::{CELLS, Condition, Does, LOG, Program, Statement, What, always_returns};

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

/// `S`, `F`, `g` or `h`.
pub(crate) type Array = &'static str;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Divergence {
    pub(crate) line: u32,
    pub(crate) trips: Vec<u32>,
    pub(crate) waiting: Vec<u32>,
    /// Thread, and the line where it waits instead; `None` if it went past.
    pub(crate) elsewhere: Vec<(u32, Option<u32>)>,
}

/// What is compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Reads against writes: the bytes hit.
    pub(crate) hazards: BTreeMap<(Array, Kind, Level, u32, u32), u64>,
    /// Writes against writes: the worst level.
    pub(crate) writes: BTreeMap<(Array, u32, u32), Level>,
    /// Reads of what nothing has written, by line.
    pub(crate) uninitialised: BTreeMap<(Array, u32), u64>,
    /// Of these it depends on the schedule whether something had been written.
    pub(crate) perhaps_uninitialised: BTreeSet<(Array, u32)>,
    pub(crate) divergence: Option<Divergence>,
    /// Lines and masks.
    pub(crate) misuse: BTreeSet<(u32, u32)>,
    /// Threads wait for ever.
    pub(crate) stuck: bool,
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

/// Where in the program, from the outside in: lines, and where within.
type Path = Vec<(u32, Within)>;

#[derive(Clone, Debug)]
struct Access {
    array: Array,
    offset: u32,
    size: u32,
    reads: bool,
    writes: bool,
    strong: Option<Scope>,
    acquires: bool,
    releases: bool,
    /// What is written, if that matters.
    value: u64,
    /// The number of a flag's access in its thread, from 1.
    flag: Option<u32>,
}

#[derive(Clone, Debug)]
enum Do {
    /// A condition is looked at.
    Decide,
    Access(Access),
    Fence(Scope),
    Barrier,
    SyncWarp(u32),
    Ballot(u32),
    Arrive(u32),
    Wait(u32, u32),
}

#[derive(Clone, Debug)]
struct Event {
    at: Path,
    /// For each step, whether what stands behind it in its block returns in any case.
    returns: Vec<bool>,
    line: u32,
    what: Do,
}

impl Event {
    fn trips(&self) -> Vec<u32> {
        let trip = |step: &(u32, Within)| match step.1 {
            Within::Trip(trip) => Some(trip),
            _ => None,
        };
        self.at.iter().filter_map(trip).collect()
    }

    /// The place of a barrier: its line and the trips around.
    fn place(&self) -> (u32, Vec<u32>) {
        (self.line, self.trips())
    }

    /// The order of the program as written: lines, and of loops their trips.
    fn order(&self) -> Vec<(u32, u32)> {
        let trip = |step: &(u32, Within)| match step.1 {
            Within::Trip(trip) => Some((step.0, trip)),
            _ => None,
        };
        self.at.iter().filter_map(trip).chain([(self.line, 0)]).collect()
    }
}

/// All that one thread does. Control flow depends on nothing that another thread writes.
struct Unrolling<'a> {
    program: &'a Program,
    block: u32,
    thread: u32,
    path: Path,
    returns: Vec<bool>,
    events: Vec<Event>,
    flags: u32,
}

impl Unrolling<'_> {
    fn event(&mut self, line: u32, what: Do) {
        let mut at = self.path.clone();
        at.push((line, Within::Whole));
        self.events.push(Event { at, returns: self.returns.clone(), line, what });
    }

    fn holds(&self, condition: Condition, trip: u32) -> bool {
        condition.holds(self.thread, self.block, trip)
    }

    /// False if the thread has returned.
    fn block(&mut self, body: &[Statement], trip: u32) -> bool {
        for (number, statement) in body.iter().enumerate() {
            self.returns.push(always_returns(&body[number + 1..]));
            let on = self.statement(statement, trip);
            self.returns.pop();
            if !on {
                return false;
            }
        }
        true
    }

    fn statement(&mut self, statement: &Statement, trip: u32) -> bool {
        let (thread, threads, line) = (self.thread, self.program.threads, statement.line);
        match &statement.what {
            What::Access(access) => {
                if let Some(condition) = access.guard {
                    self.event(line, Do::Decide);
                    if !self.holds(condition, trip) {
                        return true;
                    }
                }
                let index = |index: super::program::Index| index.of(thread, threads, trip);
                let value = u64::from(index(access.value));
                let bits = 8 * access.size;
                let value = if bits < 64 { value & ((1 << bits) - 1) } else { value };
                let access = Access {
                    array: if access.global { "g" } else { "S" },
                    offset: index(access.index) * access.size,
                    size: access.size,
                    reads: !matches!(access.does, Does::Store),
                    writes: !matches!(access.does, Does::Load),
                    strong: access.scope,
                    acquires: false,
                    releases: false,
                    value,
                    flag: None,
                };
                assert!(access.offset + access.size <= CELLS);
                self.event(line, Do::Access(access));
            }
            What::Flag(flag) => {
                self.flags += 1;
                let id = (self.block * threads + thread) * LOG + self.flags;
                let access = Access {
                    array: if flag.global { "h" } else { "F" },
                    offset: 16 * flag.number,
                    size: 4,
                    reads: !matches!(flag.does, Does::Store),
                    writes: !matches!(flag.does, Does::Load),
                    strong: flag.scope,
                    acquires: flag.acquires,
                    releases: flag.releases,
                    value: id.into(),
                    flag: Some(self.flags),
                };
                self.event(line, Do::Access(access));
            }
            What::Fence(scope) => self.event(line, Do::Fence(*scope)),
            What::Barrier => self.event(line, Do::Barrier),
            What::SyncWarp(mask) => self.event(line, Do::SyncWarp(mask.of(thread))),
            What::Ballot(mask) => self.event(line, Do::Ballot(mask.of(thread))),
            What::Named { number, arriving, waiting } => {
                let (warp, warps) = (thread / 32, threads.div_ceil(32));
                self.event(line, Do::Decide);
                let count = 32 * ((arriving | waiting) & ((1 << warps) - 1)).count_ones();
                if arriving >> warp & 1 == 1 {
                    self.event(line, Do::Arrive(*number));
                }
                if waiting >> warp & 1 == 1 {
                    self.event(line + 2, Do::Wait(*number, count));
                }
            }
            What::Return => return false,
            What::If(condition, then, other) => {
                self.event(line, Do::Decide);
                let holds = self.holds(*condition, trip);
                self.path.push((line, Within::Arm(u32::from(!holds))));
                let on = self.block(if holds { then } else { other }, trip);
                self.path.pop();
                return on;
            }
            What::Loop { condition, trips, body, .. } => {
                let trips = if self.holds(*condition, trip) { trips.0 } else { trips.1 };
                for trip in 0..=trips {
                    let mut at = self.path.clone();
                    at.push((line, Within::Trip(trip)));
                    self.events.push(Event { at, returns: self.returns.clone(), line, what: Do::Decide });
                    if trip == trips {
                        break;
                    }
                    self.path.push((line, Within::Trip(trip)));
                    let on = self.block(body, trip);
                    self.path.pop();
                    if !on {
                        return false;
                    }
                }
            }
        }
        true
    }
}

/// Did a thread that has done this go past this place? Paths agree up to one step. If that step is one branch, it stands
/// in the other arm. Else it stands behind, or in a later trip: past, if one ever comes there from the place.
fn is_past(event: &Event, place: &Event) -> bool {
    let Some(parting) = event.at.iter().zip(&place.at).position(|(a, b)| a != b) else { return false };
    let (a, b) = (event.at[parting], place.at[parting]);
    let other_arm = a.0 == b.0 && matches!(a.1, Within::Arm(_));
    !other_arm && a > b && !place.returns[parting + 1..].contains(&true)
}

/// A node of the graph: an access, a fence, or threads that have met.
struct Node {
    block: u32,
    thread: u32,
    event: Option<Event>,
}

/// One block, thread by thread up to where each waits.
struct Block<'a> {
    program: &'a Program,
    number: u32,
    threads: Vec<Vec<Event>>,
    /// Each thread's next event, and how many it had made at the last barrier of the block.
    next: Vec<usize>,
    since: Vec<usize>,
    last: Vec<Option<usize>>,
    alive: Vec<bool>,
    /// Ended since the last block barrier.
    ended: Vec<u32>,
    /// Barrier, thread, and what it had done when it arrived.
    arrived: Vec<(u32, u32, Option<usize>)>,
    judging: bool,
}

/// The graph of all blocks.
#[derive(Default)]
struct Graph {
    nodes: Vec<Node>,
    edges: Vec<(usize, usize)>,
}

impl Graph {
    fn add(&mut self, node: Node, after: impl IntoIterator<Item = usize>) -> usize {
        let number = self.nodes.len();
        self.nodes.push(node);
        self.edges.extend(after.into_iter().map(|before| (before, number)));
        number
    }
}

/// The most events that a program may have to be judged here.
const MAX_EVENTS: usize = 6000;

/// The verdict on a program whose accesses to flags have read these numbers: `log`, of each thread [`LOG`] entries.
/// `None` if it is too large.
pub(crate) fn judge(program: &Program, log: &[u32]) -> Option<Verdict> {
    let mut graph = Graph::default();
    let mut verdict = Verdict::default();
    for number in 0..program.blocks {
        let mut threads = Vec::new();
        for thread in 0..program.threads {
            let mut unrolling = Unrolling {
                program,
                block: number,
                thread,
                path: Vec::new(),
                returns: Vec::new(),
                events: Vec::new(),
                flags: 0,
            };
            unrolling.block(&program.body, 0);
            if unrolling.flags >= LOG {
                return None;
            }
            threads.push(unrolling.events);
        }
        if threads.iter().map(Vec::len).sum::<usize>() > MAX_EVENTS {
            return None;
        }
        let count = threads.len();
        let mut block = Block {
            program,
            number,
            threads,
            next: vec![0; count],
            since: vec![0; count],
            last: vec![None; count],
            alive: vec![true; count],
            ended: Vec::new(),
            arrived: Vec::new(),
            judging: true,
        };
        if !block.run(&mut graph, &mut verdict) {
            verdict.stuck = true;
            break;
        }
    }
    synchronise(program, &mut graph, log);
    judge_pairs(&graph, &mut verdict);
    Some(verdict)
}

impl Block<'_> {
    fn event(&self, thread: usize) -> &Event {
        &self.threads[thread][self.next[thread]]
    }

    /// False if it does not end.
    fn run(&mut self, graph: &mut Graph, verdict: &mut Verdict) -> bool {
        loop {
            for thread in 0..self.threads.len() {
                while self.advance(thread, graph, verdict) {}
            }
            let living: Vec<_> = (0..self.threads.len()).filter(|&thread| self.alive[thread]).collect();
            if living.is_empty() {
                return true;
            }
            if self.release_a_warp(&living, graph, verdict, false) || self.release_named(&living, graph) {
                continue;
            }
            if living.iter().all(|&thread| matches!(self.event(thread).what, Do::Barrier)) {
                self.release_the_block(&living, graph, verdict);
            } else if !self.release_a_warp(&living, graph, verdict, true) {
                return false;
            }
        }
    }

    /// Takes one step; false if the thread waits or has ended.
    fn advance(&mut self, thread: usize, graph: &mut Graph, verdict: &mut Verdict) -> bool {
        if !self.alive[thread] {
            return false;
        }
        if self.next[thread] == self.threads[thread].len() {
            self.alive[thread] = false;
            self.ended.push(thread as u32);
            return false;
        }
        let event = self.event(thread).clone();
        match event.what {
            Do::Access(_) | Do::Fence(_) => {
                if self.judging {
                    let node = Node { block: self.number, thread: thread as u32, event: Some(event) };
                    self.last[thread] = Some(graph.add(node, self.last[thread]));
                }
            }
            Do::SyncWarp(mask) | Do::Ballot(mask) if mask >> (thread % 32) & 1 == 0 => {
                if self.judging {
                    verdict.misuse.insert((event.line, mask));
                }
            }
            Do::Decide => {}
            Do::Arrive(number) => self.arrived.push((number, thread as u32, self.last[thread])),
            Do::Barrier | Do::SyncWarp(_) | Do::Ballot(_) | Do::Wait(..) => return false,
        }
        self.next[thread] += 1;
        true
    }

    /// Lets one group of lanes go whose living members all wait with the same mask; or, if nobody can run, the first in
    /// the program, in vain.
    fn release_a_warp(
        &mut self,
        living: &[usize],
        graph: &mut Graph,
        verdict: &mut Verdict,
        in_vain: bool,
    ) -> bool {
        let waits = |&&thread: &&usize| matches!(self.event(thread).what, Do::SyncWarp(_) | Do::Ballot(_));
        let mut waiting: Vec<usize> = living.iter().filter(waits).copied().collect();
        if in_vain {
            waiting.sort_by_key(|&thread| (thread / 32, self.event(thread).order(), thread));
        }
        for thread in waiting {
            let event = self.event(thread).clone();
            let (mask, sync) = match event.what {
                Do::SyncWarp(mask) => (mask, true),
                Do::Ballot(mask) => (mask, false),
                _ => continue,
            };
            let named = |other: &&usize| **other / 32 == thread / 32 && mask >> (**other % 32) & 1 == 1;
            let here = |other: usize| match self.event(other).what {
                Do::SyncWarp(its) => sync && its == mask,
                Do::Ballot(its) => !sync && its == mask && self.event(other).line == event.line,
                _ => false,
            };
            let (come, missing): (Vec<usize>, Vec<usize>) =
                living.iter().filter(named).partition(|&&other| here(other));
            if !missing.is_empty() && !in_vain {
                continue;
            }
            for &waiting in come.iter().filter(|_| self.judging) {
                let place = self.event(waiting);
                let gone = self.ended.iter().any(|&other| {
                    other as usize / 32 == thread / 32
                        && mask >> (other % 32) & 1 == 1
                        && self.went_past(other as usize, place)
                });
                if gone {
                    verdict.misuse.insert((place.line, mask));
                }
            }
            if self.judging && !missing.is_empty() {
                verdict.misuse.insert((event.line, mask));
            }
            if sync {
                self.join(&come, Vec::new(), graph);
            } else {
                come.iter().for_each(|&lane| self.next[lane] += 1);
            }
            return true;
        }
        false
    }

    /// Has this thread, which has exited since the last barrier of the block, gone past this place and done more? Not if it
    /// has been there, and met others elsewhere.
    fn went_past(&self, thread: usize, place: &Event) -> bool {
        let done = &self.threads[thread][self.since[thread]..];
        !done.iter().any(|event| event.place() == place.place())
            && done.iter().any(|event| is_past(event, place))
    }

    fn release_named(&mut self, living: &[usize], graph: &mut Graph) -> bool {
        for &thread in living {
            let Do::Wait(number, count) = self.event(thread).what else { continue };
            let waits =
                |&&other: &&usize| matches!(self.event(other).what, Do::Wait(its, _) if its == number);
            let waiting: Vec<usize> = living.iter().filter(waits).copied().collect();
            let mut arrived: Vec<u32> =
                self.arrived.iter().filter(|it| it.0 == number).map(|it| it.1).collect();
            arrived.extend(waiting.iter().map(|&thread| thread as u32));
            // A warp all of which has come counts as 32 threads.
            let of_warp = |warp: u32| {
                let came = arrived.iter().filter(|&&thread| thread / 32 == warp).count() as u32;
                let lives = living.iter().filter(|&&thread| thread as u32 / 32 == warp);
                let all = lives.into_iter().all(|&thread| arrived.contains(&(thread as u32)));
                if came > 0 && all { 32 } else { came }
            };
            let total: u32 = (0..self.program.threads.div_ceil(32)).map(of_warp).sum();
            if total < count {
                continue;
            }
            let before = self.arrived.iter().filter(|it| it.0 == number).filter_map(|it| it.2).collect();
            self.arrived.retain(|it| it.0 != number);
            self.join(&waiting, before, graph);
            return true;
        }
        false
    }

    fn join(&mut self, members: &[usize], mut after: Vec<usize>, graph: &mut Graph) {
        after.extend(members.iter().filter_map(|&thread| self.last[thread]));
        let number = graph.add(Node { block: self.number, thread: 0, event: None }, after);
        for &thread in members {
            self.last[thread] = Some(number);
            self.next[thread] += 1;
        }
    }

    /// All that live wait at a block barrier. At the same one?
    fn release_the_block(&mut self, living: &[usize], graph: &mut Graph, verdict: &mut Verdict) {
        if self.judging {
            let mut waiting: BTreeMap<(u32, Vec<u32>), Vec<u32>> = BTreeMap::new();
            for &thread in living {
                waiting.entry(self.event(thread).place()).or_default().push(thread as u32);
            }
            // The barrier that most wait at; of several, that of the lowest thread.
            let rank =
                |(_, threads): &(&(u32, Vec<u32>), &Vec<u32>)| (threads.len(), std::cmp::Reverse(threads[0]));
            let (place, here) = waiting.iter().max_by_key(rank).expect("somebody lives");
            let at = self.event(here[0] as usize).clone();
            let skipped = |&&thread: &&u32| self.went_past(thread as usize, &at);
            let skipped: Vec<_> = self.ended.iter().filter(skipped).map(|&thread| (thread, None)).collect();
            if waiting.len() > 1 || !skipped.is_empty() {
                let other = |&thread: &usize| {
                    let event = self.event(thread);
                    (event.place() != *place).then_some((thread as u32, Some(event.line)))
                };
                let mut elsewhere = skipped;
                elsewhere.extend(living.iter().filter_map(other));
                elsewhere.sort_unstable();
                let (line, trips) = place.clone();
                verdict.divergence.get_or_insert(Divergence {
                    line,
                    trips,
                    waiting: here.clone(),
                    elsewhere,
                });
                self.judging = false;
            } else {
                let exited = (self.threads.len() - living.len()) as u32;
                verdict.exited = verdict.exited.max(exited);
            }
        }
        self.ended.clear();
        self.join(living, Vec::new(), graph);
        self.since.clone_from(&self.next);
    }
}

/// Adds the edges from releases to the acquires that read from them (PTX ISA, "Release and Acquire Patterns").
fn synchronise(program: &Program, graph: &mut Graph, log: &[u32]) {
    // Of each thread, its nodes in order.
    let mut threads: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
    let mut flags: BTreeMap<(Array, u32), usize> = BTreeMap::new();
    for (number, node) in graph.nodes.iter().enumerate() {
        let Some(event) = &node.event else { continue };
        threads.entry((node.block, node.thread)).or_default().push(number);
        if let Do::Access(Access { flag: Some(_), writes: true, value, array, .. }) = event.what {
            flags.insert((array, value as u32), number);
        }
    }
    let access = |number: usize| match graph.nodes[number].event.as_ref().map(|event| &event.what) {
        Some(Do::Access(access)) => Some(access),
        _ => None,
    };
    // The write that an access to a flag has read.
    let source = |number: usize| -> Option<usize> {
        let (node, access) = (&graph.nodes[number], access(number)?);
        let flag = access.flag.filter(|_| access.reads)?;
        let read = log[((node.block * program.threads + node.thread) * LOG + flag) as usize];
        let from = *flags.get(&(access.array, read))?;
        // Shared memory of another block is other memory.
        (access.array == "h" || graph.nodes[from].block == node.block).then_some(from)
    };
    let mut edges = Vec::new();
    for nodes in threads.values() {
        for (at, &number) in nodes.iter().enumerate() {
            let Some(read) = access(number).filter(|read| read.reads && read.strong.is_some()) else {
                continue;
            };
            // Where it acquires: itself, or fences behind it, or an acquire of the same flag behind it.
            let mut acquires: Vec<(usize, Scope)> = Vec::new();
            if read.acquires {
                acquires.extend(read.strong.map(|scope| (number, scope)));
            }
            for &later in &nodes[at + 1..] {
                match graph.nodes[later].event.as_ref().map(|event| &event.what) {
                    Some(Do::Fence(scope)) => acquires.push((later, *scope)),
                    Some(Do::Access(it))
                        if it.acquires && (it.array, it.offset) == (read.array, read.offset) =>
                    {
                        acquires.extend(it.strong.map(|scope| (later, scope)));
                    }
                    _ => {}
                }
            }
            let mut from = source(number);
            let mut seen = 0;
            while let Some(write) = from {
                let Some(written) = access(write).filter(|written| written.strong.is_some()) else { break };
                for (first, scope) in releases(graph, &threads, write, written) {
                    for &(last, own) in &acquires {
                        let one = graph.nodes[first].block == graph.nodes[last].block;
                        let covers = |scope: Scope| one || scope >= Scope::Device;
                        if covers(scope) && covers(own) {
                            edges.push((first, last));
                        }
                    }
                }
                from = if written.reads { source(write) } else { None };
                seen += 1;
                if seen > MAX_EVENTS {
                    break;
                }
            }
        }
    }
    graph.edges.extend(edges);
}

/// Where a strong write releases: itself, or fences before it, or a release of the same flag before it.
fn releases(
    graph: &Graph,
    threads: &BTreeMap<(u32, u32), Vec<usize>>,
    write: usize,
    written: &Access,
) -> Vec<(usize, Scope)> {
    let node = &graph.nodes[write];
    let mut found: Vec<(usize, Scope)> = Vec::new();
    if written.releases {
        found.extend(written.strong.map(|scope| (write, scope)));
    }
    for &earlier in threads[&(node.block, node.thread)].iter().take_while(|&&earlier| earlier != write) {
        match graph.nodes[earlier].event.as_ref().map(|event| &event.what) {
            Some(Do::Fence(scope)) => found.push((earlier, *scope)),
            Some(Do::Access(it))
                if it.releases && (it.array, it.offset) == (written.array, written.offset) =>
            {
                found.extend(it.strong.map(|scope| (earlier, scope)));
            }
            _ => {}
        }
    }
    found
}

/// Which nodes happen before each node, as sets of bits.
fn closure(graph: &Graph) -> Vec<Vec<u64>> {
    let count = graph.nodes.len();
    let words = count.div_ceil(64);
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut open = vec![0_usize; count];
    for &(from, to) in &graph.edges {
        after[from].push(to);
        open[to] += 1;
    }
    let mut before: Vec<Vec<u64>> = vec![vec![0; words]; count];
    let mut ready: Vec<usize> = (0..count).filter(|&node| open[node] == 0).collect();
    let mut done = 0;
    while let Some(node) = ready.pop() {
        done += 1;
        let own = before[node].clone();
        for &to in &after[node] {
            for (to, from) in before[to].iter_mut().zip(&own) {
                *to |= from;
            }
            before[to][node / 64] |= 1 << (node % 64);
            open[to] -= 1;
            if open[to] == 0 {
                ready.push(to);
            }
        }
    }
    assert_eq!(done, count, "what happens before what has no circles");
    before
}

fn judge_pairs(graph: &Graph, verdict: &mut Verdict) {
    let before = closure(graph);
    let happens_before = |a: usize, b: usize| before[b][a / 64] >> (a % 64) & 1 == 1;
    // By array, block of shared arrays, and byte.
    let mut bytes: BTreeMap<(Array, u32, u32), Vec<usize>> = BTreeMap::new();
    let mut reads: Vec<usize> = Vec::new();
    for (number, node) in graph.nodes.iter().enumerate() {
        let Some(Event { what: Do::Access(access), .. }) = &node.event else { continue };
        let own = if matches!(access.array, "S" | "F") { node.block } else { 0 };
        for byte in access.offset..access.offset + access.size {
            bytes.entry((access.array, own, byte)).or_default().push(number);
        }
        if access.reads && matches!(access.array, "S" | "F") {
            reads.push(number);
        }
    }
    let access = |number: usize| match &graph.nodes[number].event {
        Some(Event { what: Do::Access(access), .. }) => access,
        _ => unreachable!("only accesses have bytes"),
    };
    let keys: Vec<Key> = graph.nodes.iter().map(key).collect();
    let mut raced: BTreeSet<usize> = BTreeSet::new();
    for accesses in bytes.values() {
        for (at, &a) in accesses.iter().enumerate() {
            for &b in &accesses[at + 1..] {
                let (x, y) = (&graph.nodes[a], &graph.nodes[b]);
                let one_block = x.block == y.block;
                if one_block && x.thread == y.thread {
                    continue;
                }
                let (p, q) = (access(a), access(b));
                let covers = |scope: Option<Scope>| scope.is_some_and(|it| one_block || it >= Scope::Device);
                let whole = (p.offset, p.size) == (q.offset, q.size);
                if !(p.writes || q.writes) || covers(p.strong) && covers(q.strong) && whole {
                    continue;
                }
                if happens_before(a, b) || happens_before(b, a) {
                    continue;
                }
                raced.extend(q.writes.then_some(a));
                raced.extend(p.writes.then_some(b));
                count_pair(verdict, (&keys[a], p), (&keys[b], q));
            }
        }
    }
    for number in reads {
        let (node, read) = (&graph.nodes[number], access(number));
        let line = node.event.as_ref().map_or(0, |event| event.line);
        if raced.contains(&number) {
            continue;
        }
        let (mut none, mut perhaps) = (false, false);
        for byte in read.offset..read.offset + read.size {
            let writes = bytes[&(read.array, node.block, byte)].iter().filter(|&&it| access(it).writes);
            let others: Vec<usize> = writes.copied().filter(|&it| it != number).collect();
            if others.iter().any(|&write| happens_before(write, number)) {
                continue;
            }
            // Strong writes that may come earlier or later.
            if others.iter().any(|&write| !happens_before(number, write)) {
                perhaps = true;
            } else {
                none = true;
            }
        }
        if none {
            *verdict.uninitialised.entry((read.array, line)).or_default() += 1;
        } else if perhaps {
            verdict.perhaps_uninitialised.insert((read.array, line));
        }
    }
}

/// The order of the program as written, the block and the thread, and the line.
type Key = (Vec<(u32, u32)>, u32, u32, u32);

fn key(node: &Node) -> Key {
    let (order, line) = node.event.as_ref().map(|event| (event.order(), event.line)).unwrap_or_default();
    (order, node.block, node.thread, line)
}

/// One byte that two threads access, and that nothing orders.
fn count_pair(verdict: &mut Verdict, a: (&Key, &Access), b: (&Key, &Access)) {
    let (first, second) = if a.0 <= b.0 { (a, b) } else { (b, a) };
    let lines = (first.0.3, second.0.3);
    let array = a.1.array;
    let kind = match (first.1.writes, second.1.writes) {
        (true, true) => {
            let byte =
                |(_, access): (&Key, &Access), at: u32| access.value >> (8 * (at - access.offset)) & 0xff;
            let from = a.1.offset.max(b.1.offset);
            let to = (a.1.offset + a.1.size).min(b.1.offset + b.1.size);
            let plain = a.1.strong.is_none() && b.1.strong.is_none();
            let same = plain && (from..to).all(|at| byte(a, at) == byte(b, at));
            let level = if same { Level::Info } else { Level::Error };
            let worst = verdict.writes.entry((array, lines.0, lines.1)).or_insert(level);
            *worst = level.max(*worst);
            return;
        }
        (true, false) => Kind::Raw,
        (false, _) => Kind::War,
    };
    let same_warp = a.0.1 == b.0.1 && a.0.2 / 32 == b.0.2 / 32;
    let level = if same_warp { Level::Warning } else { Level::Error };
    *verdict.hazards.entry((array, kind, level, lines.0, lines.1)).or_default() += 1;
}
