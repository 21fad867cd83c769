//! Several measurements of one thing.

use std::fmt;
use std::time::Instant;

use anyhow::Result;
use serde::Serialize;

/// The least, the middle and the most of several measurements.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Spread {
    min: f64,
    median: f64,
    max: f64,
}

impl Spread {
    /// Of at least one measurement.
    pub(crate) fn of(measured: impl IntoIterator<Item = f64>) -> Self {
        let mut measured: Vec<f64> = measured.into_iter().collect();
        measured.sort_by(f64::total_cmp);
        let (lower, upper) = (measured[(measured.len() - 1) / 2], measured[measured.len() / 2]);
        Self { min: measured[0], median: f64::midpoint(lower, upper), max: measured[measured.len() - 1] }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { min, median, max } = self;
        // Three digits that count, the same number behind the point in all three.
        let before = if *median > 0.0 { median.log10().floor() as i32 } else { 2 };
        let digits = usize::try_from(2 - before).unwrap_or(0);
        f.pad(&format!("{median:.digits$} ({min:.digits$}-{max:.digits$})"))
    }
}

/// How many seconds something takes, and what comes of it.
pub(crate) fn seconds<T>(work: impl FnOnce() -> Result<T>) -> Result<(f64, T)> {
    let start = Instant::now();
    let done = work()?;
    Ok((start.elapsed().as_secs_f64(), done))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(Spread::of([3.0, 1.0, 2.0]), Spread { min: 1.0, median: 2.0, max: 3.0 });
        assert_eq!(Spread::of([4.0, 1.0, 2.0, 3.0]), Spread { min: 1.0, median: 2.5, max: 4.0 });
    }

    #[test]
    fn three_digits_count() {
        assert_eq!(Spread::of([1234.5]).to_string(), "1234 (1234-1234)");
        assert_eq!(Spread::of([12.345, 99.0, 12.3]).to_string(), "12.3 (12.3-99.0)");
        assert_eq!(Spread::of([0.012_345]).to_string(), "0.0123 (0.0123-0.0123)");
        assert_eq!(Spread::of([0.0]).to_string(), "0 (0-0)");
    }
}
