//! Patterns against every single element.

use std::collections::HashMap;

use super::*;
use crate::nest::NestId;
use crate::site::Site;

/// What one line of a kernel touches: in block `b`, thread `t` of `threads` touches `at + b * block + t * thread`.
#[derive(Clone, Copy, Debug)]
struct Line {
    at: usize,
    block: usize,
    thread: usize,
    threads: usize,
    writes: bool,
}

impl Line {
    fn index(&self, block: usize, thread: usize) -> usize {
        self.at + block * self.block + thread * self.thread
    }
}

/// Two places to access from.
fn sites() -> [Site; 2] {
    [Site::here(), Site::here()]
}

/// The patterns of these lines in blocks that a worker ran, by the portion.
fn patterns(lines: &[Line], portions: &[std::ops::Range<usize>]) -> Vec<Pattern> {
    let mut all = Vec::new();
    for worker in 0..2 {
        let mut accesses = Accesses::new(Detail::Patterns);
        for block in portions.iter().skip(worker).step_by(2).cloned().flatten() {
            for (line, site) in lines.iter().zip(sites()) {
                for thread in 0..line.threads {
                    let by = Access::new(site, NestId::ROOT, 1, thread as u16, line.writes);
                    accesses.access(0, line.index(block, thread), by);
                }
            }
            accesses.end_block(block as u64);
        }
        all.extend(accesses.into_patterns());
    }
    all
}

/// Do two blocks really access one element, one of them writing?
fn meet(lines: &[Line], blocks: usize) -> bool {
    let mut cells: HashMap<usize, Vec<(usize, bool)>> = HashMap::new();
    for block in 0..blocks {
        for line in lines {
            for thread in 0..line.threads {
                cells.entry(line.index(block, thread)).or_default().push((block, line.writes));
            }
        }
    }
    cells.values().any(|by| {
        by.iter().any(|&(block, writes)| by.iter().any(|&(other, w)| other != block && (writes || w)))
    })
}

#[test]
fn no_meeting_is_missed() {
    let mut random = fastrand::Rng::with_seed(7);
    let (mut met, mut plain, mut unsure) = (0, 0, 0);
    for _ in 0..20_000 {
        let threads = random.usize(1..6);
        let mut line = || Line {
            at: random.usize(0..12),
            block: [0, 1, threads, threads + random.usize(0..8)][random.usize(..4)],
            thread: [0, 1, 1, random.usize(1..9)][random.usize(..4)],
            threads: if random.u8(..4) == 0 { random.usize(1..=threads) } else { threads },
            writes: random.bool(),
        };
        let lines = [line(), line()];
        let lines = &lines[..random.usize(1..=2)];
        let portion = random.usize(1..4);
        let blocks = random.usize(1..10);
        let portions: Vec<_> = (0..blocks).step_by(portion).map(|at| at..blocks.min(at + portion)).collect();
        let may = may_meet(&mut patterns(lines, &portions));
        match (meet(lines, blocks), may) {
            (true, true) => met += 1,
            (true, false) => panic!("missed: {lines:?}, {blocks} blocks in {portions:?}"),
            (false, false) => plain += 1,
            (false, true) => unsure += 1,
        }
    }
    assert!(met > 1000 && plain > 1000, "{met} met, {plain} did not, {unsure} would be looked at again");
}

/// What kernels usually do is told apart without running them again, and is kept in few words.
#[test]
fn usual_kernels_are_one_pattern() {
    let whole = std::iter::once(0..1000).collect::<Vec<_>>();
    let own = |at, writes| Line { at, block: 64, thread: 1, threads: 64, writes };
    for lines in [
        &[own(0, true)][..],
        &[own(0, false), own(0, true)],
        &[own(5, true)],
        &[Line { at: 9, block: 0, thread: 0, threads: 64, writes: false }, own(0, true)],
        // One element of each block's.
        &[Line { at: 0, block: 1, thread: 0, threads: 1, writes: true }],
    ] {
        let mut patterns = patterns(lines, &whole);
        assert_eq!(patterns.len(), lines.len());
        let shares = lines.len() == 2 && lines[0].block == 0;
        assert_eq!(may_meet(&mut patterns), shares, "{lines:?}");
    }
    // Block by block across: thread `t` of block `b` writes element `b + 1000 t`.
    let across = Line { at: 0, block: 1, thread: 1000, threads: 64, writes: true };
    let mut patterns = patterns(&[across], &whole);
    assert_eq!((patterns.len(), may_meet(&mut patterns)), (64, false));
}
