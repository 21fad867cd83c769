//! Runs a block: who runs next, who waits, who is released.

use std::cmp::Ordering;

use race::findings::Findings;
use race::schedule::{self, Scheduler, Warp as Lanes32};
use race::{Divergence, EarlyExit, Fault, FaultKind, Site, Waiting, WarpMisuse, Whereabouts};

use crate::access::Memories;
use crate::arithmetic::Lanes;
use crate::code::{Barrier, BarrierKind, Op, Pc, Program, Reg, Special};
use crate::collective;
use crate::dim::Shape;
use crate::execute::{Machine, Stop, Turn, begin_frame, give, run, special_values};
use crate::frame::Frame;
use crate::paths::{PassedId, PathId, Paths, Step};
use crate::register::LANES;
use crate::warp::{Group, State, Warp};

/// In how many turns a warp may pass over lanes that could run, before these have one.
const PATIENCE: u32 = 64;

/// What runs blocks, one after the other.
pub(crate) struct Runner<'a> {
    warps: Vec<Warp>,
    state: State32<'a>,
}

/// Everything about the running block but its warps.
struct State32<'a> {
    machine: Machine<'a>,
    findings: Findings,
    scheduler: Scheduler,
    /// The lanes of each warp, for the scheduler.
    lanes: Vec<Lanes32>,
    ready_warps: u32,
    /// Threads that have not exited, and those of them that wait for the whole block.
    alive: u32,
    waiting: u32,
    /// A thread of the block could not go on.
    faulted: bool,
    /// Barriers that wait for a number of threads: their numbers, and the lanes of each warp that have arrived without
    /// waiting.
    arrived: Vec<(u32, Vec<u32>)>,
    /// Such a barrier that somebody has come to, and how many it waits for.
    counted: Option<(u32, u32)>,
}

/// Where lanes wait.
type Place = (Pc, PathId);

/// The launch goes on no further: a thread goes round a loop without end.
struct Ended;

impl<'a> Runner<'a> {
    pub(crate) fn new(
        program: &'a Program,
        sites: &'a [Site],
        shape: Shape,
        memories: Memories<'a>,
        scheduler: Scheduler,
        budget: u32,
    ) -> Self {
        let threads = shape.block.count() as u32;
        let warps: Vec<Warp> = (0..threads.div_ceil(32)).map(|_| Warp::default()).collect();
        let machine = Machine {
            program,
            sites,
            paths: Paths::new(),
            memories,
            shape,
            block: 0,
            budget,
            clock: 0,
            printed: Vec::new(),
        };
        let state = State32 {
            machine,
            findings: Findings::default(),
            scheduler,
            lanes: vec![Lanes32::default(); warps.len()],
            ready_warps: 0,
            alive: 0,
            waiting: 0,
            faulted: false,
            arrived: Vec::new(),
            counted: None,
        };
        let mut runner = Self { warps, state };
        for number in 0..runner.warps.len() {
            runner.prepare(number);
        }
        runner
    }

    /// Computes what is the same for all blocks.
    fn prepare(&mut self, number: usize) {
        let Self { warps, state } = self;
        let (warp, machine) = (&mut warps[number], &mut state.machine);
        let (program, shape) = (machine.program, machine.shape);
        let frame = Frame::default();
        let all = Lanes { mask: u32::MAX, all: true };
        begin_frame(program, warp, &frame, all, |special| special_values(special, shape, 0, number as u32));
        let Some(prologue) = program.functions[0].prologue else { return };
        warp.begin(u32::MAX, prologue);
        // Nothing in it can fail: it reads parameters that exist, and computes.
        let _ = run(machine, warp, 0, Turn { warp: number as u32, together: true });
    }

    /// What the blocks did: findings, the interleaving, and what they printed.
    pub(crate) fn finish(self) -> (Findings, Scheduler, Vec<u8>) {
        let State32 { machine, mut findings, scheduler, .. } = self.state;
        if let Some(judge) = machine.memories.judge {
            findings.merge(judge.finish());
        }
        (findings, scheduler, machine.printed)
    }

