//! The block barrier and the warp barrier: who waits, who is released, and who should have come.
//!
//! Rules (CUDA Programming Guide, `__syncthreads`; PTX ISA, `bar.sync`): a block barrier waits for all
//! threads of the block that have not exited, at the *same* barrier: the same call, reached by the
//! same calls and in the same trip of every loop around it. A thread that returned above it takes no
//! part. A thread that went past it and lived on has skipped it, which is undefined even if the
//! hardware lets the others go.

use std::any::Any;

use race::limits::{MAX_BLOCK_THREADS, WARP};
use race::nest::{NestId, Step, Within};
use race::schedule::threads;
use race::{Divergence, EarlyExit, FaultKind, Site, Waiting, WarpMisuse, What, Whereabouts};

use super::block::{Block, Stepped, Stopped, wait, with};

/// In a block.
const MAX_WARPS: usize = MAX_BLOCK_THREADS as usize / WARP;

/// The block barrier that threads are gathering at.
#[derive(Debug, Default)]
pub(crate) struct Barrier {
    arrived: u32,
    /// The call that the first to arrive waits at.
    pub(crate) at: Option<(Site, NestId)>,
    /// Some wait at another call.
    mixed: bool,
}

/// What the lanes that have their turn came to in it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Turn {
    /// The running thread, as a bit.
    pub(crate) lane: u32,
    /// The block barrier.
    arrived: u32,
    /// Their end.
    exited: u32,
    /// Their end, without a `return`.
    ended: u32,
}

/// `sync_threads()`.
#[track_caller]
#[inline(always)]
pub(crate) fn block_barrier() {
    let site = Site::here();
    with(|block| {
        if !block.arrives_with_others(site) {
            block.arrive(site);
        }
    });
    wait(site);
}

/// `sync_warp(mask)`.
#[track_caller]
pub(crate) fn warp_barrier(mask: u32) {
    let site = Site::here();
    if with(|block| block.arrive_at_warp(mask, site)) {
        wait(site);
    }
}

impl Block {
    /// The short way to [`arrive`](Self::arrive), if others wait at this call already.
    #[inline]
    fn arrives_with_others(&mut self, site: Site) -> bool {
        let others = matches!(self.barrier.at, Some((at, NestId::ROOT)) if at.is(site));
        let short = self.in_rows && others;
        if short {
            self.turn.arrived |= self.turn.lane;
            self.stepped = Stepped::Barrier;
        }
        short
    }

    #[inline(never)]
    fn arrive(&mut self, site: Site) {
        self.settle_write();
        let here = (site, self.nest());
        self.turn.arrived |= self.turn.lane;
        self.stepped = Stepped::Barrier;
        if let Some(trace) = &mut self.findings.trace {
            trace.push(self.current, site, What::Arrive);
        }
        match self.barrier.at {
            None => self.barrier.at = Some(here),
            Some(at) if at == here => {}
            Some(_) => {
                self.barrier.mixed = true;
                self.lane().waits = Some(here);
            }
        }
    }

    /// The lanes of this warp that had a turn have had it. What some of them came to counts from here on: a
    /// barrier that waits for one of them cannot complete before all of them have had their turn.
    #[inline]
    pub(crate) fn end_turn(&mut self, warp: usize) {
        self.end_rows();
        let Turn { arrived, exited, ended, .. } = std::mem::take(&mut self.turn);
        if arrived | exited == 0 {
            return;
        }
        self.settle_write();
        self.rest(warp, arrived | exited);
        let state = &mut self.warps[warp];
        state.at_barrier |= arrived;
        state.alive &= !exited;
        state.ended |= ended;
        self.barrier.arrived += arrived.count_ones();
        self.alive -= exited.count_ones();
        if state.at_warp != 0 {
            self.release_warp(warp);
        }
        if let Some(at) = self.barrier.at
            && self.barrier.arrived >= self.alive
        {
            self.release(at);
        }
    }

    /// These lanes no longer are ready.
    #[inline]
    fn rest(&mut self, warp: usize, lanes: u32) {
        self.warps[warp].ready &= !lanes;
        if self.warps[warp].ready == 0 {
            self.ready_warps &= !(1 << warp);
        }
    }

