//! What a page needs of one run: the trace by frames, the racing pairs, the answer and the verdicts.

use std::collections::HashSet;

use anyhow::{Context, Result, bail};
use cuda_std::emulator::{
    BlockTrace, Event, Hazard, Launch, Pair, Party, Place, Report, Schedule, Site, Space, WARP, What,
};
use serde::Serialize;

use super::choice::Choice;
use super::frames::frames;
use super::verdict::{Said, said};
use crate::exhibits::{Exhibit, Outcome, Problem, Shape, launch_with};

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
    /// The hazards that this block shows.
    pub lines: Vec<Line>,
    /// Their racing pairs, one for each cell; the first of each line is the one that the words name.
    pub arcs: Vec<Arcs>,
    /// The accesses of this block that race with another block's, which is not drawn.
    pub across: Vec<Across>,
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
    pub v: Vec<Option<Value>>,
    /// Where `v` has only the first value: how much more the next one is.
    #[serde(skip_serializing_if = "is_zero")]
    pub e: i64,
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

/// What a cell holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A whole number.
    Whole(i64),
    /// Anything else, as Rust shows it.
    Text(String),
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        match text.parse::<i64>() {
            // Numbers that a double holds exactly, written as they would be again.
            Ok(number) if number.unsigned_abs() < 1 << 53 && number.to_string() == *text => {
                Self::Whole(number)
            }
            _ => Self::Text(text.clone()),
        }
    }
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

/// Accesses that nothing orders: one line of the report, as it shows in the block that is drawn.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// RAW, WAR or WAW.
    pub kind: &'static str,
    /// How bad.
    pub level: &'static str,
    /// The array, by its number.
    pub a: usize,
    /// The two places in the source, in the order of the program.
    pub sites: [usize; 2],
    /// Which of the two accesses write.
    pub writes: [bool; 2],
    /// The steps of the trace at which the first pair happened.
    pub steps: [usize; 2],
}

/// Racing pairs of one line: of neighbouring threads in the same two frames, a cell each.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Arcs {
    /// The line, by its number in [`Scene::lines`].
    pub l: usize,
    /// How many.
    pub n: u32,
    /// The first one's cell.
    pub c: u64,
    /// How much further the next one's cell is.
    pub d: i64,
    /// The two accesses.
    pub ends: [End; 2],
}

/// One end of an arc, and of those that follow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct End {
    /// The frame.
    pub f: u32,
    /// The first one's thread.
    pub t: u32,
    /// How much further the next one's thread is.
    pub d: i64,
}

/// An access that races with one of another block.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Across {
    /// Its frame.
    pub f: u32,
    /// Its thread.
    pub t: u32,
    /// The array, by its number.
    pub a: usize,
    /// The cell.
    pub c: u64,
    /// The block and the thread of the other access, in words.
    pub other: String,
}

/// Runs an exhibit and prepares what came of it.
///
/// # Errors
///
/// If it cannot be launched.
pub fn scene(exhibit: &Exhibit, choice: Choice) -> Result<Scene> {
    let first = run(exhibit, choice, 0)?;
    let block = telling(exhibit, choice, &first);
    let outcome = if block == 0 { first } else { run(exhibit, choice, block)? };
    let trace = outcome.report.trace.as_ref().with_context(|| format!("{} left no trace", exhibit.name))?;
    Ok(of_trace(exhibit, choice, &outcome, trace))
}

/// The most frames that anybody steps through.
const FRAMES: u32 = 400;

/// Makes the runs that a page offers, without those that are too long to be followed.
///
/// # Errors
///
/// If one cannot be launched, or if all runs of a block size that was asked for are too long.
pub fn scenes(exhibit: &Exhibit, choices: &[Choice], asked: Option<u32>) -> Result<Vec<Scene>> {
    let mut scenes = Vec::new();
    for &choice in choices {
        let scene = scene(exhibit, choice)?;
        if scene.frames <= FRAMES {
            scenes.push(scene);
        }
    }
    if let Some(block) = asked
        && !scenes.iter().any(|scene| scene.block == block)
    {
        bail!("--block {block}: {} takes more steps there than a page can show ({FRAMES})", exhibit.name);
    }
    Ok(scenes)
}

/// Runs an exhibit; the report holds the trace of the block.
///
/// # Errors
///
/// If it cannot be launched.
pub fn run(exhibit: &Exhibit, choice: Choice, block: u64) -> Result<Outcome> {
    let Choice { policy, seed, .. } = choice;
    let schedule = Schedule::seeded(policy, seed);
    let ask = |launch: Launch| launch.workers(1).trace(block);
    launch_with(exhibit, choice.block, &schedule, ask).map(|(outcome, _)| outcome)
}

