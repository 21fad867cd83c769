//! What a thread knows of others' accesses: its vector clock.
//!
//! Block barriers and whole-warp barriers need none: what stands before them is settled for all that comes after. Vector
//! clocks begin with the first synchronisation of another kind, and end with the next barrier of the whole block; only
//! what is known of other blocks stays.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::access::{Epoch, LANES, Scope};

/// The accesses, of other threads, that happen before what comes now.
#[derive(Clone, Debug, Default)]
pub(super) struct Knowledge {
    /// Block and thread, to the last clock known.
    threads: FxHashMap<(u64, u16), u32>,
    /// Blocks, of which every thread is known up to a clock; but for those that exited above a barrier.
    blocks: FxHashMap<u64, u32>,
}

impl Knowledge {
    /// The last clock of this thread that is known.
    fn of_thread(&self, block: u64, thread: u16) -> u32 {
        self.threads.get(&(block, thread)).copied().unwrap_or(0)
    }

    fn join(&mut self, other: &Self) {
        for (&thread, &clock) in &other.threads {
            let known = self.threads.entry(thread).or_default();
            *known = clock.max(*known);
        }
        for (&block, &clock) in &other.blocks {
            let known = self.blocks.entry(block).or_default();
            *known = clock.max(*known);
        }
    }

    fn add(&mut self, block: u64, thread: u16, clock: u32) {
        let known = self.threads.entry((block, thread)).or_default();
        *known = clock.max(*known);
    }
}

type Shared = Option<Arc<Knowledge>>;

fn joined(a: &Shared, b: &Shared) -> Shared {
    match (a, b) {
        (Some(a), Some(b)) if Arc::ptr_eq(a, b) => Some(Arc::clone(a)),
        (Some(a), Some(b)) => {
            let mut both = Knowledge::clone(a);
            both.join(b);
            Some(Arc::new(both))
        }
        (one, other) => one.clone().or_else(|| other.clone()),
    }
}

/// What is known by way of a location: to threads of the releasing block, and to others, whom only a wide scope reaches.
#[derive(Clone, Debug, Default)]
struct Reach {
    near: Shared,
    far: Shared,
}

impl Reach {
    fn join(&mut self, other: &Self) {
        self.near = joined(&self.near, &other.near);
        self.far = joined(&self.far, &other.far);
    }

    /// What an operation of this scope takes or gives.
    fn of(scope: Scope, knowledge: &Shared) -> Self {
        let far = if scope >= Scope::Device { knowledge.clone() } else { None };
        Self { near: knowledge.clone(), far }
    }

    fn within(&self, scope: Scope) -> Shared {
        if scope >= Scope::Device { joined(&self.near, &self.far) } else { self.near.clone() }
    }
}

/// What one thread knows.
#[derive(Clone, Debug, Default)]
struct Thread {
    /// The clock of each lane of its own warp, as far as it has seen it.
    warp: [u32; LANES],
    /// Of everybody else.
    far: Shared,
    /// What strong reads have read of releases, by address: known from the next fence on, or the next acquire there, if
    /// that reaches the releases.
    pending: FxHashMap<u64, Reach>,
    /// What it knew at its last fence: later strong writes release it.
    fenced: Reach,
    /// What it has released, by address: later strong writes there release it too.
    released: FxHashMap<u64, Reach>,
    /// The thread's own clock.
    now: u32,
}

/// What a location holds that a release has written.
#[derive(Clone, Debug)]
struct Released {
    reach: Reach,
    /// The block that `near` is for.
    block: u64,
}

/// The vector clocks of the threads of the block that is running, and what locations hold of releases.
#[derive(Debug, Default)]
pub(super) struct Vectors {
    threads: Vec<Thread>,
    /// Are they in use? Else all that orders accesses within the block are the warps' clocks.
    active: bool,
    /// What all threads of the block know of other blocks.
    block: Shared,
    /// By address.
    releases: FxHashMap<u64, Released>,
    /// What threads knew that have arrived at a barrier without waiting, by its number.
    arrived: Vec<(u32, Shared)>,
    /// Threads that exited above a barrier, of all blocks so far, with what the barrier settled of them.
    exited: FxHashMap<(u64, u16), u32>,
}

impl Vectors {
    /// A new block begins. Shared memory is another.
    pub(super) fn begin_block(&mut self, is_shared: impl Fn(u64) -> bool) {
        self.active = false;
        self.block = None;
        self.threads.clear();
        self.arrived.clear();
        self.releases.retain(|&address, _| !is_shared(address));
    }

    pub(super) fn is_active(&self) -> bool {
        self.active
    }

