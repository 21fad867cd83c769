//! What the blocks of one launch do to each other's elements of global memory: no barrier orders it.
//!
//! While blocks run, what they touch is kept in few words, as [`Pattern`]s that go on from block to block.
//! Only where patterns of two blocks may meet is the launch run again, one block after the other and in full
//! detail; hazards are found in that.

#[cfg(test)]
mod tests;

use std::ptr;

use crate::hazard::{Hazard, Kind, Level, Party};
use crate::order::Access;
use crate::place::Memory;

/// How much is kept of what blocks do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// As much as it takes to tell whether blocks may meet.
    Patterns,
    /// Every run of elements of every block, and a digest of what it wrote.
    Full,
}

/// Consecutive elements that one block accessed from one line, by consecutive threads.
#[derive(Clone, Copy, Debug)]
struct Run {
    buffer: usize,
    start: usize,
    len: usize,
    block: u64,
    by: Access,
    values: Values,
}

/// What a run wrote, as far as it takes to tell whether another run wrote the same. Nothing for reads, nor
/// without [`Detail::Full`].
#[derive(Clone, Copy, Debug, Default)]
struct Values {
    /// The value, if all elements got the same.
    single: Option<u64>,
    /// A sum over the elements and their values, if each got one value only.
    digest: Option<u64>,
}

impl Values {
    fn one(index: usize, value: u64) -> Self {
        let mixed = (value ^ (index as u64).rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self { single: Some(value), digest: Some(mixed ^ (mixed >> 29)) }
    }

    /// Of other elements.
    fn extend(&mut self, more: Self) {
        self.single = self.single.filter(|_| self.single == more.single);
        self.digest = self.digest.zip(more.digest).map(|(a, b)| a.wrapping_add(b));
    }
}

impl Run {
    /// Takes in a run that goes on where this one ends.
    fn extend(&mut self, next: &Self) {
        self.len += next.len;
        self.values.extend(next.values);
    }

    /// Takes in a run over elements of this one, from the same line.
    fn repeat(&mut self, again: &Self) {
        if !self.same_values(again) {
            self.values = Values::default();
        }
    }

    /// Both wrote the same to every element that they share.
    fn same_values(&self, other: &Self) -> bool {
        let (a, b) = (self.values, other.values);
        let single = a.single.is_some() && a.single == b.single;
        let same_elements = (self.start, self.len) == (other.start, other.len);
        single || (same_elements && a.digest.is_some() && a.digest == b.digest)
    }

    /// Does this access go on where the run ends?
    fn goes_on_with(&self, buffer: usize, index: usize, by: &Access) -> bool {
        self.buffer == buffer
            && self.by.writes() == by.writes()
            && self.start + self.len == index
            && usize::from(self.by.thread()) + self.len == usize::from(by.thread())
            && self.by.site == by.site
    }

    fn end(&self) -> usize {
        self.start + self.len
    }
}

/// The same run in one block after the other, each by the same distance further.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    first: Run,
    blocks: usize,
    /// Of two blocks that follow each other.
    stride: usize,
}

impl Pattern {
    fn new(first: Run) -> Self {
        Self { first, blocks: 1, stride: 0 }
    }

    /// Is this run, of the next block, one more of the pattern?
    fn goes_on_with(&self, run: &Run) -> bool {
        let Self { first, blocks, stride } = self;
        let like = |run: &Run| (run.buffer, run.len, run.by.thread(), run.by.writes(), run.by.site);
        if first.block + *blocks as u64 != run.block || like(first) != like(run) {
            return false;
        }
        match run.start.checked_sub(first.start) {
            // Blocks that write the same elements meet; that is for `may_meet` to see.
            Some(distance) if *blocks == 1 => !run.by.writes() || distance >= run.len,
            Some(distance) => distance == stride * blocks,
            None => false,
        }
    }

    /// Takes in that run.
    fn go_on_with(&mut self, run: &Run) {
        if self.blocks == 1 {
            self.stride = run.start - self.first.start;
        }
        self.blocks += 1;
    }