/// The block to show: one that races with another, or where the answer is wrong, or else where something
/// was found.
fn telling(exhibit: &Exhibit, choice: Choice, outcome: &Outcome) -> u64 {
    let report = &outcome.report;
    let wrong = outcome.wrong_at.first().filter(|_| by_thread(exhibit));
    let wrong = wrong.map(|&element| element as u64 / u64::from(choice.block));
    let across = report.hazards.first().filter(|found| found.first.block != found.second.block);
    across
        .map(|found| found.second.block)
        .or(wrong)
        .or(report.divergence.as_ref().map(|found| found.block))
        .or(report.hazards.first().map(|found| found.first.block))
        .or(report.uninitialised.first().map(|found| found.by.block))
        .or(report.lost_writes.first().map(|found| found.by.block))
        .or(report.fault.as_ref().map(|found| found.block))
        .unwrap_or(0)
}

/// Whether each thread of the grid has the element of its own number.
fn by_thread(exhibit: &Exhibit) -> bool {
    exhibit.shape != Shape::Square
}

fn of_trace(exhibit: &Exhibit, choice: Choice, outcome: &Outcome, trace: &BlockTrace) -> Scene {
    let (frame_of, count) = frames(trace);
    let (x, y) = Problem::new(exhibit.shape, choice.block).grid;
    let report = Report { hazards: hazards(&outcome.report, trace), ..outcome.report.clone() };
    let in_block = by_thread(exhibit).then(|| {
        let here = |&&element: &&usize| element as u64 / u64::from(choice.block) == trace.block;
        outcome.wrong_at.iter().filter(here).count()
    });
    let mut scene = Scene {
        block: choice.block,
        traced: (trace.block, x * y),
        schedule: choice.schedule(),
        frames: count,
        arrays: Vec::new(),
        sites: Vec::new(),
        groups: Vec::new(),
        lines: Vec::new(),
        arcs: Vec::new(),
        across: Vec::new(),
        said: said(outcome, &report, in_block),
    };
    // The position in the trace settles what happens first within a frame.
    let mut order: Vec<usize> = (0..trace.events.len()).collect();
    order.sort_by_key(|&step| frame_of[step]);
    for step in order {
        scene.add(frame_of[step], &trace.events[step]);
    }
    for group in &mut scene.groups {
        group.squeeze();
    }
    scene.draw_arcs(trace, &frame_of, &report.hazards);
    scene.draw_across(trace, &frame_of, &report.hazards);
    scene
}

/// The hazards of a report, told by a pair of the block that is drawn wherever it has one.
fn hazards(report: &Report, trace: &BlockTrace) -> Vec<Hazard> {
    report.hazards.iter().map(|hazard| in_trace(hazard, trace).unwrap_or_else(|| hazard.clone())).collect()
}

fn in_trace(hazard: &Hazard, trace: &BlockTrace) -> Option<Hazard> {
    let pair = trace.pairs.iter().find(|pair| is_of(pair, hazard, trace))?;
    let party = |step: usize| match &trace.events[step] {
        Event { thread, site: Some(site), what: What::Access { writes, trips, .. }, .. } => Some(Party {
            thread: *thread,
            block: trace.block,
            trips: trips.clone(),
            site: *site,
            writes: *writes,
        }),
        _ => None,
    };
    let place = place(&trace.events[pair.first])?.clone();
    Some(Hazard { place, first: party(pair.first)?, second: party(pair.second)?, ..hazard.clone() })
}

/// Whether a pair is one of those that this line of the report sums up.
fn is_of(pair: &Pair, hazard: &Hazard, trace: &BlockTrace) -> bool {
    let [first, second] = [pair.first, pair.second].map(|step| &trace.events[step]);
    (pair.kind, pair.level) == (hazard.kind, hazard.level)
        && [first.site, second.site] == [Some(hazard.first.site), Some(hazard.second.site)]
        && place(first).is_some_and(|place| place.name == hazard.place.name)
}

