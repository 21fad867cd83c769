//! Which lanes run next.

use std::fmt::{self, Write};
use std::str::FromStr;

use crate::limits::{MAX_EXHAUSTIVE_BLOCK, WARP};

/// How a launch interleaves the threads of a block. Blocks do not see each other's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The lanes of a warp step together, warps in a random order: as hardware does while the lanes
    /// of a warp have not diverged.
    Lockstep,
    /// A random warp, and of it a random part of the lanes: since compute capability 7.0 the lanes of
    /// a warp may run apart.
    Independent,
    /// A random thread each time.
    Random,
    /// One thread each time, by decisions that an [`Explorer`] counts through; without any, the lowest
    /// that can run.
    Exhaustive,
}

impl Policy {
    const NAMES: [(&str, Self); 4] = [
        ("lockstep", Self::Lockstep),
        ("independent", Self::Independent),
        ("random", Self::Random),
        ("exhaustive", Self::Exhaustive),
    ];

    /// The policy's name in a schedule.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.into_iter().find(|&(_, policy)| policy == self).map_or("", |(name, _)| name)
    }
}

impl FromStr for Policy {
    type Err = ScheduleError;

    fn from_str(name: &str) -> Result<Self, ScheduleError> {
        let known = Self::NAMES.into_iter().find(|&(known, _)| known == name);
        known.map(|(_, policy)| policy).ok_or(ScheduleError)
    }
}

/// One interleaving, as a short string that runs it again: `lockstep:7`, or `exhaustive:0210`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    policy: Policy,
    seed: u64,
    /// Which of the threads that can run does, time by time; the lowest once these are used up.
    decisions: Vec<u8>,
}

impl Schedule {
    /// The interleaving that a policy makes of this seed.
    #[must_use]
    pub fn seeded(policy: Policy, seed: u64) -> Self {
        Self { policy, seed, decisions: Vec::new() }
    }

    /// How its threads take turns.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.policy
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.policy.name())?;
        if self.policy != Policy::Exhaustive {
            return write!(f, "{}", self.seed);
        }
        if self.decisions.is_empty() {
            return f.write_char('0');
        }
        let digit = |&decision: &u8| char::from_digit(u32::from(decision), MAX_EXHAUSTIVE_BLOCK);
        self.decisions.iter().filter_map(digit).try_for_each(|digit| f.write_char(digit))
    }
}

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(schedule: &str) -> Result<Self, ScheduleError> {
        let (policy, rest) = schedule.split_once(':').ok_or(ScheduleError)?;
        let policy: Policy = policy.parse()?;
        if policy != Policy::Exhaustive {
            return Ok(Self::seeded(policy, rest.parse().map_err(|_| ScheduleError)?));
        }
        let digit = |digit: char| digit.to_digit(MAX_EXHAUSTIVE_BLOCK).map(|digit| digit as u8);
        // A decision that is not given is 0.
        let decisions = rest.trim_end_matches('0').chars().map(digit).collect::<Option<_>>();
        let decisions = decisions.filter(|_| !rest.is_empty()).ok_or(ScheduleError)?;
        Ok(Self { policy, seed: 0, decisions })
    }
}

/// Not a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduleError;

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "not a schedule: `lockstep:SEED`, `independent:SEED`, `random:SEED` or `exhaustive:DIGITS`",
        )
    }
}

impl std::error::Error for ScheduleError {}

/// What a launch's interleaving was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// A fingerprint of the order in which the threads of each block took their steps, each up to an
    /// access, a barrier or the end.
    pub interleaving: u64,
    /// Under [`Policy::Exhaustive`]: each decision, and out of how many.
    decisions: Vec<(u8, u8)>,
    /// A decision was asked for that could not be taken.
    strayed: bool,
}

impl Trace {
    /// Takes in the trace of other blocks, or of another launch.
    pub fn merge(&mut self, other: Self) {
        self.interleaving = self.interleaving.wrapping_add(other.interleaving);
        self.decisions.extend(other.decisions);
        self.strayed |= other.strayed;
    }