    /// The barrier is complete, where the first to arrive waits.
    #[inline(never)]
    fn release(&mut self, at: (Site, NestId)) {
        let exited = self.exited();
        let skipped = |thread| self.went_past(thread, at);
        if self.judging && (self.barrier.mixed || of(&exited).any(skipped)) {
            self.diverged(&exited);
        }
        self.warps.iter_mut().for_each(|warp| warp.left |= warp.all & !warp.alive);
        // Who has exited and done nothing since the last barrier has nothing that could stay unordered.
        let settled = self.in_rows && !self.rows_of_exited();
        if !settled {
            for thread in of(&exited) {
                self.lane_of(thread).exited_above = Some(at.0);
            }
        }
        if self.judging {
            let out = self.lanes.len() as u32 - self.alive;
            if out > 0 {
                self.findings.early_exit(EarlyExit { threads: out, site: at.0 });
            }
            self.settle_rows();
            let warps = self.warps.iter().enumerate();
            let participants = warps.flat_map(|(number, warp)| threads(number, warp.alive));
            let all = settled || out == 0;
            self.clocks.block_barrier(all, participants);
            if all {
                self.begin_rows();
            }
        }
        if self.findings.trace.is_some() {
            self.trace_release(at.0);
        }
        let mixed = std::mem::take(&mut self.barrier).mixed;
        for (number, warp) in self.warps.iter_mut().enumerate() {
            if mixed {
                threads(number, warp.at_barrier).for_each(|t| self.lanes[usize::from(t)].waits = None);
            }
            warp.ready |= warp.at_barrier;
            warp.at_barrier = 0;
            if warp.ready != 0 {
                self.ready_warps |= 1 << number;
            }
        }
    }

    /// Of each warp, the lanes that have exited since the last barrier completed.
    fn exited(&self) -> [u32; MAX_WARPS] {
        let mut exited = [0; MAX_WARPS];
        for (exited, warp) in exited.iter_mut().zip(&self.warps) {
            *exited = warp.all & !warp.alive & !warp.left;
        }
        exited
    }

    /// Where each thread waits, if it does.
    fn waits(&self) -> impl Iterator<Item = (u32, (Site, NestId))> {
        (0..).zip(&self.lanes).filter_map(|(thread, lane)| {
            let warp = &self.warps[thread as usize / WARP];
            let at_barrier = warp.at_barrier >> (thread as usize % WARP) & 1 == 1;
            Some((thread, lane.waits.or(self.barrier.at.filter(|_| at_barrier))?))
        })
    }

    /// Did this thread, which has exited, go past the barrier instead of returning above it?
    fn went_past(&self, thread: u16, (site, nest): (Site, NestId)) -> bool {
        if self.warps[usize::from(thread) / WARP].ended >> (usize::from(thread) % WARP) & 1 == 1 {
            return true;
        }
        let barrier = Step { parent: nest, site, within: Within::Place };
        self.lanes[usize::from(thread)].passed.is_some_and(|mark| self.nests.is_past(mark, barrier))
    }

    /// The barrier is divergent: say who waits where, and judge nothing any more in this block. It is
    /// told from the barrier that most threads wait at, so that the schedule does not show.
    fn diverged(&mut self, exited: &[u32]) {
        let mut gathered: Vec<((Site, NestId), u32)> = Vec::new();
        for (_, here) in self.waits() {
            match gathered.iter_mut().find(|(at, _)| *at == here) {
                Some((_, threads)) => *threads += 1,
                None => gathered.push((here, 1)),
            }
        }
        // Of several, that of the lowest thread: `max_by_key` would take the last.
        let Some(&(at, _)) = gathered.iter().rev().max_by_key(|(_, threads)| *threads) else { return };
        let mut waiting = Vec::new();
        let mut elsewhere = Vec::new();
        for (thread, (site, nest)) in self.waits() {
            if (site, nest) == at {
                waiting.push(thread);
            } else {
                elsewhere.push((thread, Whereabouts::Waits { site, trips: self.nests.trips(nest) }));
            }
        }
        let skipped = of(exited).filter(|&thread| self.went_past(thread, at));
        elsewhere.extend(skipped.map(|thread| (u32::from(thread), Whereabouts::Skipped)));
        elsewhere.sort_by_key(|&(thread, _)| thread);
        // What was read early until here is still judged.
        self.leave_rows();
        self.judging = false;
        self.findings.diverged(Divergence {
            block: self.linear,
            site: at.0,
            trips: self.nests.trips(at.1),
            waiting,
            elsewhere,
            blocks: 1,
        });
    }