    /// Runs a block. False if something ended the launch.
    pub(crate) fn run(&mut self, block: u64) -> bool {
        self.begin(block);
        let lockstep = self.state.scheduler.is_lockstep();
        while self.state.alive > 0 {
            if self.state.ready_warps == 0 {
                if self.state.faulted || !self.resolve() {
                    self.state.break_off();
                    return false;
                }
                continue;
            }
            let state = &mut self.state;
            let turn = if lockstep {
                let number = state.scheduler.pick_warp(state.ready_warps);
                state.turn_together(number, &mut self.warps[number])
            } else {
                let (number, lanes) = state.scheduler.pick(state.ready_warps, &state.lanes);
                state.turn_apart(number, &mut self.warps[number], lanes)
            };
            if turn.is_err() {
                self.state.break_off();
                return false;
            }
            if self.state.counted.is_some()
                && let Some((name, count)) = self.state.counted.take()
            {
                self.release_counted(name, count);
            }
            if self.state.waiting > 0 && self.state.waiting == self.state.alive && !self.state.faulted {
                self.release_block();
            }
        }
        if self.state.faulted {
            self.state.break_off();
            return false;
        }
        if let Some((judge, view)) = self.state.machine.judge() {
            judge.end_block(&view);
        }
        true
    }

    fn begin(&mut self, block: u64) {
        let Self { warps, state } = self;
        let threads = state.begin(block);
        let machine = &state.machine;
        let kernel = &machine.program.functions[0];
        for (number, warp) in warps.iter_mut().enumerate() {
            let left = threads - 32 * number as u32;
            let lanes = if left >= 32 { u32::MAX } else { (1 << left) - 1 };
            warp.begin(lanes, kernel.entry);
            for &(register, special) in &kernel.specials {
                if let Special::Ctaid(_) = special {
                    let values = special_values(special, machine.shape, block, number as u32);
                    give(warp, register as usize, &values, Lanes { mask: lanes, all: true });
                }
            }
            state.lanes[number] = Lanes32 { all: lanes, alive: lanes, ready: lanes, ..Lanes32::default() };
            state.ready_warps |= 1 << number;
        }
    }

    /// Releases the barrier of this number if enough threads have come.
    fn release_counted(&mut self, name: u32, count: u32) {
        let at_it = |warp: &Warp, group: &Group| {
            let Some(barrier) = self.state.barrier(group.pc) else { return false };
            let lane = group.mask.trailing_zeros() as usize;
            group.state == State::AtBarrier
                && barrier.count.is_some()
                && warp.lane(&group.frame, barrier.number, lane) as u32 == name
        };
        let of_warp = |warp: &Warp| {
            let groups = warp.groups.iter().filter(|group| at_it(warp, group));
            groups.fold(0, |mask, group| mask | group.mask)
        };
        let waiting: Vec<u32> = self.warps.iter().map(of_warp).collect();
        let none = vec![0; self.warps.len()];
        let arrived = self
            .state
            .arrived
            .iter()
            .find(|(known, _)| *known == name)
            .map_or(&none, |(_, lanes)| lanes)
            .clone();
        // A warp whose threads have all come counts as a whole one (PTX ISA, `bar`: "the arrival count is incremented by
        // the warp size, not the number of active threads in the warp").
        let came = self.warps.iter().zip(waiting.iter().zip(&arrived)).map(|(warp, (waiting, arrived))| {
            let come = waiting | arrived;
            if come != 0 && warp.alive & !come == 0 { 32 } else { come.count_ones() }
        });
        if came.sum::<u32>() < count || waiting.iter().all(|&lanes| lanes == 0) {
            return;
        }
        self.state.arrived.retain(|(known, _)| *known != name);
        if let Some((judge, view)) = self.state.machine.judge() {
            judge.meet(&view, name, &waiting);
        }
        self.reduce(&waiting);
        self.go_on(&waiting);
    }

    /// Releases a barrier that enough threads have come to by now: a warp counts as a whole one once those of its threads
    /// that have not come have exited.
    #[cold]
    fn release_any_counted(&mut self) -> bool {
        let counted = |warp: &Warp, group: &Group| {
            let barrier = self.state.barrier(group.pc).filter(|_| group.state == State::AtBarrier)?;
            let lane = group.mask.trailing_zeros() as usize;
            let value = |register| warp.lane(&group.frame, register, lane) as u32;
            Some((value(barrier.number), value(barrier.count?)))
        };
        let of_warp = |warp: &Warp| {
            warp.groups.iter().filter_map(|group| counted(warp, group)).collect::<Vec<(u32, u32)>>()
        };
        let waited_for: Vec<(u32, u32)> = self.warps.iter().flat_map(of_warp).collect();
        waited_for.into_iter().any(|(name, count)| {
            self.release_counted(name, count);
            self.state.ready_warps != 0
        })
    }

