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
    /// Blocks, of which every thread is known up to a clock.
    blocks: FxHashMap<u64, u32>,
}

impl Knowledge {
    fn covers(&self, block: u64, epoch: &Epoch) -> bool {
        self.blocks.get(&block).is_some_and(|&clock| epoch.clock <= clock) || self.covers_thread(block, epoch)
    }

    fn covers_thread(&self, block: u64, epoch: &Epoch) -> bool {
        self.threads.get(&(block, epoch.thread)).is_some_and(|&clock| epoch.clock <= clock)
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

/// What one thread knows.
#[derive(Clone, Debug, Default)]
struct Thread {
    /// The clock of each lane of its own warp, as far as it has seen it.
    warp: [u32; LANES],
    /// Of everybody else.
    far: Shared,
    /// What a strong read has read of a release: known from the next fence on, with the scope of the releases.
    pending: Shared,
    /// What it knew at its last fence: later strong writes release it.
    fenced: Shared,
    fence_scope: Option<Scope>,
    /// The thread's own clock.
    now: u32,
}

/// What a location holds that a release has written.
#[derive(Clone, Debug)]
struct Released {
    knowledge: Shared,
    scope: Scope,
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
}

impl Vectors {
    /// A new block begins. Shared memory is another.
    pub(super) fn begin_block(&mut self, is_shared: impl Fn(u64) -> bool) {
        self.active = false;
        self.block = None;
        self.threads.clear();
        self.releases.retain(|&address, _| !is_shared(address));
    }

    pub(super) fn is_active(&self) -> bool {
        self.active
    }

    /// From here on, threads know different things: so far, each knows all that its warp did before `clock`.
    pub(super) fn begin(&mut self, threads: usize, warp_clocks: &[u32]) {
        if self.active {
            return;
        }
        self.active = true;
        let block = &self.block;
        self.threads.clear();
        self.threads.extend((0..threads).map(|thread| {
            let now = warp_clocks[thread / LANES];
            Thread { warp: [now - 1; LANES], far: block.clone(), now, ..Thread::default() }
        }));
    }

    pub(super) fn now(&self, thread: usize) -> u32 {
        self.threads[thread].now
    }

    /// Does an access in this block happen before what `thread` does now? One from before `phase` was made by a thread
    /// that exited above a barrier, which settled nothing of it.
    pub(super) fn before(&self, block: u64, earlier: &Epoch, thread: u16, phase: u32) -> bool {
        let me = &self.threads[usize::from(thread)];
        let in_warp = earlier.clock >= phase && earlier.warp() == usize::from(thread) / LANES;
        (in_warp && earlier.clock <= me.warp[usize::from(earlier.thread) % LANES])
            || me.far.as_ref().is_some_and(|far| far.covers_thread(block, earlier))
    }

    /// Does an access of another block happen before what `thread` does now?
    pub(super) fn before_from(&self, other: u64, earlier: &Epoch, thread: u16) -> bool {
        let known = if self.active { &self.threads[usize::from(thread)].far } else { &self.block };
        known.as_ref().is_some_and(|known| known.covers(other, earlier))
    }

    /// These threads meet: each knows from now on what any of them knew, and what any of them did. Those that only
    /// `arrive` tell and learn nothing.
    pub(super) fn meet(&mut self, block: u64, meeting: &[u16], arriving: &[u16], clock: u32) {
        let mut all = Knowledge::default();
        let mut last: Option<*const Knowledge> = None;
        for &thread in meeting.iter().chain(arriving) {
            let first = usize::from(thread) / LANES * LANES;
            let state = &self.threads[usize::from(thread)];
            if let Some(far) = &state.far
                && last != Some(Arc::as_ptr(far))
            {
                all.join(far);
                last = Some(Arc::as_ptr(far));
            }
            for (lane, &seen) in state.warp.iter().enumerate() {
                if seen > 0 {
                    all.add(block, (first + lane) as u16, seen);
                }
            }
            all.add(block, thread, state.now);
        }
        let all = Arc::new(all);
        for &thread in meeting {
            let state = &mut self.threads[usize::from(thread)];
            state.far = Some(Arc::clone(&all));
            state.now = clock;
        }
        for &thread in arriving {
            self.threads[usize::from(thread)].now = clock;
        }
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

    /// The whole block has met: within it everything is settled.
    pub(super) fn settle(&mut self, participants: impl Iterator<Item = u16>) {
        if !self.active {
            return;
        }
        let mut block = self.block.take();
        for thread in participants {
            block = joined(&block, &self.threads[usize::from(thread)].far);
        }
        self.block = block;
        self.active = false;
    }

    /// All that a thread knows, its own accesses among them.
    fn knowledge(&self, block: u64, thread: u16, settled: u32) -> Shared {
        let state = &self.threads[usize::from(thread)];
        let mut all = state.far.as_ref().map(|far| Knowledge::clone(far)).unwrap_or_default();
        let first = thread as usize / LANES * LANES;
        for (lane, &seen) in state.warp.iter().enumerate() {
            all.add(block, (first + lane) as u16, seen);
        }
        all.add(block, thread, state.now);
        let known = all.blocks.entry(block).or_default();
        *known = settled.max(*known);
        Some(Arc::new(all))
    }

    /// A fence: what is pending is known, and what is known can be released. Everything before `settled` in this block
    /// has been settled by a barrier.
    pub(super) fn fence(&mut self, block: u64, thread: u16, scope: Scope, settled: u32, clock: u32) {
        let state = &mut self.threads[usize::from(thread)];
        state.far = joined(&state.far, &state.pending.take());
        let known = self.knowledge(block, thread, settled);
        let state = &mut self.threads[usize::from(thread)];
        state.fenced = known;
        state.fence_scope = Some(scope);
        state.now = clock;
    }

    /// A strong read of a location.
    pub(super) fn read(&mut self, block: u64, thread: u16, address: u64, scope: Scope, acquires: bool) {
        let Some(found) = self.releases.get(&address) else { return };
        let covers = |scope: Scope| found.block == block || scope >= Scope::Device;
        if !covers(scope) || !covers(found.scope) {
            return;
        }
        let known = found.knowledge.clone();
        let state = &mut self.threads[usize::from(thread)];
        let to = if acquires { &mut state.far } else { &mut state.pending };
        *to = joined(to, &known);
    }

    /// A strong write to a location: it releases what the thread knew at its last fence, or, if it is a release itself, all
    /// that the thread knows. One that reads and writes goes on with the release that it read from.
    pub(super) fn write(&mut self, write: Write, settled: u32, clock: u32) {
        let Write { block, thread, address, scope, releases, reads } = write;
        let state = &self.threads[usize::from(thread)];
        let (own, own_scope) = if releases {
            (self.knowledge(block, thread, settled), scope)
        } else {
            (state.fenced.clone(), state.fence_scope.map_or(scope, |fence| fence.min(scope)))
        };
        if releases {
            self.threads[usize::from(thread)].now = clock;
        }
        let before = if reads { self.releases.get(&address) } else { None };
        let scope = before.map_or(own_scope, |before| before.scope.min(own_scope));
        let knowledge = joined(&own, &before.map(|before| before.knowledge.clone()).unwrap_or_default());
        if knowledge.is_some() {
            self.releases.insert(address, Released { knowledge, scope, block });
        } else {
            self.releases.remove(&address);
        }
    }

    /// A plain write: who reads it reads from no release.
    pub(super) fn overwrite(&mut self, address: u64) {
        if !self.releases.is_empty() {
            self.releases.remove(&address);
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
