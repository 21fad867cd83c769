//! What compute-sanitizer found, as a table of our own.

use tabled::builder::Builder;
use tabled::settings::Style;

use super::expected::{Verdict, got};
use super::output::{Fault, Output, Race};
use super::{Judged, Tool};

/// A line for each finding, and one for each launch without any.
pub(super) fn table(tool: Tool, judged: &[Judged]) -> String {
    let mut table = Builder::default();
    let head: &[&str] = match tool {
        Tool::Racecheck => &["kernel", "block", "race", "severity", "bytes", "between", "and"],
        Tool::Synccheck | Tool::Memcheck => &["kernel", "block", "finding", "threads", "at"],
    };
    table.push_record(head.iter().copied());
    let columns = head.len();
    for Judged { name, block, output, .. } in judged {
        let races = output.races.iter().map(race_cells);
        let faults = output.faults.iter().map(|fault| fault_cells(tool, fault));
        let mut findings: Vec<Vec<String>> = races.chain(faults).collect();
        if findings.is_empty() {
            findings.push(vec!["none".to_owned()]);
        }
        for mut cells in findings {
            cells.splice(0..0, [name.clone(), block.to_string()]);
            cells.resize(columns, "-".to_owned());
            table.push_record(cells);
        }
    }
    table.build().with(Style::psql()).to_string()
}

fn race_cells(race: &Race) -> Vec<String> {
    let kinds: Vec<_> = race.kinds.iter().map(ToString::to_string).collect();
    // Without a single hazard to go by, two writes are clear, and the rest is not.
    let kind = match (kinds.is_empty(), race.first.writes && race.second.writes) {
        (false, _) => kinds.join("+"),
        (true, true) => "WAW".to_owned(),
        (true, false) => "RAW or WAR".to_owned(),
    };
    vec![
        kind,
        race.severity.to_string(),
        race.hazards.to_string(),
        race.first.to_string(),
        race.second.to_string(),
    ]
}

fn fault_cells(tool: Tool, fault: &Fault) -> Vec<String> {
    let at = fault.place.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
    let what = fault.what.clone();
    match tool {
        Tool::Racecheck => vec![what, "error".to_owned(), "-".to_owned(), at],
        Tool::Synccheck | Tool::Memcheck => vec![what, fault.times.to_string(), at],
    }
}

/// A line for each launch whose verdict is not the expected one.
pub(super) fn surprises(tool: Tool, judged: &[Judged]) -> Vec<String> {
    let surprise = |launch: &Judged| {
        let wanted = word(launch.wanted?);
        let got = said(&launch.output);
        (got != wanted).then(|| {
            format!(
                "NOT AS EXPECTED: {} of {}, {} threads a block: wanted {wanted}, got {got}",
                tool.name(),
                launch.name,
                launch.block,
            )
        })
    };
    judged.iter().filter_map(surprise).collect()
}

/// The verdict in a word or two.
pub(super) fn said(output: &Output) -> String {
    let got = got(output);
    // Its own count is a second witness, should it word a finding in a way not known here.
    if got.is_none() && output.found > 0 {
        return "findings in words that this program does not know".to_owned();
    }
    word(got)
}

fn word(verdict: Verdict) -> String {
    verdict.map_or_else(|| "no finding".to_owned(), |severity| severity.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::expected;
    use super::super::output::parse;
    use super::super::subject::Kernel;
    use super::*;

    fn judged(tool: Tool, kernel: Kernel, block: u32, text: &str) -> Judged {
        let output = parse(text).expect("it has a summary");
        let wanted = Some(expected::verdict(tool, kernel, block));
        Judged { name: kernel.name().to_owned(), block, output, wanted }
    }

    const CLEAN: &str = include_str!("fixtures/racecheck-clean.txt");

    #[test]
    fn the_expected_races_are_no_surprise() {
        let judged = [
            judged(Tool::Racecheck, Kernel::Racy, 32, include_str!("fixtures/racecheck-racy-32.txt")),
            judged(Tool::Racecheck, Kernel::Racy, 64, include_str!("fixtures/racecheck-racy-64.txt")),
            judged(Tool::Racecheck, Kernel::Synced, 64, CLEAN),
        ];
        assert_eq!(surprises(Tool::Racecheck, &judged), [""; 0]);
        let table = table(Tool::Racecheck, &judged);
        let line =
            table.lines().find(|line| line.contains("| 64 ") && line.contains("racy")).expect("a line");
        for part in
            ["RAW", "error", "1051020", "write reverse_tile_racy.rs:33", "read reverse_tile_racy.rs:37"]
        {
            assert!(line.contains(part), "{part} is not in {line}");
        }
        assert!(table.lines().any(|line| line.contains("synced") && line.contains("none")), "{table}");
    }

    #[test]
    fn a_race_that_is_not_found_is_a_surprise() {
        let lines = surprises(Tool::Racecheck, &[judged(Tool::Racecheck, Kernel::Racy, 64, CLEAN)]);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].ends_with("64 threads a block: wanted error, got no finding"), "{}", lines[0]);
    }

    #[test]
    fn a_divergent_barrier_is_a_surprise() {
        let text = include_str!("fixtures/synccheck-divergent.txt");
        let judged = [judged(Tool::Synccheck, Kernel::Synced, 32, text)];
        assert_eq!(surprises(Tool::Synccheck, &judged).len(), 1);
        assert!(table(Tool::Synccheck, &judged).contains("split_barrier.rs:32"));
    }

    #[test]
    fn a_finding_that_cannot_be_read_is_not_taken_for_none() {
        let text = "========= Something new\n========= ERROR SUMMARY: 1 error\n";
        assert_eq!(surprises(Tool::Synccheck, &[judged(Tool::Synccheck, Kernel::Synced, 32, text)]).len(), 1);
    }
}