    /// All threads of the block that have not exited wait for each other.
    #[inline(never)]
    fn release_block(&mut self) {
        let mut places = self.warps.iter().flat_map(|warp| &warp.groups).map(|group| (group.pc, group.path));
        let Some(first) = places.next() else { return };
        let mixed = places.any(|place| place != first);
        let alive: Vec<u32> = self.warps.iter().map(|warp| warp.alive).collect();
        let judging = self.state.machine.memories.judge.as_ref().is_none_or(race::judge::Judge::is_judging);
        let out = self.state.machine.shape.block.count() as u32 - self.state.alive;
        if judging && (mixed || (out > 0 && self.exited_past(first).next().is_some())) {
            self.diverged();
        } else if judging {
            if out > 0 {
                self.state
                    .findings
                    .early_exit(EarlyExit { threads: out, site: self.state.machine.sites[first.0 as usize] });
            }
            if let Some((judge, view)) = self.state.machine.judge() {
                judge.block_barrier(&view, &alive, first.0);
            }
        }
        for (lanes, warp) in self.state.lanes.iter_mut().zip(&mut self.warps) {
            lanes.left = lanes.all & !warp.alive;
            if !warp.passed.is_empty() {
                warp.passed.clear();
            }
            if !warp.met.is_empty() {
                warp.met.clear();
            }
        }
        if self.state.barrier(first.0).is_some_and(|barrier| barrier.kind != BarrierKind::Sync) {
            self.reduce(&alive);
        }
        self.state.waiting = 0;
        self.go_on(&alive);
    }

    /// Lanes that wait at barriers of the block go on, each behind its own.
    #[inline]
    fn go_on(&mut self, released: &[u32]) {
        for (number, (warp, &released)) in self.warps.iter_mut().zip(released).enumerate() {
            for group in &mut warp.groups {
                if group.state == State::AtBarrier && group.mask & released != 0 {
                    group.state = State::Ready;
                    group.pc += 1;
                }
            }
            let ready = warp.ready();
            self.state.lanes[number].ready = ready;
            if ready != 0 {
                self.state.ready_warps |= 1 << number;
            }
        }
    }

    /// What `bar.red` computes over the threads that have come.
    fn reduce(&mut self, waiting: &[u32]) {
        let mut count = 0;
        let mut threads = 0;
        for (warp, &waiting) in self.warps.iter().zip(waiting) {
            for group in warp.groups.iter().filter(|group| group.mask & waiting != 0) {
                let Some(barrier) = self.state.barrier(group.pc) else { continue };
                let (predicate, negated) = match barrier.kind {
                    BarrierKind::Count { predicate, negated, .. }
                    | BarrierKind::And { predicate, negated, .. }
                    | BarrierKind::Or { predicate, negated, .. } => (predicate, negated),
                    BarrierKind::Sync | BarrierKind::Arrive => continue,
                };
                let bits = warp.p[(group.frame.p + predicate) as usize] ^ if negated { u32::MAX } else { 0 };
                count += (bits & group.mask).count_ones();
                threads += group.mask.count_ones();
            }
        }
        for (number, &waiting) in waiting.iter().enumerate() {
            for at in 0..self.warps[number].groups.len() {
                let group = self.warps[number].groups[at];
                let Some(barrier) = self.state.barrier(group.pc).filter(|_| group.mask & waiting != 0) else {
                    continue;
                };
                let (register, value) = match barrier.kind {
                    BarrierKind::Count { d, .. } => (Reg::W(d), count),
                    BarrierKind::And { d, .. } => (Reg::P(d), u32::from(count == threads)),
                    BarrierKind::Or { d, .. } => (Reg::P(d), u32::from(count > 0)),
                    BarrierKind::Sync | BarrierKind::Arrive => continue,
                };
                let warp = &mut self.warps[number];
                let all = group.mask == warp.alive;
                warp.set_uniform(&group.frame, register, value.into(), group.mask, all);
            }
        }
    }

