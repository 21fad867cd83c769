//! Two accesses that nothing orders, as a report names them.

use crate::limits::WARP;
use crate::place::Place;
use crate::site::Site;

/// The order in which the program, as written, makes the two accesses of a hazard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Read after write.
    Raw,
    /// Write after read.
    War,
    /// Write after write.
    Waw,
}

impl Kind {
    /// The name that compute-sanitizer's racecheck uses too.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Raw => "RAW",
            Self::War => "WAR",
            Self::Waw => "WAW",
        }
    }
}

/// How bad a hazard is: the three levels of compute-sanitizer's racecheck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Both accesses write the same value.
    Info,
    /// A read and a write inside one warp: it usually gives the expected answer, but lanes have not
    /// been in lockstep since compute capability 7.0.
    Warning,
    /// Across warps, or different values written to one cell.
    Error,
}

impl Level {
    /// The level's name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One side of a hazard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Party {
    /// The thread, linear in its block.
    pub thread: u32,
    /// The block, linear in the grid.
    pub block: u64,
    /// Trips of the loops around, outermost first, from 0.
    pub trips: Vec<u32>,
    /// The access in the source.
    pub site: Site,
    /// Whether it writes.
    pub writes: bool,
}

impl Party {
    /// The warp, counted in its block.
    #[must_use]
    pub fn warp(&self) -> u32 {
        self.thread / WARP as u32
    }
}

/// Accesses that nothing orders, by source line: every pair of the same two lines, kind and level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hazard {
    /// Which of the two accesses comes first in the program as written.
    pub kind: Kind,
    /// How bad it is.
    pub level: Level,
    /// How many bytes were hit, counted as racecheck counts: an access of 4 bytes is 4 hazards.
    pub bytes: u64,
    /// The cell of the first pair found in the lowest block.
    pub place: Place,
    /// The access of that pair that comes first in the program.
    pub first: Party,
    /// The other one.
    pub second: Party,
    /// One of the two exited above this barrier, which the other took part in before its access: the
    /// barrier does not order them.
    pub exited_above: Option<Site>,
}
