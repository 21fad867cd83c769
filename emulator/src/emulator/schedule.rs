//! Which lanes run next.

use super::order::WARP;

/// How the emulator interleaves the threads of a block. Blocks do not see each other's order.
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
}

/// The lanes of one warp, as bit masks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Warp {
    /// Not exited.
    pub(crate) alive: u32,
    /// Can run.
    pub(crate) ready: u32,
    /// Wait at a block barrier.
    pub(crate) at_barrier: u32,
    /// Wait at a `sync_warp`.
    pub(crate) at_warp: u32,
}

/// Takes the decisions for one block after the other, each block from a seed of its own.
#[derive(Debug)]
pub(crate) struct Scheduler {
    policy: Policy,
    seed: u64,
    random: fastrand::Rng,
}

impl Scheduler {
    pub(crate) fn new(policy: Policy, seed: u64) -> Self {
        Self { policy, seed, random: fastrand::Rng::with_seed(seed) }
    }

    /// The order within a block depends on the seed and the block alone, not on which worker runs it.
    pub(crate) fn begin_block(&mut self, block: u64) {
        self.random.seed(self.seed ^ (block + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }

    /// The next lanes to run: a warp of `ready_warps` and some of its ready lanes. Each runs up to its
    /// next access.
    #[inline]
    pub(crate) fn pick(&mut self, ready_warps: u32, warps: &[Warp]) -> (usize, u32) {
        let warp = self.any(ready_warps);
        let ready = warps[warp].ready;
        let lanes = match self.policy {
            Policy::Lockstep => ready,
            Policy::Independent => match ready & self.random.u32(..) {
                0 => ready & ready.wrapping_neg(),
                some => some,
            },
            Policy::Random => 1 << self.any(ready),
        };
        (warp, lanes)
    }

    /// The position of a random bit of `set`, which must not be empty.
    #[inline]
    fn any(&mut self, set: u32) -> usize {
        let mut rest = set;
        let count = set.count_ones();
        if count > 1 {
            for _ in 0..self.random.u32(..count) {
                rest &= rest - 1;
            }
        }
        rest.trailing_zeros() as usize
    }
}

/// The linear thread indices of these lanes of a warp.
pub(crate) fn threads(warp: usize, lanes: u32) -> impl Iterator<Item = u16> {
    let mut rest = lanes;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros() as usize;
        if rest == 0 {
            return None;
        }
        rest &= rest - 1;
        Some((warp * WARP + lane) as u16)
    })
}
