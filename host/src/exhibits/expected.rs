//! What the checks must say, written down from CUDA's rules and not from a run.

use cuda_std::emulator::{Kind, Level, Report};

use crate::verdict;

/// What the race column must say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Race {
    /// Every two accesses to a cell are ordered, or both read.
    None,
    /// Hazards of one kind, the worst of this level.
    Found(Kind, Level),
    /// Nothing is ordered in a documented way.
    NotJudged,
}

/// The verdict on one launch. Whether the answer comes out right is no part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Data races.
    pub race: Race,
    /// Some thread that lives is not at the barrier that others wait at.
    pub divergent: bool,
    /// A cell is read that nothing has written.
    pub uninitialised: bool,
    /// Something is written to a copy of a cell.
    pub lost: bool,
}

/// Nothing is wrong, and the answer is defined.
pub(super) const CLEAN: Expected =
    Expected { race: Race::None, divergent: false, uninitialised: false, lost: false };

/// A barrier that not every living thread of the block comes to.
pub(super) const DIVERGENT: Expected = Expected { race: Race::NotJudged, divergent: true, ..CLEAN };

/// A read of a cell that nothing has written, and nothing else.
pub(super) const UNINITIALISED: Expected = Expected { uninitialised: true, ..CLEAN };

/// Writes that go to a copy, and so reads of what was never written.
pub(super) const LOST: Expected = Expected { lost: true, ..UNINITIALISED };

/// A data race, and nothing else.
pub(super) const fn race(kind: Kind, level: Level) -> Expected {
    Expected { race: Race::Found(kind, level), ..CLEAN }
}

impl Expected {
    /// Whether the kernel is right, and its answer therefore defined.
    #[must_use]
    pub fn is_clean(self) -> bool {
        self == CLEAN
    }

    /// Whether the checks say what they must.
    #[must_use]
    pub fn holds(self, report: &Report) -> bool {
        let race = match self.race {
            Race::None | Race::NotJudged => report.hazards.is_empty(),
            Race::Found(kind, level) => {
                report.race() == Some(level) && report.hazards.iter().all(|hazard| hazard.kind == kind)
            }
        };
        race && self.divergent == report.divergence.is_some()
            && self.uninitialised != report.uninitialised.is_empty()
            && self.lost != report.lost_writes.is_empty()
            && report.warp_misuse.is_empty()
            && report.fault.is_none()
    }

    /// The columns in words: race, barrier, memory.
    #[must_use]
    pub fn words(self) -> [String; 3] {
        let race = match self.race {
            Race::None => "none".into(),
            Race::NotJudged => "not judged".into(),
            Race::Found(kind, level) => format!("{} hazard, {}", kind.name(), level.name()),
        };
        [race, verdict::barrier(self.divergent).into(), verdict::memory(self.uninitialised, self.lost).into()]
    }
}