    /// Threads that have exited, since the last barrier, by way of more than this one.
    fn exited_past(&self, place: Place) -> impl Iterator<Item = u32> {
        let of_warp = move |(number, warp): (usize, &Warp)| {
            let lanes = &self.state.lanes[number];
            let past = self.state.past(warp, lanes.all & !warp.alive & !lanes.left, place);
            race::schedule::threads(number, past).map(u32::from).collect::<Vec<_>>()
        };
        self.warps.iter().enumerate().flat_map(of_warp)
    }

    /// The barrier is divergent: say who waits where, and judge nothing any more in this block. It is told from where
    /// most threads wait, so that the schedule does not show.
    #[cold]
    fn diverged(&mut self) {
        let mut gathered: Vec<(Place, Vec<u32>)> = Vec::new();
        for (number, warp) in self.warps.iter().enumerate() {
            for group in &warp.groups {
                let threads = race::schedule::threads(number, group.mask).map(u32::from);
                match gathered.iter_mut().find(|(place, _)| *place == (group.pc, group.path)) {
                    Some((_, known)) => known.extend(threads),
                    None => gathered.push(((group.pc, group.path), threads.collect())),
                }
            }
        }
        gathered.iter_mut().for_each(|(_, threads)| threads.sort_unstable());
        // Of several, that of the lowest thread.
        gathered.sort_by_key(|(_, threads)| (std::cmp::Reverse(threads.len()), threads[0]));
        let Some(((pc, path), waiting)) = gathered.first().cloned() else { return };
        let mut elsewhere: Vec<(u32, Whereabouts)> = Vec::new();
        for ((pc, path), threads) in &gathered[1..] {
            let (site, trips) =
                (self.state.machine.sites[*pc as usize], self.state.machine.paths.trips(*path));
            elsewhere.extend(
                threads.iter().map(|&thread| (thread, Whereabouts::Waits { site, trips: trips.clone() })),
            );
        }
        elsewhere.extend(self.exited_past((pc, path)).map(|thread| (thread, Whereabouts::Skipped)));
        elsewhere.sort_by_key(|&(thread, _)| thread);
        if let Some((judge, view)) = self.state.machine.judge() {
            judge.stop(&view);
        }
        self.state.findings.diverged(Divergence {
            block: self.state.machine.block,
            site: self.state.machine.sites[pc as usize],
            trips: self.state.machine.paths.trips(path),
            waiting,
            elsewhere,
            blocks: 1,
        });
    }

    /// Threads live, and none can run: lanes wait for others of their warp that never come, or for too many threads.
    /// False if that ends the launch.
    #[cold]
    fn resolve(&mut self) -> bool {
        if self.release_any_counted() {
            return true;
        }
        // Lanes that others of their warp wait for in vain: a misuse, after which the others go on.
        for number in 0..self.warps.len() {
            let Self { warps, state } = self;
            let warp = &mut warps[number];
            // The first in the program, so that the schedule does not show.
            let waits = warp.groups.iter().filter(|group| matches!(group.state, State::AtWarp { .. }));
            let (program, paths) = (state.machine.program, &state.machine.paths);
            let waits = waits
                .min_by(|a, b| {
                    let order = paths.order(program, (a.pc, a.path), (b.pc, b.path));
                    order.then(a.mask.trailing_zeros().cmp(&b.mask.trailing_zeros()))
                })
                .copied();
            let Some(group) = waits else { continue };
            let State::AtWarp { members } = group.state else { continue };
            let with = warp.groups.iter().filter(|other| state.meets(&group, other, members));
            let with = with.fold(0, |mask, other| mask | other.mask);
            let missing = members & warp.alive & !with;
            state.misuse(number, missing.trailing_zeros(), group.pc, members);
            state.release_lanes(number, warp, &group, members, with);
            state.lanes[number].ready = warp.ready();
            if state.lanes[number].ready != 0 {
                state.ready_warps |= 1 << number;
            }
            return true;
        }
        let mut waiting = Vec::new();
        for (number, warp) in self.warps.iter().enumerate() {
            for group in &warp.groups {
                let site = self.state.machine.sites[group.pc as usize];
                let threads = race::schedule::threads(number, group.mask);
                waiting.extend(threads.map(|thread| Waiting { thread: thread.into(), site, mask: None }));
            }
        }
        waiting.sort_by_key(|waiting| waiting.thread);
        if let Some(&Waiting { thread, site, .. }) = waiting.first() {
            let what = FaultKind::Stuck(waiting);
            self.state.findings.fault(Fault {
                what,
                block: self.state.machine.block,
                thread,
                site: Some(site),
            });
        }
        false
    }
}

