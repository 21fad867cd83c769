//! Reading what compute-sanitizer writes.

use std::fmt;

/// What it wrote about one launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Output {
    pub(super) races: Vec<Race>,
    pub(super) faults: Vec<Fault>,
    /// How many findings it counts itself.
    pub(super) found: u64,
}

/// Two places in a kernel that race with each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Race {
    pub(super) severity: Severity,
    pub(super) first: Access,
    pub(super) second: Access,
    /// RAW, WAR or WAW; more than one if both orders were seen, none if no single hazard was shown.
    pub(super) kinds: Vec<Kind>,
    /// It counts bytes.
    pub(super) hazards: u64,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Severity {
    Info,
    Warning,
    Error,
}

/// What a hazard endangers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Read after write.
    Raw,
    /// Write after read.
    War,
    /// Write after write.
    Waw,
}

/// One side of a race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) writes: bool,
    pub(super) place: Place,
}

/// Anything else that it finds: a barrier not reached alike, an access out of bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) what: String,
    pub(super) place: Option<Place>,
    pub(super) times: u64,
}

/// A place in a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// File and line, if the PTX has them.
    pub(super) source: Option<(String, u32)>,
    /// Otherwise this: the function and the instruction's address in it.
    pub(super) code: String,
}

/// Reads its output. `None` if it has no summary: then it did not come to the end.
pub(super) fn parse(text: &str) -> Option<Output> {
    let lines: Vec<&str> =
        text.lines().filter_map(|line| line.trim_start().strip_prefix("=========")).map(str::trim).collect();
    let mut output =
        Output { found: lines.iter().rev().find_map(|line| summary(line))?, ..Output::default() };
    let mut kinds: Vec<(Kind, Place, Place)> = Vec::new();
    let mut lines = lines.into_iter().peekable();
    while let Some(line) = lines.next() {
        if let Some((severity, first)) = race(line) {
            // "and … access at …", once for each place that races with the first.
            while let Some((second, hazards)) = lines.peek().and_then(|line| partner(line)) {
                output.races.push(Race {
                    severity,
                    first: first.clone(),
                    second,
                    kinds: Vec::new(),
                    hazards,
                });
                lines.next();
            }
        } else if let Some(kind) = hazard(line) {
            let mut side = || lines.next_if(|line| line.contains(" Thread (")).and_then(at);
            if let (Some(first), Some(second)) = (side(), side()) {
                kinds.push((kind, first, second));
            }
        } else if let Some(place) =
            lines.peek().filter(|line| line.starts_with("at ")).and_then(|line| at(line))
        {
            lines.next();
            output.fault(line, Some(place));
        } else if line.starts_with("Program hit ") {
            output.fault(line, None);
        }
    }
    for race in &mut output.races {
        let (a, b) = (&race.first.place, &race.second.place);
        let same = |x: &Place, y: &Place| (x == a && y == b) || (x == b && y == a);
        race.kinds = kinds.iter().filter(|(_, x, y)| same(x, y)).map(|(kind, ..)| *kind).collect();
        race.kinds.sort_unstable();
        race.kinds.dedup();
    }
    Some(output)
}

impl Output {
    /// One fault at one place is one finding, however many threads have it.
    fn fault(&mut self, what: &str, place: Option<Place>) {
        match self.faults.iter_mut().find(|fault| fault.what == what && fault.place == place) {
            Some(fault) => fault.times += 1,
            None => self.faults.push(Fault { what: what.to_owned(), place, times: 1 }),
        }
    }
}

/// `RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)` or `ERROR SUMMARY: 0 errors`.
fn summary(line: &str) -> Option<u64> {
    let (tool, rest) = line.split_once(" SUMMARY: ")?;
    // There are others: "LEAK SUMMARY".
    matches!(tool, "RACECHECK" | "ERROR").then_some(())?;
    rest.split_whitespace().next()?.parse().ok()
}

/// `Error: Race reported between Write access at …`
fn race(line: &str) -> Option<(Severity, Access)> {
    let (before, rest) = line.split_once("Race reported between ")?;
    Some((severity(before)?, access(rest)?))
}

/// `and Read access at … [508 hazards]`
fn partner(line: &str) -> Option<(Access, u64)> {
    let (rest, count) = line.strip_prefix("and ")?.rsplit_once(" [")?;
    let count = count.split_whitespace().next()?.replace(',', "").parse().ok()?;
    Some((access(rest)?, count))
}

/// `Warning: (Warp Level Programming) Potential RAW hazard detected at __shared__ 0x8c in block (0,0,0) :`
fn hazard(line: &str) -> Option<Kind> {
    let (_, rest) = line.split_once("Potential ")?;
    match rest.split_once(" hazard detected at")?.0 {
        "RAW" => Some(Kind::Raw),
        "WAR" => Some(Kind::War),
        "WAW" => Some(Kind::Waw),
        _ => None,
    }
}

/// `Error: ` or `WARN:(Warp Level Programming) `, as older versions have it.
fn severity(before: &str) -> Option<Severity> {
    match before.split(':').next()?.trim().to_ascii_lowercase().as_str() {
        "error" => Some(Severity::Error),
        "warning" | "warn" => Some(Severity::Warning),
        "info" => Some(Severity::Info),
        _ => None,
    }
}

/// `Write access at …`
fn access(text: &str) -> Option<Access> {
    let (kind, place) = text.split_once(" access at ")?;
    Some(Access { writes: kind == "Write", place: place_of(place) })
}

/// `Write Thread (35,0,0) at …` and `at …`
fn at(line: &str) -> Option<Place> {
    let place = line.strip_prefix("at ").or_else(|| Some(line.split_once(") at ")?.1))?;
    Some(place_of(place))
}

