//! The short way and the long way say the same: rows as intervals, and the same accesses lane by lane.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use fastrand::Rng;

use super::{Addresses, At, How, Judge, Lines, Program, Setting, Sync, WarpAccess, Written};
use crate::{Kind, Level, Place, Report, Site, Space};

const BASE: u64 = 1 << 40;
const GLOBAL: u64 = 1 << 44;
const BYTES: u64 = 1024;

struct Lined;

impl Program for Lined {
    fn order(&self, a: At, b: At) -> Ordering {
        (a.path, a.instruction).cmp(&(b.path, b.instruction))
    }

    fn site(&self, instruction: u32) -> Site {
        Site::at("rows", instruction + 1, 1)
    }

    fn trips(&self, path: u32) -> Vec<u32> {
        vec![path]
    }

    fn place(&self, address: u64, size: u32) -> Place {
        let (space, name, start) =
            if address < GLOBAL { (Space::Shared, "S", BASE) } else { (Space::Global, "g", GLOBAL) };
        Place { space, name, index: (address - start) / u64::from(size), size }
    }
}

/// One access of a warp, or what comes between.
#[derive(Clone, Debug)]
enum Step {
    Access {
        at: At,
        warp: u32,
        mask: u32,
        base: u64,
        stride: i64,
        size: u32,
        writes: bool,
        object: u32,
        values: Box<[u64; 32]>,
    },
    SyncWarp(u32),
    Barrier([u32; 3]),
}

/// A launch of one block of three warps. Threads leave in between.
fn steps(random: &mut Rng) -> Vec<Step> {
    let mut alive = [u32::MAX; 3];
    let mut steps = Vec::new();
    let size = [1, 2, 4, 8][random.usize(..4)];
    let leaves = random.u32(..3) == 0;
    for number in 0..random.u32(2..14) {
        match random.u32(..8) {
            0 => {
                if leaves {
                    let warp = random.usize(..3);
                    alive[warp] &= u32::MAX >> random.u32(..32);
                }
                steps.push(Step::Barrier(alive));
            }
            1 => steps.push(Step::SyncWarp(random.u32(..3))),
            _ => {
                let writes = random.bool();
                let object = random.u32(..2);
                let (offset, trip) = (u64::from(random.u32(..4)), random.u32(..3));
                for warp in 0..3 {
                    let gap = random.u32(..4) == 0;
                    let mask = if gap { u32::MAX << random.u32(..31) } else { u32::MAX };
                    let mask = mask & alive[warp as usize];
                    let down = random.bool();
                    let lane = i64::from(size);
                    let stride = if !writes && random.u32(..5) == 0 {
                        0
                    } else if down {
                        -lane
                    } else {
                        lane
                    };
                    let first = offset + u64::from(if random.bool() { 32 * warp } else { 0 });
                    let start = if object == 0 { BASE } else { GLOBAL };
                    let low = start + first * u64::from(size);
                    let base = if stride < 0 { low + 31 * u64::from(size) } else { low };
                    let values = Box::new(std::array::from_fn(|_| u64::from(random.u32(..2))));
                    if mask != 0 {
                        let at = At { instruction: number, path: trip };
                        steps.push(Step::Access {
                            at,
                            warp,
                            mask,
                            base,
                            stride,
                            size,
                            writes,
                            object,
                            values,
                        });
                    }
                }
            }
        }
    }
    steps
}

/// The verdict, with the addresses as they are or lane by lane.
fn judged(steps: &[Step], by_lane: bool) -> Report {
    let setting = Setting {
        threads: 96,
        shared: BYTES as u32,
        shared_base: BASE,
        objects: 2,
        across_blocks: false,
        orders: false,
    };
    let mut judge = Judge::new(setting);
    let lines = Lines::new(&[(0, 0), (GLOBAL, BYTES)]);
    judge.begin_block(0);
    for step in steps {
        match step {
            Step::SyncWarp(warp) => judge.sync_warp(&Lined, *warp, judge.alive[*warp as usize]),
            Step::Barrier(alive) => judge.block_barrier(&Lined, alive, 0),
            &Step::Access { at, warp, mask, base, stride, size, writes, object, ref values } => {
                let each = std::array::from_fn(|lane| base.wrapping_add_signed(stride * lane as i64));
                let addresses =
                    if by_lane { Addresses::Each(&each) } else { Addresses::Affine { base, stride } };
                judge.access(
                    || Lined,
                    &lines,
                    &WarpAccess {
                        at,
                        warp,
                        mask,
                        addresses,
                        size,
                        how: if writes { How::WRITE } else { How::READ },
                        object,
                        sync: Sync::default(),
                        values: if writes { Written::Each(values) } else { Written::Nothing },
                    },
                );
            }
        }
    }
    judge.end_block(&Lined);
    judge.finish()
}

/// What both ways agree on: bytes of each hazard; of writes their sum and the worst level.
fn summary(report: &Report) -> impl PartialEq + std::fmt::Debug {
    let mut hazards: BTreeMap<_, u64> = BTreeMap::new();
    let mut writes: BTreeMap<_, (Level, u64)> = BTreeMap::new();
    for hazard in &report.hazards {
        let key = (hazard.place.name, hazard.first.site.line(), hazard.second.site.line());
        if hazard.kind == Kind::Waw {
            let worst = writes.entry(key).or_insert((hazard.level, 0));
            *worst = (worst.0.max(hazard.level), worst.1 + hazard.bytes);
        } else {
            *hazards.entry((key, hazard.kind, hazard.level)).or_default() += hazard.bytes;
        }
    }
    let uninitialised: BTreeMap<_, u64> =
        report.uninitialised.iter().map(|found| (found.by.site.line(), found.reads)).collect();
    // How the bytes of writes fall on pairs of lines depends on which pair is told first.
    let written: u64 = writes.values().map(|(_, bytes)| bytes).sum();
    let levels: BTreeMap<_, Level> = writes.into_iter().map(|(key, (level, _))| (key, level)).collect();
    (hazards, levels, written, uninitialised)
}

#[test]
fn intervals_and_lanes_say_the_same() {
    let mut raced = 0;
    for seed in 0..4000 {
        let steps = steps(&mut Rng::with_seed(seed));
        let (rows, cells) = (judged(&steps, false), judged(&steps, true));
        assert_eq!(summary(&rows), summary(&cells), "seed {seed}: {steps:#?}");
        raced += u32::from(!rows.hazards.is_empty());
    }
    assert!(raced > 1000, "{raced}");
}