    /// Returns whether the caller has to wait.
    fn arrive_at_warp(&mut self, mask: u32, site: Site) -> bool {
        let (warp, bit) = (usize::from(self.current) / WARP, self.turn.lane);
        if mask & bit == 0 {
            let thread = u32::from(self.current);
            self.findings.warp_misuse(WarpMisuse { block: self.linear, thread, site, mask });
            return false;
        }
        self.settle_write();
        self.stepped = Stepped::Barrier;
        let nest = self.nest();
        let lane = self.lane();
        lane.waits = Some((site, nest));
        lane.warp_mask = mask;
        self.rest(warp, bit);
        self.warps[warp].at_warp |= bit;
        if let Some(trace) = &mut self.findings.trace {
            trace.push(self.current, site, What::ArriveWarp);
        }
        self.release_warp(warp);
        true
    }

    /// Releases every group of lanes that has come together.
    fn release_warp(&mut self, warp: usize) {
        loop {
            let Self { warps, lanes, clocks, .. } = self;
            let state = &mut warps[warp];
            let group = threads(warp, state.at_warp).find_map(|thread| {
                let mask = lanes[usize::from(thread)].warp_mask;
                let members = mask & state.alive;
                let agree = |t: u16| lanes[usize::from(t)].warp_mask == mask;
                (members & !state.at_warp == 0 && threads(warp, members).all(agree)).then_some(members)
            });
            let Some(members) = group else { return };
            clocks.warp_barrier(warp, members, state.alive);
            if let Some(trace) = &mut self.findings.trace {
                let site = threads(warp, members).find_map(|thread| lanes[usize::from(thread)].waits);
                let participants = threads(warp, members).map(u32::from).collect();
                trace.push(self.current, site.map(|(site, _)| site), What::ReleaseWarp { participants });
            }
            state.at_warp &= !members;
            state.ready |= members;
            for thread in threads(warp, members) {
                lanes[usize::from(thread)].waits = None;
            }
            self.ready_warps |= 1 << warp;
        }
    }

    /// The running thread has come to the end of the kernel, without a `return`.
    #[inline]
    pub(crate) fn end_kernel(&mut self) {
        self.turn.ended |= self.turn.lane;
    }

    /// The running thread has come to the end of the kernel, or returned.
    #[inline]
    pub(crate) fn exit(&mut self) {
        self.turn.exited |= self.turn.lane;
        if let Some(trace) = &mut self.findings.trace {
            trace.push(self.current, None, What::Exit);
        }
    }

    /// The running thread has unwound: the kernel panicked, or the block is being stopped.
    #[cold]
    pub(crate) fn panicked(&mut self, payload: &(dyn Any + Send)) {
        if payload.is::<Stopped>() {
            return;
        }
        let message = self.panic.take().unwrap_or_else(|| "panicked".into());
        self.fault(FaultKind::Panic(message), None);
    }

    /// Threads live, and none can go on.
    pub(crate) fn stuck(&mut self) {
        let mut waiting = Vec::new();
        for (thread, (site, _)) in self.waits() {
            let (warp, lane_bit) = (thread as usize / WARP, 1 << (thread as usize % WARP));
            let at_warp = self.warps[warp].at_warp & lane_bit != 0;
            let mask = at_warp.then(|| self.lanes[thread as usize].warp_mask);
            waiting.push(Waiting { thread, site, mask });
        }
        if let Some(&Waiting { thread, site, .. }) = waiting.first() {
            self.current = thread as u16;
            self.fault(FaultKind::Stuck(waiting), site);
        }
    }
}

/// The threads that these lanes of each warp are.
fn of(warps: &[u32]) -> impl Iterator<Item = u16> {
    warps.iter().enumerate().flat_map(|(number, &lanes)| threads(number, lanes))
}
