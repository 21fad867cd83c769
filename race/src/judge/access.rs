//! What an engine tells of an access: which lanes of which warp, from where, to which bytes.

use std::cmp::Ordering;

use crate::{Place, Site};

/// Lanes of a warp.
pub(super) const LANES: usize = 32;

/// Who a strong operation synchronises with (PTX ISA, "Scope").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// `.cta`: the threads of one block.
    Block,
    /// `.gpu`, and `.cluster`, which is within it.
    Device,
    /// `.sys`.
    System,
}

/// What the judged program looks like: the engine's numbers for instructions and control paths.
pub trait Program {
    /// Which of two accesses comes first in the program as written: trips of common loops decide, then the position.
    fn order(&self, a: At, b: At) -> Ordering;
    /// The place in the source.
    fn site(&self, instruction: u32) -> Site;
    /// The trips of the loops around, outermost first.
    fn trips(&self, path: u32) -> Vec<u32>;
    /// The element of an array or buffer that an access of so many bytes went to.
    fn place(&self, address: u64, size: u32) -> Place;
}

/// An instruction, reached on a control path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct At {
    /// The instruction's number.
    pub instruction: u32,
    /// The path's.
    pub path: u32,
}

/// How an access takes part in races.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct How {
    /// It writes, or reads and writes.
    pub writes: bool,
    /// An atomic or another strong operation, with its scope. Two of these whose scopes cover both threads do not
    /// race (PTX ISA, "Morally Strong Operations").
    pub strong: Option<Scope>,
}

impl How {
    /// A plain read.
    pub const READ: Self = Self { writes: false, strong: None };
    /// A plain write.
    pub const WRITE: Self = Self { writes: true, strong: None };

    /// Neither races with the other, because both are strong enough for two threads of one block, or of two.
    pub(super) fn are_strong(self, other: Self, one_block: bool) -> bool {
        let covers = |scope: Scope| one_block || scope >= Scope::Device;
        matches!((self.strong, other.strong), (Some(a), Some(b)) if covers(a) && covers(b))
    }
}

/// What a strong access orders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sync {
    /// It reads, whether it writes or not.
    pub reads: bool,
    /// What the release that it reads from has seen happens before what comes next.
    pub acquires: bool,
    /// Who reads it has seen what came before.
    pub releases: bool,
}

/// The addresses that the lanes of a warp access.
#[derive(Clone, Copy, Debug)]
pub enum Addresses<'a> {
    /// Lane `l` accesses `base + l * stride`.
    Affine {
        /// Of lane 0, whether it takes part or not.
        base: u64,
        /// From lane to lane, in bytes.
        stride: i64,
    },
    /// Each its own.
    Each(&'a [u64; LANES]),
}

/// What lanes write, as far as it takes to tell whether two wrote the same.
#[derive(Clone, Copy, Debug)]
pub enum Written<'a> {
    /// A read; or an atomic, whose values do not matter.
    Nothing,
    /// Lane `l` writes `base + l * stride`, modulo 2^32.
    Affine(u32, u32),
    /// Up to 32 bits each.
    Words(&'a [u32; LANES]),
    /// Up to 64 bits each; a digest of what is larger.
    Each(&'a [u64; LANES]),
}

/// One access by lanes of a warp.
#[derive(Clone, Copy, Debug)]
pub struct WarpAccess<'a> {
    /// The instruction and its control path, the same for all lanes.
    pub at: At,
    /// The warp, counted in its block.
    pub warp: u32,
    /// The lanes that take part; at least one.
    pub mask: u32,
    /// Generic addresses: those of different arrays and buffers differ. Each is a multiple of `size`.
    pub addresses: Addresses<'a>,
    /// Bytes that each lane accesses: a power of two, at most 32.
    pub size: u32,
    /// Reads or writes.
    pub how: How,
    /// The array or buffer, by a number below the judge's count of them; 0 is shared memory.
    pub object: u32,
    /// Of a strong access, what it orders.
    pub sync: Sync,
    /// What they write.
    pub values: Written<'a>,
}

/// A thread's access to bytes, as it is compared with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Epoch {
    /// Linear in its block.
    pub(super) thread: u16,
    /// The thread's clock.
    pub(super) clock: u32,
    pub(super) at: At,
    pub(super) how: How,
}

impl Epoch {
    pub(super) fn warp(&self) -> usize {
        usize::from(self.thread) / LANES
    }
}