    /// From here on, threads know different things: so far, each knows all that the lanes of its warp did before `clock`
    /// which took part in the last barrier of the block, `alive`.
    pub(super) fn begin(&mut self, threads: usize, warp_clocks: &[u32], alive: &[u32]) {
        if self.active {
            return;
        }
        self.active = true;
        // What they have released, fenced or read stays: a barrier takes nothing of it back.
        self.threads.resize_with(threads, Thread::default);
        for (thread, state) in self.threads.iter_mut().enumerate() {
            let (now, alive) = (warp_clocks[thread / LANES], alive[thread / LANES]);
            state.warp = std::array::from_fn(|lane| if alive >> lane & 1 == 1 { now - 1 } else { 0 });
            state.far = self.block.clone();
            state.now = now;
        }
    }

    pub(super) fn now(&self, thread: usize) -> u32 {
        self.threads[thread].now
    }

    /// Does an access in this block happen before what `thread` does now?
    pub(super) fn before(&self, block: u64, earlier: &Epoch, thread: u16) -> bool {
        let me = &self.threads[usize::from(thread)];
        let in_warp = earlier.warp() == usize::from(thread) / LANES;
        (in_warp && earlier.clock <= me.warp[usize::from(earlier.thread) % LANES])
            || me.far.as_ref().is_some_and(|far| earlier.clock <= far.of_thread(block, earlier.thread))
    }

    /// Does an access of another block happen before what `thread` does now?
    pub(super) fn before_from(&self, other: u64, earlier: &Epoch, thread: u16) -> bool {
        let known = if self.active { &self.threads[usize::from(thread)].far } else { &self.block };
        let Some(known) = known else { return false };
        let settled = known.blocks.get(&other).is_some_and(|&clock| {
            let exited = self.exited.get(&(other, earlier.thread)).copied();
            earlier.clock <= clock.min(exited.unwrap_or(u32::MAX))
        });
        settled || earlier.clock <= known.of_thread(other, earlier.thread)
    }

    /// These threads arrive at a barrier of this number and do not wait: who does learns what they know by now.
    pub(super) fn arrive(&mut self, block: u64, number: u32, thread: u16, settled: u32, clock: u32) {
        let known = self.knowledge(block, thread, settled);
        self.arrived.push((number, known));
        self.threads[usize::from(thread)].now = clock;
    }

    /// These threads meet at the barrier of this number: each knows from now on what any of them knew, and what any of
    /// them did.
    pub(super) fn meet(&mut self, block: u64, number: u32, meeting: &[u16], settled: u32, clock: u32) {
        let mut all = Knowledge::default();
        for (_, known) in self.arrived.extract_if(.., |(of, _)| *of == number) {
            known.iter().for_each(|known| all.join(known));
        }
        let mut last: Option<*const Knowledge> = None;
        for &thread in meeting {
            let state = &self.threads[usize::from(thread)];
            if let Some(far) = &state.far
                && last != Some(Arc::as_ptr(far))
            {
                all.join(far);
                last = Some(Arc::as_ptr(far));
            }
            self.add_own(&mut all, block, thread, settled);
        }
        let all = Arc::new(all);
        for &thread in meeting {
            let state = &mut self.threads[usize::from(thread)];
            state.far = Some(Arc::clone(&all));
            state.now = clock;
        }
    }

    /// What a thread knows of its warp, its own accesses among them, and of what barriers have settled in its block.
    fn add_own(&self, all: &mut Knowledge, block: u64, thread: u16, settled: u32) {
        let state = &self.threads[usize::from(thread)];
        let first = usize::from(thread) / LANES * LANES;
        for (lane, &seen) in state.warp.iter().enumerate().filter(|(_, seen)| **seen > 0) {
            all.add(block, (first + lane) as u16, seen);
        }
        all.add(block, thread, state.now);
        let known = all.blocks.entry(block).or_default();
        *known = settled.max(*known);
    }

    /// Lanes of one warp meet.
    pub(super) fn meet_in_warp(&mut self, warp: usize, members: u32, clock: u32) {
        let first = warp * LANES;
        let lanes = || (0..LANES).filter(move |lane| members >> lane & 1 == 1);
        let mut seen = [0; LANES];
        let mut far = None;
        for lane in lanes() {
            let Some(thread) = self.threads.get(first + lane) else { continue };
            for (seen, &known) in seen.iter_mut().zip(&thread.warp) {
                *seen = known.max(*seen);
            }
            seen[lane] = thread.now.max(seen[lane]);
            far = joined(&far, &thread.far);
        }
        for lane in lanes() {
            let Some(thread) = self.threads.get_mut(first + lane) else { continue };
            (thread.warp, thread.far, thread.now) = (seen, far.clone(), clock);
        }
    }

