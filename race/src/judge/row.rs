//! A warp's access, kept until the barrier that settles it.

use super::access::{Addresses, At, Epoch, How, LANES, WarpAccess, Written};
use crate::schedule::lanes;

/// No vector of lanes belongs to the row.
const NONE: u32 = u32::MAX;

/// A warp's access. Its addresses and values stand in [`Rows`], if it has any that are not affine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) at: At,
    pub(super) base: u64,
    pub(super) stride: i64,
    pub(super) mask: u32,
    /// The clock of the warp's lanes.
    pub(super) clock: u32,
    pub(super) object: u32,
    pub(super) size: u32,
    pub(super) warp: u16,
    pub(super) how: How,
    /// Lanes that read what nothing had written when they read it.
    pub(super) early: u32,
    each: u32,
    values: Values,
}

/// What a row writes.
#[derive(Clone, Copy, Debug)]
enum Values {
    Affine(u32, u32),
    /// Where in [`Rows`].
    Words(u32),
    Each(u32),
}

impl Row {
    /// Do neighbouring lanes access neighbouring elements, without a gap in the mask; or all lanes one element, and
    /// only read it? Such rows are compared as intervals.
    #[inline(always)]
    pub(super) fn is_interval(&self) -> bool {
        if self.each != NONE {
            return false;
        }
        let size = i64::from(self.size);
        let run = self.mask >> self.mask.trailing_zeros();
        (self.stride == 0 && !self.how.writes)
            || run & run.wrapping_add(1) == 0 && (self.stride == size || self.stride == -size)
    }

    /// The first byte and the one behind the last, of an interval.
    #[inline(always)]
    pub(super) fn extent(&self) -> (u64, u64) {
        let first = self.mask.trailing_zeros();
        let last = 31 - self.mask.leading_zeros();
        let at = |lane: u32| self.base.wrapping_add_signed(self.stride * i64::from(lane));
        let (a, b) = (at(first), at(last));
        (a.min(b), a.max(b) + u64::from(self.size))
    }

    /// The lane of an interval that accesses this element.
    pub(super) fn lane_at(&self, address: u64) -> u32 {
        (address.wrapping_sub(self.base) as i64 / self.stride) as u32
    }

    /// The linear thread index of a lane.
    pub(super) fn thread(&self, lane: u32) -> u16 {
        self.warp * LANES as u16 + lane as u16
    }

    pub(super) fn epoch(&self, lane: u32) -> Epoch {
        Epoch { thread: self.thread(lane), clock: self.clock, at: self.at, how: self.how }
    }

    pub(super) fn lanes(&self) -> impl Iterator<Item = u32> + use<> {
        lanes(self.mask)
    }
}

/// The rows since the last barrier of the block.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) all: Vec<Row>,
    vectors: Vec<[u64; LANES]>,
    words: Vec<[u32; LANES]>,
}

impl Rows {
    /// Adds the row of an access, whose vectors are kept here.
    #[inline(always)]
    pub(super) fn push(&mut self, access: &WarpAccess<'_>, clock: u32, early: u32) -> &Row {
        let (base, stride, each) = match access.addresses {
            Addresses::Affine { base, stride } => (base, stride, NONE),
            Addresses::Each(addresses) => (0, 0, self.keep(addresses)),
        };
        let values = match access.values {
            Written::Nothing => Values::Affine(0, 0),
            Written::Affine(base, stride) => Values::Affine(base, stride),
            Written::Words(values) => {
                self.words.push(*values);
                Values::Words(self.words.len() as u32 - 1)
            }
            Written::Each(values) => Values::Each(self.keep(values)),
        };
        let at = self.all.len();
        self.all.push(Row {
            at: access.at,
            base,
            stride,
            mask: access.mask,
            clock,
            object: access.object,
            size: access.size,
            warp: access.warp as u16,
            how: access.how,
            early,
            each,
            values,
        });
        &self.all[at]
    }

    fn keep(&mut self, vector: &[u64; LANES]) -> u32 {
        self.vectors.push(*vector);
        self.vectors.len() as u32 - 1
    }

    pub(super) fn address(&self, row: &Row, lane: u32) -> u64 {
        match self.vectors.get(row.each as usize) {
            Some(addresses) => addresses[lane as usize],
            None => row.base.wrapping_add_signed(row.stride * i64::from(lane)),
        }
    }

    /// What a lane wrote.
    pub(super) fn value(&self, row: &Row, lane: u32) -> u64 {
        match row.values {
            Values::Affine(base, stride) => u64::from(base.wrapping_add(stride.wrapping_mul(lane))),
            Values::Words(at) => self.words[at as usize][lane as usize].into(),
            Values::Each(at) => self.vectors[at as usize][lane as usize],
        }
    }

    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.vectors.clear();
        self.words.clear();
    }
}
