//! What a page needs of one run: the trace by frames, the racing pairs, the answer and the verdicts.

use std::collections::HashSet;

use anyhow::{Context, Result};
use cuda_std::emulator::{Event, Hazard, Launch, Pair, Place, Policy, Site, Space, Trace, What};
use serde::Serialize;

use super::frames::frames;
use super::preset::{Outcome, Preset};
use super::verdict::{Said, said};

/// The run that a picture shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// Threads in a block.
    pub block: u32,
    /// How they are interleaved.
    pub policy: Policy,
    /// From which seed.
    pub seed: u64,
}

impl Choice {
    /// The schedule in a few words.
    #[must_use]
    pub fn schedule(&self) -> String {
        let how = match self.policy {
            Policy::Lockstep => "warps in lockstep",
            Policy::Independent => "lanes run apart",
            Policy::Random => "one thread at a time",
        };
        format!("{how}, seed {}", self.seed)
    }
}

/// One run, ready to be drawn.
#[derive(Clone, Debug, Serialize)]
pub struct Scene {
    /// Threads in a block.
    pub block: u32,
    /// The block shown, linear in the grid, and how many the grid has.
    pub traced: (u64, u32),
    /// How they were interleaved.
    pub schedule: String,
    /// How many frames there are.
    pub frames: u32,
    /// Every array and buffer that was touched.
    pub arrays: Vec<Array>,
    /// Lines and columns of the source.
    pub sites: Vec<(u32, u32)>,
    /// What happened, by frame.
    pub groups: Vec<Group>,
    /// The racing pairs: for each hazard, one for each cell.
    pub arcs: Vec<Arc>,
    /// The answer and the verdicts.
    pub said: Said,
}

/// An array in shared memory, or a buffer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Array {
    /// Its name.
    pub name: &'static str,
    /// Whether it lies in shared memory.
    pub shared: bool,
    /// How many of its cells the block touched, from the first on.
    pub cells: u64,
}

/// What neighbouring lanes did in one frame, from one line. Short names, for there are many.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// The frame.
    pub f: u32,
    /// What they did.
    pub k: Kind,
    /// The first thread, and how many.
    pub t: u32,
    /// How many.
    pub n: u32,
    /// The place in the source, by its number in [`Scene::sites`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub s: Option<usize>,
    /// The array, by its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<usize>,
    /// The first thread's cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub c: Option<u64>,
    /// How much further the next thread's cell is.
    #[serde(skip_serializing_if = "is_zero")]
    pub d: i64,
    /// Each thread's value; `null` where it read a cell that nothing had written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub v: Vec<Option<String>>,
    /// The trips of the loops around.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub r: Vec<u32>,
    /// Who goes on after a barrier: first and last of neighbouring threads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub p: Vec<(u32, u32)>,
    /// The barrier orders nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub void: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(step: &i64) -> bool {
    *step == 0
}

/// What threads did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Wrote a cell.
    Store,
    /// Read a cell.
    Load,
    /// Came to the block barrier.
    Arrive,
    /// Let it go.
    Release,
    /// Came to a warp barrier.
    ArriveWarp,
    /// Let that go.
    ReleaseWarp,
    /// Left the kernel.
    Exit,
}

/// Two accesses that nothing orders.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Arc {
    /// RAW, WAR or WAW.
    pub kind: &'static str,
    /// How bad.
    pub level: &'static str,
    /// This is the pair that the report names.
    pub named: bool,
    /// The array, by its number, and the cell.
    pub a: usize,
    /// The cell.
    pub c: u64,
    /// The access that comes first in the program, and the other one.
    pub ends: [End; 2],
}

/// One end of an arc.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct End {
    /// The step in the trace.
    pub step: usize,
    /// The frame.
    pub f: u32,
    /// The thread.
    pub t: u32,
    /// The place in the source.
    pub s: usize,
    /// Whether it writes.
    pub writes: bool,
}

/// Runs a preset and prepares what came of it.
///
/// # Errors
///
/// If it cannot be launched.
pub fn scene(preset: &Preset, choice: Choice) -> Result<Scene> {
    let what = || format!("cannot run {} with {} threads a block", preset.name, choice.block);
    let outcome = run(preset, choice).with_context(what)?;
    let trace = outcome.report.trace.as_ref().context("the launch kept no trace").with_context(what)?;
    Ok(of_trace(preset, choice, &outcome, trace))
}

/// Runs a preset; the report holds the trace.
///
/// # Errors
///
/// If it cannot be launched.
pub fn run(preset: &Preset, choice: Choice) -> Result<Outcome> {
    let Choice { block, policy, seed } = choice;
    let launch = Launch::new(preset.grid, block).policy(policy).seed(seed).workers(1).trace(preset.traced);
    (preset.launch)(launch, block)
}

fn of_trace(preset: &Preset, choice: Choice, outcome: &Outcome, trace: &Trace) -> Scene {
    let (frame_of, count) = frames(trace);
    let mut scene = Scene {
        block: choice.block,
        traced: (preset.traced, preset.grid),
        schedule: choice.schedule(),
        frames: count,
        arrays: Vec::new(),
        sites: Vec::new(),
        groups: Vec::new(),
        arcs: Vec::new(),
        said: said(outcome),
    };
    // The position in the trace settles what happens first within a frame.
    let mut order: Vec<usize> = (0..trace.events.len()).collect();
    order.sort_by_key(|&step| frame_of[step]);
    for step in order {
        scene.add(frame_of[step], &trace.events[step]);
    }
    scene.draw_arcs(trace, &frame_of, &outcome.report.hazards);
    scene
}

