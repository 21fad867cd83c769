//! What compute-sanitizer should find.

use super::Tool;
use super::output::{Output, Severity};
use super::subject::Kernel;

/// What a checker says of a launch, in one word.
pub(super) type Verdict = Option<Severity>;

const WARP: u32 = 32;

/// The verdict that a kernel has to get: the race is there at every block size, whatever its answer, and
/// nothing else is.
pub(super) fn verdict(tool: Tool, kernel: Kernel, block: u32) -> Verdict {
    match (tool, kernel) {
        // Lanes of one warp usually step together; that is no order, but it is less of a danger.
        (Tool::Racecheck, Kernel::Racy) if block <= WARP => Some(Severity::Warning),
        (Tool::Racecheck, Kernel::Racy) => Some(Severity::Error),
        _ => None,
    }
}

/// The verdict that it got: the worst of all it found.
pub(super) fn got(output: &Output) -> Verdict {
    let races = output.races.iter().map(|race| race.severity);
    races.chain(output.faults.iter().map(|_| Severity::Error)).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_race_is_expected_at_every_size_and_nothing_else_is() {
        assert_eq!(verdict(Tool::Racecheck, Kernel::Racy, 32), Some(Severity::Warning));
        assert_eq!(verdict(Tool::Racecheck, Kernel::Racy, 64), Some(Severity::Error));
        assert_eq!(verdict(Tool::Racecheck, Kernel::Synced, 256), None);
        assert_eq!(verdict(Tool::Racecheck, Kernel::Prefix, 256), None);
        assert_eq!(verdict(Tool::Synccheck, Kernel::Racy, 64), None);
        assert_eq!(verdict(Tool::Memcheck, Kernel::Racy, 64), None);
    }
}