/// `kernel(float *)+0x150 in folder/file.rs:33`, or in older versions `0x150 in folder/file.cu:33:kernel(float *)`;
/// without lines in the PTX, `kernel+0x150`.
fn place_of(text: &str) -> Place {
    let Some((code, source)) = text.trim().rsplit_once(" in ") else {
        return Place { source: None, code: text.trim().to_owned() };
    };
    // The line is the first number between colons; a path may begin with a drive.
    let line = source.match_indices(':').find_map(|(colon, _)| {
        let number = source[colon + 1..].split(':').next()?.parse().ok()?;
        Some((source[..colon].to_owned(), number))
    });
    let code = if line.is_none() { text.trim() } else { code };
    Place { source: line, code: code.to_owned() }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Some((file, line)) => write!(f, "{}:{line}", file.rsplit(['/', '\\']).next().unwrap_or(file)),
            None => f.write_str(&self.code),
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", if self.writes { "write" } else { "read" }, self.place)
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Raw => "RAW",
            Self::War => "WAR",
            Self::Waw => "WAW",
        })
    }
}

// The fixtures were recorded on an NVIDIA H200 with compute-sanitizer 2025.3; `racecheck-all.txt` has the first two
// of its 256 single hazards.
#[cfg(test)]
mod tests {
    use super::*;

    const RACY_64: &str = include_str!("fixtures/racecheck-racy-64.txt");
    const RACY_32: &str = include_str!("fixtures/racecheck-racy-32.txt");
    const ALL: &str = include_str!("fixtures/racecheck-all.txt");
    const CLEAN: &str = include_str!("fixtures/racecheck-clean.txt");
    const DIVERGENT: &str = include_str!("fixtures/synccheck-divergent.txt");

    #[track_caller]
    fn only_race(text: &str) -> Race {
        let output = parse(text).expect("it has a summary");
        assert_eq!((output.races.len(), &*output.faults), (1, &[][..]));
        output.races[0].clone()
    }

    #[test]
    fn a_race_across_warps_is_an_error() {
        let race = only_race(RACY_64);
        assert_eq!((race.severity, race.hazards), (Severity::Error, 1_051_020));
        assert_eq!(race.kinds, [], "the analysis does not tell them");
        assert_eq!(race.first.to_string(), "write reverse_tile_racy.rs:33");
        assert_eq!(race.second.to_string(), "read reverse_tile_racy.rs:37");
    }

    #[test]
    fn a_race_within_a_warp_is_a_warning() {
        let race = only_race(RACY_32);
        assert_eq!((race.severity, race.hazards), (Severity::Warning, 1_051_020));
    }

    #[test]
    fn single_hazards_have_kinds() {
        let race = only_race(ALL);
        assert_eq!((race.severity, race.hazards), (Severity::Error, 256));
        assert_eq!(race.kinds, [Kind::Raw]);
    }

    #[test]
    fn nothing_found_is_a_verdict_too() {
        assert_eq!(parse(CLEAN), Some(Output::default()));
        assert_eq!(
            parse("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"),
            Some(Output::default())
        );
    }

    #[test]
    fn without_a_summary_there_is_no_verdict() {
        assert_eq!(parse(""), None);
        assert_eq!(parse("========= COMPUTE-SANITIZER\nerror: no card\n"), None);
        assert_eq!(parse(RACY_64.split("RACECHECK SUMMARY").next().expect("the part before it")), None);
        assert_eq!(parse("========= LEAK SUMMARY: 0 bytes leaked in 0 allocations\n"), None);
    }

    #[test]
    fn one_place_may_race_with_several() {
        let output = parse(
            "========= Error: Race reported between Read access at k(int *)+0x100 in k.cu:20\n\
             =========     and Write access at k(int *)+0x40 in k.cu:11 [64 hazards]\n\
             =========     and Write access at k(int *)+0x80 in k.cu:12 [32 hazards]\n\
             =========\n\
             ========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n",
        )
        .expect("it has a summary");
        let told: Vec<_> = output.races.iter().map(|race| (race.second.to_string(), race.hazards)).collect();
        assert_eq!(told, [("write k.cu:11".to_owned(), 64), ("write k.cu:12".to_owned(), 32)]);
    }

    #[test]
    fn a_divergent_barrier_is_one_finding_of_many_threads() {
        let output = parse(DIVERGENT).expect("it has a summary");
        assert_eq!((output.faults.len(), output.found), (1, 29));
        let fault = &output.faults[0];
        assert_eq!((&*fault.what, fault.times), ("Barrier error detected. Divergent thread(s) in warp.", 29));
        assert_eq!(fault.place.as_ref().map(ToString::to_string), Some("split_barrier.rs:32".to_owned()));
    }

    #[test]
    fn a_failed_call_is_a_finding_without_a_place() {
        let output = parse(
            "========= Program hit CUDA_ERROR_LAUNCH_FAILED (error 719) due to \"unspecified launch failure\" on CUDA \
             API call to cuEventQuery.\n========= ERROR SUMMARY: 1 error\n",
        )
        .expect("it has a summary");
        assert_eq!((output.faults[0].place.clone(), output.found), (None, 1));
    }

    #[test]
    fn places_are_read_in_every_form() {
        let place = |text| place_of(text).to_string();
        assert_eq!(place("k(int *, int)+0x90 in /a/b/k.rs:41"), "k.rs:41");
        assert_eq!(place("0x278 in /a/b/k.cu:113:k(Matrix, Matrix)"), "k.cu:113");
        assert_eq!(place("k+0x90 in C:\\a\\k.rs:41"), "k.rs:41");
        assert_eq!(place("k+0x90"), "k+0x90");
    }
}