    /// The whole block has met: within it everything is settled, but for threads that have exited.
    pub(super) fn settle(&mut self, participants: impl Iterator<Item = u16>) {
        if !self.active {
            return;
        }
        self.block = self.of_all(participants);
        self.active = false;
    }

    /// What any of these threads knows of others than its warp.
    pub(super) fn of_all(&self, participants: impl Iterator<Item = u16>) -> Shared {
        let mut all = self.block.clone();
        if self.active {
            for thread in participants {
                all = joined(&all, &self.threads[usize::from(thread)].far);
            }
        }
        all
    }

    /// The last clock of an exited thread that the participants of a barrier know, of which `all` is what they know of
    /// others than their warps, and `lanes` those in its warp.
    pub(super) fn known(
        &self,
        all: &Shared,
        block: u64,
        thread: u16,
        mut lanes: impl Iterator<Item = u16>,
    ) -> u32 {
        let far = all.as_ref().map_or(0, |all| all.of_thread(block, thread));
        let of = |other: u16| self.threads[usize::from(other)].warp[usize::from(thread) % LANES];
        if self.active { lanes.by_ref().map(of).max().unwrap_or(0).max(far) } else { far }
    }

    /// A thread has exited above a barrier, which settles what it did up to this clock.
    pub(super) fn exit(&mut self, block: u64, thread: u16, settled: u32) {
        self.exited.entry((block, thread)).or_insert(settled);
    }

    /// All that a thread knows, its own accesses among them.
    fn knowledge(&self, block: u64, thread: u16, settled: u32) -> Shared {
        let state = &self.threads[usize::from(thread)];
        let mut all = state.far.as_ref().map(|far| Knowledge::clone(far)).unwrap_or_default();
        self.add_own(&mut all, block, thread, settled);
        Some(Arc::new(all))
    }

    /// A fence: what is pending is known, and what is known can be released. Everything before `settled` in this block
    /// has been settled by a barrier.
    pub(super) fn fence(&mut self, block: u64, thread: u16, scope: Scope, settled: u32, clock: u32) {
        let state = &mut self.threads[usize::from(thread)];
        for reach in state.pending.values() {
            state.far = joined(&state.far, &reach.within(scope));
        }
        let known = self.knowledge(block, thread, settled);
        let state = &mut self.threads[usize::from(thread)];
        let Reach { near, far } = Reach::of(scope, &known);
        state.fenced = Reach { near, far: far.or_else(|| state.fenced.far.take()) };
        state.now = clock;
    }

    /// A strong read of a location.
    pub(super) fn read(&mut self, block: u64, thread: u16, address: u64, scope: Scope, acquires: bool) {
        let state = &mut self.threads[usize::from(thread)];
        if let Some(found) = self.releases.get(&address) {
            let near = if found.block == block { found.reach.near.clone() } else { None };
            state.pending.entry(address).or_default().join(&Reach { near, far: found.reach.far.clone() });
        }
        if acquires && let Some(pending) = state.pending.get(&address) {
            state.far = joined(&state.far, &pending.within(scope));
        }
    }

    /// A strong write to a location: it releases what the thread knew at its last fence and at its last release there,
    /// and, if it is a release itself, all that the thread knows. One that reads and writes goes on with the release that
    /// it read from.
    pub(super) fn write(&mut self, write: Write, settled: u32, clock: u32) {
        let Write { block, thread, address, scope, releases, reads } = write;
        let known = if releases { self.knowledge(block, thread, settled) } else { None };
        let state = &mut self.threads[usize::from(thread)];
        if releases {
            state.released.entry(address).or_default().join(&Reach::of(scope, &known));
            state.now = clock;
        }
        let mut reach = state.fenced.clone();
        if let Some(released) = state.released.get(&address) {
            reach.join(released);
        }
        if reads && let Some(before) = self.releases.get(&address) {
            let near = if before.block == block { before.reach.near.clone() } else { None };
            reach.join(&Reach { near, far: before.reach.far.clone() });
        }
        if reach.near.is_some() || reach.far.is_some() {
            self.releases.insert(address, Released { reach, block });
        } else {
            self.releases.remove(&address);
        }
    }

    /// A plain write of so many bytes: who reads them reads from no release.
    pub(super) fn overwrite(&mut self, address: u64, size: u32) {
        if !self.releases.is_empty() {
            (address..address + u64::from(size)).for_each(|at| drop(self.releases.remove(&at)));
        }
    }
}

/// A strong write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Write {
    pub(super) block: u64,
    pub(super) thread: u16,
    pub(super) address: u64,
    pub(super) scope: Scope,
    pub(super) releases: bool,
    pub(super) reads: bool,
}