    /// Whether every decision of the schedule was taken as it stands there. One made for another launch asks for
    /// threads that cannot run, or for more turns than there are.
    #[must_use]
    pub fn follows(&self, schedule: &Schedule) -> bool {
        !self.strayed && schedule.decisions.len() <= self.decisions.len()
    }
}

/// Goes through schedules: seeds from a first one on, or all orders in which threads can take turns.
#[derive(Clone, Debug)]
pub struct Explorer {
    next: Option<Schedule>,
}

impl Explorer {
    /// Starts with this seed, or with the first of all orders.
    #[must_use]
    pub fn new(policy: Policy, seed: u64) -> Self {
        Self { next: Some(Schedule::seeded(policy, seed)) }
    }

    /// The next schedule; `None` if every order has been tried.
    #[must_use]
    pub fn schedule(&self) -> Option<&Schedule> {
        self.next.as_ref()
    }

    /// That schedule has run: goes on to the next.
    pub fn ran(&mut self, trace: &Trace) {
        let Some(schedule) = &mut self.next else { return };
        if schedule.policy != Policy::Exhaustive {
            schedule.seed = schedule.seed.wrapping_add(1);
            return;
        }
        // Count up at the last decision that has an alternative left.
        match trace.decisions.iter().rposition(|&(decision, of)| decision + 1 < of) {
            Some(last) => {
                schedule.decisions.clear();
                schedule.decisions.extend(trace.decisions[..=last].iter().map(|&(decision, _)| decision));
                schedule.decisions[last] += 1;
            }
            None => self.next = None,
        }
    }
}

/// The lanes of one warp, as bit masks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Warp {
    /// There are.
    pub all: u32,
    /// Not exited.
    pub alive: u32,
    /// Can run.
    pub ready: u32,
    /// Wait at a block barrier.
    pub at_barrier: u32,
    /// Wait at a `sync_warp`.
    pub at_warp: u32,
    /// Have come to the end of the kernel, without a `return`.
    pub ended: u32,
    /// Have exited, and a block barrier has completed since.
    pub left: u32,
}

/// Takes the decisions for one block after the other, each block from a seed of its own.
#[derive(Debug)]
pub struct Scheduler {
    schedule: Schedule,
    random: fastrand::Rng,
    /// Of the running block.
    interleaving: u64,
    trace: Trace,
}

impl Scheduler {
    /// Takes the decisions of this schedule.
    #[must_use]
    pub fn new(schedule: &Schedule) -> Self {
        Self {
            schedule: schedule.clone(),
            random: fastrand::Rng::with_seed(schedule.seed),
            interleaving: 0,
            trace: Trace::default(),
        }
    }

    /// Do the lanes of a warp step together?
    #[inline]
    pub fn is_lockstep(&self) -> bool {
        self.schedule.policy == Policy::Lockstep
    }

