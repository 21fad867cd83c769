//! What changed between two versions of the file.

use super::measured::{Measured, sizes};
use super::progress::Version;

/// The lines that went and came, and what became of the answers; `None` if nothing changed.
pub(super) fn changes(before: &Version, source: &str, measured: &Measured) -> Option<String> {
    let lines = changed_lines(&before.source, source);
    if lines.is_empty() {
        return None;
    }
    let (old, new) = (before.measured.failed(), measured.failed());
    let outcome = if old == new {
        format!("wrong block sizes: {} as before", sizes(&old))
    } else {
        format!("wrong block sizes: {} before, {} now", sizes(&old), sizes(&new))
    };
    Some(format!("since the last run:\n{}\n  {outcome}", lines.join("\n")))
}

/// Lines with their numbers, by the longest common subsequence.
fn changed_lines(before: &str, now: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), now.lines().collect());
    // common[i][j]: how many lines old[i..] and new[j..] have in common, in order.
    let mut common = vec![vec![0_usize; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i][j] = if old[i] == new[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j, mut changed) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || (i < old.len() && common[i + 1][j] >= common[i][j + 1]) {
            changed.push(format!("  - {:>3} {}", i + 1, old[i]));
            i += 1;
        } else {
            changed.push(format!("  + {:>3} {}", j + 1, new[j]));
            j += 1;
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::changed_lines;

    #[test]
    fn a_moved_line_goes_and_comes() {
        assert_eq!(changed_lines("a\nb\nc\n", "a\nc\nb\n"), ["  -   2 b", "  +   3 b"]);
        assert_eq!(changed_lines("a\n", "a\n"), [""; 0]);
        assert_eq!(changed_lines("", "a\n"), ["  +   1 a"]);
    }
}