impl Scene {
    fn add(&mut self, f: u32, event: &Event) {
        let s = event.site.map(|site| self.site(site));
        let mut new = Group {
            f,
            k: Kind::Exit,
            t: event.thread,
            n: 1,
            s,
            a: None,
            c: None,
            d: 0,
            v: Vec::new(),
            r: Vec::new(),
            p: Vec::new(),
            void: false,
        };
        match &event.what {
            What::Access { place, writes, value, trips } => {
                new.k = if *writes { Kind::Store } else { Kind::Load };
                new.a = Some(self.array(place));
                new.c = Some(place.index);
                new.v.push(value.clone());
                new.r.clone_from(trips);
            }
            What::Arrive => new.k = Kind::Arrive,
            What::ArriveWarp => new.k = Kind::ArriveWarp,
            What::Exit => {}
            What::Release { participants, orders } => {
                new.k = Kind::Release;
                new.p = ranges(participants);
                new.void = !orders;
            }
            What::ReleaseWarp { participants } => {
                new.k = Kind::ReleaseWarp;
                new.p = ranges(participants);
            }
        }
        match self.groups.last_mut() {
            Some(last) if last.goes_on_with(&new) => {
                if last.n == 1 {
                    last.d = step(last.c, new.c);
                }
                last.n += 1;
                last.v.append(&mut new.v);
            }
            _ => self.groups.push(new),
        }
    }

    fn site(&mut self, site: Site) -> usize {
        number(&mut self.sites, (site.line(), site.column()))
    }

    fn array(&mut self, place: &Place) -> usize {
        let shared = place.space == Space::Shared;
        let same = |array: &Array| (array.name, array.shared) == (place.name, shared);
        let number = self.arrays.iter().position(same).unwrap_or(self.arrays.len());
        if number == self.arrays.len() {
            self.arrays.push(Array { name: place.name, shared, cells: 0 });
        }
        let cells = &mut self.arrays[number].cells;
        *cells = (*cells).max(place.index + 1);
        number
    }

    fn draw_arcs(&mut self, trace: &Trace, frame_of: &[u32], hazards: &[Hazard]) {
        let mut drawn = HashSet::new();
        for pair in &trace.pairs {
            let [first, second] = [pair.first, pair.second].map(|step| &trace.events[step]);
            let (What::Access { place, .. }, Some(_), Some(_)) = (&first.what, first.site, second.site)
            else {
                continue;
            };
            let line = hazards.iter().position(|hazard| {
                (hazard.kind, hazard.level) == (pair.kind, pair.level)
                    && [Some(hazard.first.site), Some(hazard.second.site)] == [first.site, second.site]
                    && hazard.place.name == place.name
            });
            if !drawn.insert((line, place)) {
                continue;
            }
            let named = line.is_some_and(|line| {
                let hazard = &hazards[line];
                hazard.place == *place
                    && (hazard.first.thread, hazard.second.thread) == (first.thread, second.thread)
                    && [hazard.first.block, hazard.second.block] == [trace.block; 2]
            });
            let arc = self.arc(pair, place, [first, second], frame_of, named);
            self.arcs.push(arc);
        }
    }

    fn arc(
        &mut self,
        pair: &Pair,
        place: &Place,
        [first, second]: [&Event; 2],
        frame_of: &[u32],
        named: bool,
    ) -> Arc {
        let a = self.array(place);
        let mut end = |step: usize, event: &Event| End {
            step,
            f: frame_of[step],
            t: event.thread,
            s: event.site.map_or(0, |site| self.site(site)),
            writes: matches!(event.what, What::Access { writes: true, .. }),
        };
        let ends = [end(pair.first, first), end(pair.second, second)];
        Arc { kind: pair.kind.name(), level: pair.level.name(), named, a, c: place.index, ends }
    }
}

impl Group {
    /// Does the next thread of the same warp do the same, an equal step further?
    fn goes_on_with(&self, next: &Self) -> bool {
        let further = step(self.c, next.c) - if self.n == 1 { 0 } else { self.d * i64::from(self.n) };
        (self.f, self.k, self.s, self.a, &self.r) == (next.f, next.k, next.s, next.a, &next.r)
            && self.t + self.n == next.t
            && self.t / 32 == next.t / 32
            && self.p.is_empty()
            && next.p.is_empty()
            && (self.n == 1 || further == 0)
    }
}

fn step(from: Option<u64>, to: Option<u64>) -> i64 {
    to.unwrap_or(0) as i64 - from.unwrap_or(0) as i64
}

fn number<T: PartialEq>(all: &mut Vec<T>, one: T) -> usize {
    all.iter().position(|old| *old == one).unwrap_or_else(|| {
        all.push(one);
        all.len() - 1
    })
}

fn ranges(threads: &[u32]) -> Vec<(u32, u32)> {
    threads.chunk_by(|a, b| a + 1 == *b).filter_map(|run| Some((*run.first()?, *run.last()?))).collect()
}