fn place(event: &Event) -> Option<&Place> {
    match &event.what {
        What::Access { place, .. } => Some(place),
        _ => None,
    }
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
            e: 0,
            r: Vec::new(),
            p: Vec::new(),
            void: false,
        };
        match &event.what {
            What::Access { place, writes, value, trips } => {
                new.k = if *writes { Kind::Store } else { Kind::Load };
                new.a = Some(self.array(place));
                new.c = Some(place.index);
                new.v.push(value.as_ref().map(Value::from));
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
                    last.d = further(last.c.unwrap_or(0), new.c.unwrap_or(0));
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

    /// Draws the pairs of each hazard, in the order of the report: worst first.
    fn draw_arcs(&mut self, trace: &BlockTrace, frame_of: &[u32], hazards: &[Hazard]) {
        for hazard in hazards {
            let mut pairs = trace.pairs.iter().filter(|pair| is_of(pair, hazard, trace)).peekable();
            let Some(first) = pairs.peek() else { continue };
            let steps = [first.first, first.second];
            let sites = [hazard.first.site, hazard.second.site].map(|site| self.site(site));
            let writes = [hazard.first.writes, hazard.second.writes];
            let (kind, level, a) = (hazard.kind.name(), hazard.level.name(), self.array(&hazard.place));
            self.lines.push(Line { kind, level, a, sites, writes, steps });
            let l = self.lines.len() - 1;
            let mut drawn = HashSet::new();
            for pair in pairs {
                let Some(place) = place(&trace.events[pair.first]) else { continue };
                if drawn.insert(place) {
                    let end = |step: usize| End { f: frame_of[step], t: trace.events[step].thread, d: 0 };
                    let ends = [pair.first, pair.second].map(end);
                    self.draw_arc(Arcs { l, n: 1, c: place.index, d: 0, ends });
                }
            }
        }
    }

    /// Marks this block's side of each hazard between two blocks, and says what the picture leaves out.
    fn draw_across(&mut self, trace: &BlockTrace, frame_of: &[u32], hazards: &[Hazard]) {
        for hazard in hazards.iter().filter(|hazard| hazard.first.block != hazard.second.block) {
            let sides = [(&hazard.first, &hazard.second), (&hazard.second, &hazard.first)];
            let Some((here, there)) = sides.into_iter().find(|(here, _)| here.block == trace.block) else {
                continue;
            };
            let is_here = |event: &Event| {
                (event.thread, event.site) == (here.thread, Some(here.site))
                    && place(event) == Some(&hazard.place)
            };
            let Some(step) = trace.events.iter().position(is_here) else { continue };
            self.said.found.push(format!(
                "Block {} is not in the picture: the dashed line leads out of it, to thread {} there.",
                there.block, there.thread
            ));
            let across = Across {
                f: frame_of[step],
                t: here.thread,
                a: self.array(&hazard.place),
                c: hazard.place.index,
                other: format!("block {}, thread {}", there.block, there.thread),
            };
            self.across.push(across);
        }
    }

    fn draw_arc(&mut self, new: Arcs) {
        match self.arcs.last_mut() {
            Some(last) if last.goes_on_with(&new) => {
                last.d = further(last.c, new.c) / i64::from(last.n);
                for (end, next) in last.ends.iter_mut().zip(new.ends) {
                    end.d = further(end.t, next.t) / i64::from(last.n);
                }
                last.n += 1;
            }
            _ => self.arcs.push(new),
        }
    }
}

impl Arcs {
    fn goes_on_with(&self, next: &Self) -> bool {
        let evenly = |step: i64, further: i64| self.n == 1 || further == step * i64::from(self.n);
        let ends = || self.ends.iter().zip(next.ends);
        self.l == next.l
            && evenly(self.d, further(self.c, next.c))
            && ends().all(|(end, next)| end.f == next.f && evenly(end.d, further(end.t, next.t)))
    }
}

impl Group {
    /// Does the next thread of the same warp do the same, an equal step further?
    fn goes_on_with(&self, next: &Self) -> bool {
        let cell = |group: &Self| group.c.unwrap_or(0);
        (self.f, self.k, self.s, self.a, &self.r) == (next.f, next.k, next.s, next.a, &next.r)
            && self.t + self.n == next.t
            && self.t / WARP as u32 == next.t / WARP as u32
            && self.p.is_empty()
            && next.p.is_empty()
            && (self.n == 1 || further(cell(self), cell(next)) == self.d * i64::from(self.n))
    }

    /// Keeps only the first value where the others follow from it.
    fn squeeze(&mut self) {
        let even = match self.v[..] {
            [Some(Value::Whole(first)), Some(Value::Whole(second)), ..] => Some((first, second - first)),
            [None, None, ..] if self.v.iter().all(Option::is_none) => {
                self.v.truncate(1);
                None
            }
            _ => None,
        };
        let Some((first, step)) = even else { return };
        let follows = |(i, value): (i64, &Option<Value>)| *value == Some(Value::Whole(first + i * step));
        if (0..).zip(&self.v).all(follows) {
            self.v.truncate(1);
            self.e = step;
        }
    }
}

fn further(from: impl Into<i128>, to: impl Into<i128>) -> i64 {
    (to.into() - from.into()) as i64
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