    /// The order within a block depends on the seed and the block alone, not on which worker runs it.
    pub fn begin_block(&mut self, block: u64) {
        self.end_block();
        let own = (block + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.random.seed(self.schedule.seed ^ own);
        self.interleaving = own;
    }

    fn end_block(&mut self) {
        self.trace.interleaving = self.trace.interleaving.wrapping_add(self.interleaving);
    }

    /// What the blocks' interleavings were.
    pub fn into_trace(mut self) -> Trace {
        self.end_block();
        self.trace
    }

    /// The next lanes to run: a warp of `ready_warps` and some of its ready lanes. Each runs up to its
    /// next access.
    #[inline]
    pub fn pick(&mut self, ready_warps: u32, warps: &[Warp]) -> (usize, u32) {
        let (warp, lanes) = if self.schedule.policy == Policy::Exhaustive {
            self.decide(warps)
        } else {
            let warp = self.any(ready_warps);
            let ready = warps[warp].ready;
            let lanes = match self.schedule.policy {
                Policy::Lockstep => ready,
                Policy::Independent => match ready & self.random.u32(..) {
                    0 => ready & ready.wrapping_neg(),
                    some => some,
                },
                _ => 1 << self.any(ready),
            };
            (warp, lanes)
        };
        if self.schedule.policy == Policy::Lockstep {
            self.took(warp as u64);
        } else {
            threads(warp, lanes).for_each(|thread| self.took(thread.into()));
        }
        (warp, lanes)
    }

    #[inline]
    fn took(&mut self, turn: u64) {
        let mixed = (self.interleaving ^ turn).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.interleaving = mixed ^ (mixed >> 32);
    }

    /// One thread, by the next decision.
    #[cold]
    fn decide(&mut self, warps: &[Warp]) -> (usize, u32) {
        let ready = || warps.iter().enumerate().flat_map(|(number, warp)| threads(number, warp.ready));
        let of = ready().count();
        let made = self.trace.decisions.len();
        let given = self.schedule.decisions.get(made).map_or(0, |&decision| usize::from(decision));
        let decision = given.min(of - 1);
        self.trace.strayed |= decision != given;
        self.trace.decisions.push((decision as u8, of as u8));
        let thread = ready().nth(decision).map_or(0, usize::from);
        (thread / WARP, 1 << (thread % WARP))
    }

    /// The next warp to run under [`Policy::Lockstep`]: one of these, with all its ready lanes.
    #[inline]
    pub fn pick_warp(&mut self, ready_warps: u32) -> usize {
        let warp = self.any(ready_warps);
        self.took(warp as u64);
        warp
    }

    /// The position of a random bit of `set`, which must not be empty.
    #[inline]
    fn any(&mut self, set: u32) -> usize {
        if set & set.wrapping_sub(1) == 0 {
            return set.trailing_zeros() as usize;
        }
        let bits = upto_each_byte(set);
        nth(set, bits, self.random.u32(..bits >> 24))
    }
}

/// In each byte how many bits of the set there are up to the end of that byte.
#[inline]
fn upto_each_byte(set: u32) -> u32 {
    let pairs = set - (set >> 1 & 0x5555_5555);
    let fours = (pairs & 0x3333_3333) + (pairs >> 2 & 0x3333_3333);
    ((fours + (fours >> 4)) & 0x0f0f_0f0f).wrapping_mul(0x0101_0101)
}

/// The position of the bit that has so many of the set below it; `bits` are those of [`upto_each_byte`].
#[inline]
fn nth(set: u32, bits: u32, number: u32) -> usize {
    // The high bit of a byte stays where the bit lies beyond it: neither number is above 32, so that nothing is borrowed.
    let beyond = ((number * 0x0101_0101) | 0x8080_8080) - bits;
    let byte = ((beyond >> 7 & 0x0101_0101).wrapping_mul(0x0101_0101) >> 24) * 8;
    let before = (u64::from(bits) << 8) >> byte & 0xff;
    let within = NTH[(set >> byte & 0xff) as usize][(u64::from(number) - before) as usize & 7];
    byte as usize + usize::from(within)
}

/// The position of each bit of a byte.
static NTH: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut set = 0;
    while set < 256 {
        let (mut at, mut number) = (0, 0);
        while at < 8 {
            if set >> at & 1 == 1 {
                table[set][number] = at;
                number += 1;
            }
            at += 1;
        }
        set += 1;
    }
    table
};

/// The lanes of a mask, lowest first.
#[inline]
pub fn lanes(mask: u32) -> impl Iterator<Item = u32> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros();
        if rest == 0 {
            return None;
        }
        rest &= rest - 1;
        Some(lane)
    })
}

/// The linear thread indices of these lanes of a warp.
#[inline]
pub fn threads(warp: usize, mask: u32) -> impl Iterator<Item = u16> {
    lanes(mask).map(move |lane| (warp * WARP) as u16 + lane as u16)
}

#[cfg(test)]
mod tests {
    use super::{nth, upto_each_byte};

    #[test]
    fn the_nth_bit_is_found_in_any_byte() {
        for set in [1_u32, 0x8000_0000, 0xffff_ffff, 0x0100_8001, 0x7f00_00fe, 0xf0f0_0f0f, 0x0001_0000] {
            let positions = (0..32_usize).filter(|at| set >> at & 1 == 1);
            for (number, position) in positions.enumerate() {
                assert_eq!(nth(set, upto_each_byte(set), number as u32), position, "{set:x}");
            }
        }
    }
}
