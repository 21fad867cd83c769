//! A warp of the block that is running: its registers, and where its lanes are.

use crate::code::{Pc, Reg};
use crate::frame::Frame;
use crate::paths::{NOTHING, PassedId, PathId, ROOT};
use crate::register::{Affine, LANES, Register, Word};

/// What lanes do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// They can run.
    Ready,
    /// They wait at the barrier instruction that they stand before.
    AtBarrier,
    /// They wait for lanes of their warp, at the instruction that they stand before.
    AtWarp {
        /// The lanes that it names.
        members: u32,
    },
}

/// Lanes of a warp that are at one instruction, on one path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub(crate) pc: Pc,
    pub(crate) mask: u32,
    pub(crate) path: PathId,
    pub(crate) frame: Frame,
    pub(crate) state: State,
    /// Trips of loops, and steps without one, since the block began.
    pub(crate) trips: u32,
    /// The joins that they have passed and done nothing since: they count once the lanes do something more.
    pub(crate) passed: PassedId,
}

/// A warp.
#[derive(Debug, Default)]
pub(crate) struct Warp {
    pub(crate) w: Vec<Register<u32>>,
    pub(crate) d: Vec<Register<u64>>,
    pub(crate) p: Vec<u32>,
    /// Local memory: for each four bytes those of all lanes.
    pub(crate) local: Vec<[u32; LANES]>,
    pub(crate) groups: Vec<Group>,
    /// Lanes that have not exited.
    pub(crate) alive: u32,
    /// Joins that lanes have passed, and gone on from, since the last barrier of the block.
    pub(crate) passed: Vec<(u32, PassedId)>,
    /// Lanes that have met others, since the last barrier of the block, who came from another place or path: where they
    /// were themselves.
    pub(crate) met: Vec<(u32, Pc, PathId)>,
    /// Turns in which some lanes were passed over.
    pub(crate) patience: u32,
}

impl Warp {
    /// All lanes that there are begin the kernel.
    pub(crate) fn begin(&mut self, lanes: u32, entry: Pc) {
        self.alive = lanes;
        self.patience = 0;
        self.passed.clear();
        self.met.clear();
        self.groups.clear();
        self.groups.push(Group {
            pc: entry,
            mask: lanes,
            path: ROOT,
            frame: Frame::default(),
            state: State::Ready,
            trips: 0,
            passed: NOTHING,
        });
    }

    /// Lanes that can run.
    pub(crate) fn ready(&self) -> u32 {
        let ready = self.groups.iter().filter(|group| group.state == State::Ready);
        ready.fold(0, |lanes, group| lanes | group.mask)
    }

    /// Makes room for the registers of a frame.
    pub(crate) fn reserve(&mut self, w: u32, d: u32, p: u32, local: u32) {
        if self.w.len() < w as usize {
            self.w.resize(w as usize, Register::new());
        }
        if self.d.len() < d as usize {
            self.d.resize(d as usize, Register::new());
        }
        if self.p.len() < p as usize {
            self.p.resize(p as usize, 0);
        }
        if self.local.len() < (local as usize).div_ceil(4) {
            self.local.resize((local as usize).div_ceil(4), [0; LANES]);
        }
    }

    /// A register's value in one lane.
    pub(crate) fn lane(&self, frame: &Frame, register: Reg, lane: usize) -> u64 {
        match register {
            Reg::W(number) => self.w[(frame.w + number) as usize].lane(lane).into(),
            Reg::D(number) => self.d[(frame.d + number) as usize].lane(lane),
            Reg::P(number) => u64::from(self.p[(frame.p + number) as usize] >> lane & 1),
        }
    }

    /// The values of all lanes.
    pub(crate) fn lanes(&mut self, frame: &Frame, register: Reg) -> [u64; LANES] {
        match register {
            Reg::W(number) => self.w[(frame.w + number) as usize].lanes().map(u64::from),
            Reg::D(number) => *self.d[(frame.d + number) as usize].lanes(),
            Reg::P(number) => {
                let mask = self.p[(frame.p + number) as usize];
                std::array::from_fn(|lane| u64::from(mask >> lane & 1))
            }
        }
    }

    /// The value that all lanes have, if it is known to be the same.
    pub(crate) fn uniform(&self, frame: &Frame, register: Reg) -> Option<u64> {
        match register {
            Reg::W(number) => self.w[(frame.w + number) as usize].uniform().map(u64::from),
            Reg::D(number) => self.d[(frame.d + number) as usize].uniform(),
            Reg::P(number) => match self.p[(frame.p + number) as usize] {
                0 => Some(0),
                u32::MAX => Some(1),
                _ => None,
            },
        }
    }

    /// Gives these lanes their values; `all` if the other lanes do not matter.
    pub(crate) fn set_lanes(
        &mut self,
        frame: &Frame,
        register: Reg,
        values: &[u64; LANES],
        mask: u32,
        all: bool,
    ) {
        match register {
            Reg::W(number) => {
                put(&mut self.w[(frame.w + number) as usize], &values.map(|value| value as u32), mask, all)
            }
            Reg::D(number) => put(&mut self.d[(frame.d + number) as usize], values, mask, all),
            Reg::P(number) => {
                let bits = (0..LANES).fold(0, |bits, lane| bits | (values[lane] as u32 & 1) << lane);
                self.set_predicate(frame, number, bits, mask);
            }
        }
    }

    /// Gives these lanes one value.
    pub(crate) fn set_uniform(&mut self, frame: &Frame, register: Reg, value: u64, mask: u32, all: bool) {
        match register {
            Reg::W(number) => {
                put_affine(
                    &mut self.w[(frame.w + number) as usize],
                    Affine::uniform(value as u32),
                    mask,
                    all,
                );
            }
            Reg::D(number) => {
                put_affine(&mut self.d[(frame.d + number) as usize], Affine::uniform(value), mask, all)
            }
            Reg::P(number) => {
                self.set_predicate(frame, number, if value & 1 == 1 { u32::MAX } else { 0 }, mask);
            }
        }
    }

    #[inline(always)]
    pub(crate) fn set_predicate(&mut self, frame: &Frame, number: u32, bits: u32, mask: u32) {
        let predicate = &mut self.p[(frame.p + number) as usize];
        *predicate = *predicate & !mask | bits & mask;
    }
}

#[inline(always)]
pub(crate) fn put<T: Word>(register: &mut Register<T>, values: &[T; LANES], mask: u32, all: bool) {
    if all {
        register.set(values);
    } else {
        register.set_some(values, mask);
    }
}

#[inline(always)]
pub(crate) fn put_affine<T: Word>(register: &mut Register<T>, form: Affine<T>, mask: u32, all: bool) {
    if all {
        register.set_affine(form);
    } else {
        register.set_some(&form.lanes(), mask);
    }
}