impl State32<'_> {
    /// A block begins: returns how many threads it has.
    fn begin(&mut self, block: u64) -> u32 {
        self.machine.block = block;
        self.scheduler.begin_block(block);
        match &mut self.machine.memories.judge {
            Some(judge) => judge.begin_block(block),
            // The judge tells what is not written yet: that reads as zero. Without it, zeros have to lie there, or the
            // output would show which blocks ran here before.
            None => self.machine.memories.shared.fill(0),
        }
        let threads = self.machine.shape.block.count() as u32;
        (self.alive, self.waiting, self.faulted) = (threads, 0, false);
        self.arrived.clear();
        self.ready_warps = 0;
        threads
    }

    /// Lanes of a warp have had their turn: who of it can run, and who lives?
    fn had_turn(&mut self, number: usize, warp: &Warp) {
        let ready = warp.ready();
        let state = &mut self.lanes[number];
        (state.ready, state.alive) = (ready, warp.alive);
        if ready == 0 {
            self.ready_warps &= !(1 << number);
        } else {
            self.ready_warps |= 1 << number;
        }
    }

    /// Lanes of a warp have their turn, each up to the next thing that others can see. As hardware does: lanes that have
    /// gone apart run by turns, so that they meet again.
    #[inline]
    fn turn_together(&mut self, number: usize, warp: &mut Warp) -> Result<(), Ended> {
        loop {
            let (at, together) = if warp.groups.len() == 1 { (0, true) } else { self.choose(warp) };
            if warp.groups.get(at).is_none_or(|group| group.state != State::Ready) {
                break;
            }
            match run(&mut self.machine, warp, at, Turn { warp: number as u32, together }) {
                Ok(Stop::Regroup) => {}
                // Whoever could run before it still can.
                Ok(Stop::Visible) => return Ok(()),
                Ok(stop) => {
                    self.stopped(number, warp, at, stop);
                    break;
                }
                Err(fault) => {
                    let result = self.fault(number, warp, at, *fault);
                    self.had_turn(number, warp);
                    return result;
                }
            }
        }
        self.had_turn(number, warp);
        Ok(())
    }

    /// The group of lanes to run next, and whether it waits for others where paths meet.
    #[cold]
    fn choose(&self, warp: &mut Warp) -> (usize, bool) {
        merge(warp);
        let ready = |warp: &Warp| {
            let groups = warp.groups.iter().enumerate();
            groups.filter(|(_, group)| group.state == State::Ready).map(|(at, _)| at).collect::<Vec<_>>()
        };
        let mut groups = ready(warp);
        let rank = |group: &Group| {
            let rank = self.machine.program.ranks[group.pc as usize];
            (std::cmp::Reverse(group.frame.depth), rank, group.pc)
        };
        groups.sort_by(|&a, &b| {
            let (a, b) = (&warp.groups[a], &warp.groups[b]);
            rank(a)
                .cmp(&rank(b))
                .then_with(|| self.machine.paths.order(self.machine.program, (a.pc, a.path), (b.pc, b.path)))
        });
        if groups.len() > 1 {
            warp.patience += 1;
            if warp.patience.is_multiple_of(PATIENCE) {
                // Whoever waits here may be waited for there.
                let turn = (warp.patience / PATIENCE) as usize % groups.len();
                return (groups[turn], false);
            }
        }
        (groups.first().copied().unwrap_or(0), true)
    }

    /// These lanes take their turn, each for itself but for those that are together anyway.
    fn turn_apart(&mut self, number: usize, warp: &mut Warp, lanes: u32) -> Result<(), Ended> {
        let mut todo = lanes;
        while todo != 0 {
            let lane = todo & todo.wrapping_neg();
            let ready = |group: &Group| group.state == State::Ready && group.mask & lane != 0;
            let Some(at) = warp.groups.iter().position(ready) else {
                todo &= !lane;
                continue;
            };
            let group = warp.groups[at];
            let part = group.mask & todo;
            if part != group.mask {
                warp.groups[at].mask = part;
                warp.groups.push(Group { mask: group.mask & !part, ..group });
            }
            let stop = match run(&mut self.machine, warp, at, Turn { warp: number as u32, together: false }) {
                Ok(stop) => stop,
                Err(fault) => {
                    self.fault(number, warp, at, *fault)?;
                    continue;
                }
            };
            match stop {
                Stop::Regroup => {}
                stop => {
                    let mask = warp.groups[at].mask;
                    todo &= !mask;
                    self.stopped(number, warp, at, stop);
                }
            }
        }
        merge(warp);
        self.had_turn(number, warp);
        Ok(())
    }

    /// A group has come to something that it does not go on from by itself.
    #[inline]
    fn stopped(&mut self, number: usize, warp: &mut Warp, at: usize, stop: Stop) {
        match stop {
            Stop::Barrier => self.arrive(number, warp, at),
            Stop::Warp => self.arrive_in_warp(number, warp, at),
            Stop::Exit => {
                let group = warp.groups.swap_remove(at);
                warp.alive &= !group.mask;
                self.alive -= count(group.mask);
                if warp.groups.iter().any(|group| matches!(group.state, State::AtWarp { .. })) {
                    self.release_warp(number, warp);
                }
            }
            _ => {}
        }
    }

    fn barrier(&self, pc: Pc) -> Option<Barrier> {
        match self.machine.program.code[pc as usize].op {
            Op::Barrier(number) => Some(self.machine.program.barriers[number as usize]),
            _ => None,
        }
    }

    /// Lanes come to a barrier of the block.
    #[inline]
    fn arrive(&mut self, number: usize, warp: &mut Warp, at: usize) {
        let group = warp.groups[at];
        let Some(barrier) = self.barrier(group.pc) else { return };
        if barrier.count.is_none() && barrier.kind != BarrierKind::Arrive {
            warp.groups[at].state = State::AtBarrier;
            self.waiting += count(group.mask);
            return;
        }
        self.arrive_counted(number, warp, at, barrier);
    }

    /// Lanes come to a barrier that waits for a number of threads.
    #[cold]
    fn arrive_counted(&mut self, number: usize, warp: &mut Warp, at: usize, barrier: Barrier) {
        let group = warp.groups[at];
        let lane = group.mask.trailing_zeros() as usize;
        let name = warp.lane(&group.frame, barrier.number, lane) as u32;
        if barrier.kind == BarrierKind::Arrive {
            let warps = self.lanes.len();
            let known = self.arrived.iter().position(|(known, _)| *known == name);
            let known = known.unwrap_or_else(|| {
                self.arrived.push((name, vec![0; warps]));
                self.arrived.len() - 1
            });
            self.arrived[known].1[number] |= group.mask;
            warp.groups[at].pc += 1;
            if let Some((judge, view)) = self.machine.judge() {
                judge.arrive(&view, name, number as u32, group.mask);
            }
        } else {
            warp.groups[at].state = State::AtBarrier;
        }
        let count = barrier.count.map_or(u32::MAX, |count| warp.lane(&group.frame, count, lane) as u32);
        self.counted = Some((name, count));
    }

    /// Lanes come to an instruction that waits for others of their warp.
    fn arrive_in_warp(&mut self, number: usize, warp: &mut Warp, at: usize) {
        let group = warp.groups[at];
        let register = match self.machine.program.code[group.pc as usize].op {
            Op::SyncWarp(members) => members,
            Op::Collective(number) => self.machine.program.collectives[number as usize].members,
            _ => return,
        };
        // Lanes that name others wait for others.
        let members = |warp: &Warp, lane: u32| warp.lane(&group.frame, register, lane as usize) as u32;
        let named = members(warp, group.mask.trailing_zeros());
        let same = schedule::lanes(group.mask).filter(|&lane| members(warp, lane) == named);
        let mask = same.fold(0, |mask, lane| mask | 1 << lane);
        if mask != group.mask {
            warp.groups[at].mask = mask;
            warp.groups.push(Group { mask: group.mask & !mask, ..group });
        }
        let outside = mask & !named;
        if outside != 0 {
            // Lanes that do not name themselves go on, each for itself.
            self.misuse(number, outside.trailing_zeros(), group.pc, named);
            for lane in schedule::lanes(outside).map(|lane| 1 << lane) {
                self.perform(warp, &group.frame, group.pc, Lanes { mask: lane, all: lane == warp.alive });
            }
            warp.groups[at].mask = outside;
            warp.groups[at].pc += 1;
            if mask & named == 0 {
                return;
            }
            warp.groups.push(Group { mask: mask & named, state: State::AtWarp { members: named }, ..group });
            return self.release_warp(number, warp);
        }
        warp.groups[at].state = State::AtWarp { members: named };
        self.release_warp(number, warp);
    }

    fn misuse(&mut self, number: usize, lane: u32, pc: Pc, mask: u32) {
        let site = self.machine.sites[pc as usize];
        let thread = 32 * number as u32 + lane;
        self.findings.warp_misuse(WarpMisuse { block: self.machine.block, thread, site, mask });
    }

    fn perform(&mut self, warp: &mut Warp, frame: &Frame, pc: Pc, lanes: Lanes) {
        if let Op::Collective(number) = self.machine.program.code[pc as usize].op {
            collective::execute(warp, frame, &self.machine.program.collectives[number as usize], lanes);
        }
    }

    /// Releases lanes that have all come together.
    fn release_warp(&mut self, number: usize, warp: &mut Warp) {
        loop {
            let mut found = None;
            for group in &warp.groups {
                let State::AtWarp { members } = group.state else { continue };
                let with: u32 = warp
                    .groups
                    .iter()
                    .filter(|other| self.meets(group, other, members))
                    .fold(0, |mask, other| mask | other.mask);
                if members & warp.alive & !with == 0 {
                    found = Some((*group, members, with));
                    break;
                }
            }
            let Some((group, members, with)) = found else { return };
            self.release_lanes(number, warp, &group, members, with);
        }
    }

    /// Do lanes of the other group come to where lanes of this one wait? `bar.warp.sync` may be another instruction;
    /// everything else has to be the same.
    fn meets(&self, group: &Group, other: &Group, members: u32) -> bool {
        let sync = |pc: Pc| matches!(self.machine.program.code[pc as usize].op, Op::SyncWarp(_));
        other.state == State::AtWarp { members }
            && (other.pc == group.pc && other.frame == group.frame || sync(other.pc) && sync(group.pc))
    }

    fn release_lanes(&mut self, number: usize, warp: &mut Warp, group: &Group, members: u32, with: u32) {
        // Who has exited is not waited for; but to go past, and to live on, is not to exit.
        let gone = members & !warp.alive & self.lanes[number].all;
        if gone != 0 && !warp.passed.is_empty() {
            // Lanes that wait for each other may do so at several places.
            for waiting in warp.groups.iter().filter(|other| other.mask & with != 0) {
                let past = self.past(warp, gone, (waiting.pc, waiting.path));
                if past != 0 {
                    self.misuse(number, past.trailing_zeros(), waiting.pc, members);
                }
            }
        }
        let lanes = Lanes { mask: with, all: with == warp.alive };
        self.perform(warp, &group.frame, group.pc, lanes);
        if matches!(self.machine.program.code[group.pc as usize].op, Op::SyncWarp(_))
            && let Some((judge, view)) = self.machine.judge()
        {
            judge.sync_warp(&view, number as u32, with);
        }
        let comes = |other: &Group| other.mask & with != 0 && matches!(other.state, State::AtWarp { .. });
        let elsewhere = |other: &Group| comes(other) && (other.pc, other.path) != (group.pc, group.path);
        if warp.groups.iter().any(elsewhere) {
            let come = warp.groups.iter().filter(|other| comes(other));
            warp.met.extend(come.map(|other| (other.mask, other.pc, other.path)));
        }
        for other in &mut warp.groups {
            if comes(other) {
                other.state = State::Ready;
                other.pc += 1;
            }
        }
        if warp.groups.len() > 1 {
            merge(warp);
        }
    }

    /// Of these lanes, those that have gone past a place where others wait, and done something more. Who has been there,
    /// and met others elsewhere, has not.
    fn past(&self, warp: &Warp, lanes: u32, place: Place) -> u32 {
        let paths = &self.machine.paths;
        let is_past = |list: PassedId| paths.passed(list).any(|passed| self.is_past(passed, place));
        let passed = warp.passed.iter().filter(|(mask, list)| mask & lanes != 0 && is_past(*list));
        let been = warp.met.iter().filter(|&&(_, pc, path)| (pc, path) == place);
        let been = been.fold(0, |all, (mask, ..)| all | mask);
        lanes & !been & passed.fold(0, |all, (mask, _)| all | mask)
    }

    /// Is who has passed this join, on this path, past the place?
    fn is_past(&self, (join, path): (u32, PathId), place: Place) -> bool {
        let join = &self.machine.program.joins[join as usize];
        let mut at = Some(place);
        while let Some((pc, of_place)) = at {
            for decided in join.decides.iter().filter(|decided| decided.pc == pc) {
                let (joined, waits) = (self.machine.paths.steps(path), self.machine.paths.steps(of_place));
                let calls = |steps: &[Step]| {
                    steps.iter().rposition(|step| matches!(step, Step::Call(_))).map_or(0, |last| last + 1)
                };
                let (a, b) = (calls(&joined), calls(&waits));
                let common = decided.common as usize;
                let trip = |steps: &[Step]| -> Vec<u32> {
                    let trips = steps.iter().take(common).map(|step| match step {
                        Step::Trip(_, trip) => *trip,
                        _ => 0,
                    });
                    trips.collect()
                };
                let least = if decided.earlier_trips { Ordering::Greater } else { Ordering::Equal };
                if joined[..a] == waits[..b] && trip(&joined[a..]).cmp(&trip(&waits[b..])) >= least {
                    return true;
                }
            }
            at = self.machine.paths.caller(of_place).map(|(path, pc)| (pc, path));
        }
        false
    }

    /// A lane cannot go on. The other threads of the block do, as far as they can without it: so what is found does not
    /// depend on who came first.
    #[cold]
    fn fault(
        &mut self,
        number: usize,
        warp: &mut Warp,
        at: usize,
        (lane, what): (u32, FaultKind),
    ) -> Result<(), Ended> {
        self.faulted = true;
        let group = &mut warp.groups[at];
        let site = Some(self.machine.sites[group.pc as usize]);
        let thread = 32 * number as u32 + lane;
        let endless = matches!(what, FaultKind::TickLimit(_));
        let known = self.findings.report.fault.as_ref();
        if known.is_none_or(|known| known.block == self.machine.block && thread < known.thread) {
            self.findings.report.fault = Some(Fault { what, block: self.machine.block, thread, site });
        }
        group.mask &= !(1 << lane);
        if group.mask == 0 {
            warp.groups.swap_remove(at);
        }
        warp.alive &= !(1 << lane);
        self.alive -= 1;
        if endless { Err(Ended) } else { Ok(()) }
    }

    fn break_off(&mut self) {
        if let Some((judge, view)) = self.machine.judge() {
            judge.break_off(&view);
        }
    }
}

/// How many lanes these are: mostly a whole warp.
#[inline(always)]
fn count(lanes: u32) -> u32 {
    if lanes == u32::MAX { LANES as u32 } else { lanes.count_ones() }
}

/// Makes one group of lanes that can run and are at one instruction, on one path.
fn merge(warp: &mut Warp) {
    let groups = &mut warp.groups;
    let mut at = 0;
    while at < groups.len() {
        let this = groups[at];
        let same = |other: &Group| {
            this.state == State::Ready
                && other.state == State::Ready
                && (other.pc, other.path, other.frame, other.passed)
                    == (this.pc, this.path, this.frame, this.passed)
        };
        match groups[at + 1..].iter().position(same) {
            Some(found) => {
                let other = groups.swap_remove(at + 1 + found);
                groups[at].mask |= other.mask;
                groups[at].trips = this.trips.max(other.trips);
            }
            None => at += 1,
        }
    }
}