    fn end(&self) -> usize {
        self.first.end() + self.stride * (self.blocks - 1)
    }

    /// Is it plain that no block of the one pattern meets another block of the other, which starts no lower?
    fn apart(&self, other: &Self) -> bool {
        let (a, b) = (&self.first, &other.first);
        if self.blocks == 1 && other.blocks == 1 {
            return a.block == b.block;
        }
        let stride = self.stride.max(other.stride);
        let strides = |pattern: &Self| pattern.blocks == 1 || pattern.stride == stride;
        if stride == 0 || !strides(self) || !strides(other) || a.len > stride {
            return false;
        }
        // Where the other's first run begins: that far into so manyth run of this pattern, or behind it.
        let (number, offset) = ((b.start - a.start) / stride, (b.start - a.start) % stride);
        let beside = offset >= a.len || number >= self.blocks;
        offset + b.len <= stride && (beside || a.block + number as u64 == b.block)
    }
}

/// May two blocks access one element, one of them writing it? False if it is plain that they do not.
pub fn may_meet(patterns: &mut [Pattern]) -> bool {
    patterns.sort_unstable_by_key(|pattern| (pattern.first.buffer, pattern.first.start));
    // Patterns that reach beyond the start of the one at hand.
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    for pattern in &*patterns {
        let open =
            |old: &&Pattern| old.first.buffer == pattern.first.buffer && old.end() > pattern.first.start;
        reads.retain(open);
        writes.retain(open);
        let meets = |old: &&Pattern| !old.apart(pattern);
        let written = pattern.first.by.writes();
        if writes.iter().any(meets) || (written && reads.iter().any(meets)) {
            return true;
        }
        if written { &mut writes } else { &mut reads }.push(pattern);
    }
    false
}

/// What the blocks of one worker have accessed.
#[derive(Debug)]
pub struct Accesses {
    detail: Detail,
    /// The running block's, in the order of the run.
    block: Vec<Run>,
    patterns: Vec<Pattern>,
    /// Where the patterns begin that the last block made or went on with.
    latest: usize,
}

impl Accesses {
    /// Nothing yet.
    pub fn new(detail: Detail) -> Self {
        Self { detail, block: Vec::new(), patterns: Vec::new(), latest: 0 }
    }

    /// Are values asked for?
    #[inline]
    pub fn in_full(&self) -> bool {
        self.detail == Detail::Full
    }

    /// Takes in an access of the running block.
    #[inline]
    pub fn access(&mut self, buffer: usize, index: usize, by: Access) {
        self.access_run(buffer, index, 1, by);
    }

    /// Takes in so many accesses: to consecutive elements, by consecutive threads, of which `by` is the first.
    #[inline]
    pub fn access_run(&mut self, buffer: usize, index: usize, len: usize, by: Access) {
        match self.block.last_mut() {
            Some(last) if last.goes_on_with(buffer, index, &by) => last.len += len,
            _ => self.block.push(Run { buffer, start: index, len, block: 0, by, values: Values::default() }),
        }
    }

    /// The last access wrote this value.
    pub fn wrote(&mut self, index: usize, value: u64) {
        if let Some(last) = self.block.last_mut() {
            let value = Values::one(index, value);
            if last.len == 1 {
                last.values = value;
            } else {
                last.values.extend(value);
            }
        }
    }

    /// The running block, which this is the number of, is over.
    pub fn end_block(&mut self, number: u64) {
        self.sum_up();
        self.block.iter_mut().for_each(|run| run.block = number);
        let latest = &mut self.patterns[self.latest..];
        let alike = self.detail == Detail::Patterns && latest.len() == self.block.len();
        if alike && latest.iter().zip(&self.block).all(|(pattern, run)| pattern.goes_on_with(run)) {
            for (pattern, run) in latest.iter_mut().zip(self.block.drain(..)) {
                pattern.go_on_with(&run);
            }
        } else {
            self.latest = self.patterns.len();
            self.patterns.extend(self.block.drain(..).map(Pattern::new));
        }
    }

