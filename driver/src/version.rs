//! Versions of the driver and of PTX, and which goes with which.

use std::fmt;

/// The newest CUDA version a driver serves, as `cuDriverGetVersion` says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CudaVersion {
    /// 12 of 12.4.
    pub major: u32,
    /// 4 of 12.4.
    pub minor: u32,
}

/// The version in a PTX file's `.version` line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PtxVersion {
    /// 8 of 8.4.
    pub major: u32,
    /// 4 of 8.4.
    pub minor: u32,
}

/// A row for each CUDA version: the newest PTX that it takes, and the first driver branch that has it
/// (PTX ISA manual, release history).
const HISTORY: &[(CudaVersion, PtxVersion, u32)] = &[
    row(10, 0, 6, 3, 410),
    row(10, 1, 6, 4, 418),
    row(10, 2, 6, 5, 440),
    row(11, 0, 7, 0, 450),
    row(11, 1, 7, 1, 455),
    row(11, 2, 7, 2, 460),
    row(11, 3, 7, 3, 465),
    row(11, 4, 7, 4, 470),
    row(11, 5, 7, 5, 495),
    row(11, 6, 7, 6, 510),
    row(11, 7, 7, 7, 515),
    row(11, 8, 7, 8, 520),
    row(12, 0, 8, 0, 525),
    row(12, 1, 8, 1, 530),
    row(12, 2, 8, 2, 535),
    row(12, 3, 8, 3, 545),
    row(12, 4, 8, 4, 550),
    row(12, 5, 8, 5, 555),
    row(12, 6, 8, 5, 560),
    row(12, 7, 8, 6, 565),
    row(12, 8, 8, 7, 570),
    row(12, 9, 8, 8, 575),
    row(13, 0, 9, 0, 580),
];

const fn row(
    major: u32,
    minor: u32,
    ptx_major: u32,
    ptx_minor: u32,
    branch: u32,
) -> (CudaVersion, PtxVersion, u32) {
    (CudaVersion { major, minor }, PtxVersion { major: ptx_major, minor: ptx_minor }, branch)
}

impl CudaVersion {
    /// From the number `cuDriverGetVersion` gives: 12040 is 12.4.
    #[must_use]
    pub fn from_driver(number: i32) -> Self {
        let number = u32::try_from(number).unwrap_or(0);
        Self { major: number / 1000, minor: number % 1000 / 10 }
    }

    /// The newest PTX that this driver takes, and the driver's branch, such as 550; `None` outside the table.
    #[must_use]
    pub fn newest_ptx(self) -> Option<(PtxVersion, u32)> {
        HISTORY.iter().find(|(cuda, ..)| *cuda == self).map(|(_, ptx, branch)| (*ptx, *branch))
    }

    /// Whether this driver takes that PTX. One newer than the table may: it decides for itself.
    #[must_use]
    pub fn takes(self, ptx: PtxVersion) -> bool {
        match ptx.needs() {
            Some((needed, _)) => self >= needed,
            None => HISTORY.last().is_none_or(|(newest, ..)| self > *newest),
        }
    }
}

impl PtxVersion {
    /// The first CUDA version that takes this PTX, and its driver branch; `None` if it is newer than the
    /// table.
    #[must_use]
    pub fn needs(self) -> Option<(CudaVersion, u32)> {
        HISTORY.iter().find(|(_, ptx, _)| *ptx >= self).map(|(cuda, _, branch)| (*cuda, *branch))
    }
}

impl fmt::Display for CudaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl fmt::Display for PtxVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drivers_number_is_taken_apart() {
        assert_eq!(CudaVersion::from_driver(12040).to_string(), "12.4");
        assert_eq!(CudaVersion::from_driver(10020).to_string(), "10.2");
        assert_eq!(CudaVersion::from_driver(-1).to_string(), "0.0");
    }

    #[test]
    fn the_table_ascends() {
        assert!(HISTORY.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1 && a.2 < b.2));
    }

    #[test]
    fn a_driver_newer_than_the_table_is_left_to_judge_for_itself() {
        let (driver, ptx) = (CudaVersion { major: 14, minor: 2 }, PtxVersion { major: 9, minor: 9 });
        assert_eq!((driver.newest_ptx(), ptx.needs()), (None, None));
        assert!(driver.takes(ptx) && !CudaVersion { major: 13, minor: 0 }.takes(ptx));
    }

    #[test]
    fn ptx_between_two_rows_needs_the_next() {
        let (cuda, branch) = PtxVersion { major: 6, minor: 0 }.needs().expect("in the table");
        assert_eq!((cuda.to_string(), branch), ("10.0".into(), 410));
        // 8.5 came with CUDA 12.5, and 12.6 added nothing.
        let (cuda, branch) = PtxVersion { major: 8, minor: 5 }.needs().expect("in the table");
        assert_eq!((cuda.to_string(), branch), ("12.5".into(), 555));
    }
}