    /// Makes one run of runs that go on with each other or repeat each other.
    fn sum_up(&mut self) {
        if self.block.len() < 2 {
            return;
        }
        let line = |run: &Run| (run.buffer, run.by.writes(), run.by.site);
        self.block
            .sort_unstable_by_key(|run| (run.buffer, run.by.writes(), run.start, run.by.site.position()));
        self.block.dedup_by(|run, last| {
            if last.goes_on_with(run.buffer, run.start, &run.by) {
                last.extend(run);
            } else if line(last) == line(run) && run.end() <= last.end() {
                last.repeat(run);
            } else {
                return false;
            }
            true
        });
    }

    /// What all blocks have accessed; of [`Detail::Full`], one pattern for each run of each block.
    pub fn into_patterns(self) -> Vec<Pattern> {
        self.patterns
    }
}

/// Accesses of two blocks of one launch to one element, from all that they did in full detail. The buffers are
/// those of global memory, under the numbers that the accesses were taken in with.
pub fn hazards(patterns: &[Pattern], buffers: &[Memory]) -> Vec<Hazard> {
    let mut runs: Vec<Run> = patterns.iter().map(|pattern| pattern.first).collect();
    runs.sort_unstable_by_key(|run| {
        (run.buffer, run.start, run.block, run.by.writes(), run.by.site.position())
    });
    let mut hazards: Vec<Hazard> = Vec::new();
    // Runs that reach beyond the start of the one at hand.
    let mut open: Vec<Run> = Vec::new();
    for run in runs {
        open.retain(|old| old.buffer == run.buffer && old.end() > run.start);
        let mut counted = false;
        for old in &open {
            if old.block == run.block || !(old.by.writes() || run.by.writes()) {
                continue;
            }
            let (a, b) = if old.block < run.block { (old, &run) } else { (&run, old) };
            let both = old.by.writes() && run.by.writes();
            let buffer = buffers[run.buffer];
            let bytes = (old.end().min(run.end()) - run.start) as u64 * u64::from(buffer.size);
            add(&mut hazards, buffer, run.start, (a, b), if both && counted { 0 } else { bytes });
            counted |= both;
        }
        // Of runs over the same elements from the same line the first and the last speak for all (they are of
        // two blocks): this keeps the comparison short where every block writes the same cell.
        let alike = |old: &&mut Run| {
            (old.start, old.len, old.by.writes(), old.by.site)
                == (run.start, run.len, run.by.writes(), run.by.site)
        };
        match open.iter_mut().filter(alike).nth(1) {
            Some(last) => {
                let before = std::mem::replace(last, run);
                last.repeat(&before);
            }
            None => open.push(run),
        }
    }
    hazards
}

fn add(hazards: &mut Vec<Hazard>, buffer: Memory, index: usize, (a, b): (&Run, &Run), bytes: u64) {
    let party = |run: &Run| Party {
        thread: (usize::from(run.by.thread()) + index - run.start) as u32,
        block: run.block,
        trips: Vec::new(),
        site: run.by.site,
        writes: run.by.writes(),
    };
    let (a, b) = if b.by.site.position() < a.by.site.position() { (b, a) } else { (a, b) };
    let kind = match (a.by.writes(), b.by.writes()) {
        (true, false) => Kind::Raw,
        (false, _) => Kind::War,
        (true, true) => Kind::Waw,
    };
    let level = if kind == Kind::Waw && a.same_values(b) { Level::Info } else { Level::Error };
    let known = hazards.iter_mut().find(|hazard| {
        (hazard.kind, hazard.level) == (kind, level)
            && (hazard.first.site, hazard.second.site) == (a.by.site, b.by.site)
            && ptr::eq(hazard.place.name, buffer.name)
    });
    if let Some(hazard) = known {
        hazard.bytes += bytes;
        return;
    }
    hazards.push(Hazard {
        kind,
        level,
        bytes,
        place: buffer.place(index as u64),
        first: party(a),
        second: party(b),
        exited_above: None,
    });
}
