//! What a card and compute-sanitizer say of each exhibit, read from a transcript of `evidence/exhibits.sh`, beside
//! the verdict that the emulator has to give.

use std::collections::BTreeMap;

use crate::exhibits::{EXHIBITS, Exhibit, Expected, Race};

/// What was said of one launch; empty where nothing was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Said {
    racecheck: String,
    synccheck: String,
    /// The card's answer.
    answer: String,
}

/// What was said of an exhibit at a block size.
type Transcript<'a> = BTreeMap<(&'a str, u32), Said>;

/// A row for each exhibit, and for each block size where another is said. What differs from the emulator's
/// verdict is bold.
pub(super) fn table(transcript: &str) -> String {
    let transcript = read(transcript);
    let mut text = String::from(
        "| exhibit | threads a block | race: emulator | racecheck | barrier: emulator | synccheck | \
         memory: emulator | answer on the card |\n|---|---|---|---|---|---|---|---|\n",
    );
    for exhibit in EXHIBITS {
        let mut rows: Vec<(Vec<String>, String)> = Vec::new();
        for &block in exhibit.blocks.shown() {
            let said = transcript.get(&(exhibit.name, block)).cloned().unwrap_or_default();
            let cells = cells(exhibit, block, &said);
            match rows.last_mut() {
                Some((blocks, known)) if *known == cells => blocks.push(block.to_string()),
                _ => rows.push((vec![block.to_string()], cells)),
            }
        }
        for (blocks, cells) in rows {
            text += &format!("| [{0}](exhibits.md#{0}) | {1} | {cells} |\n", exhibit.name, blocks.join(", "));
        }
    }
    text
}

fn cells(exhibit: &Exhibit, block: u32, said: &Said) -> String {
    let expected = exhibit.expected(block);
    let [race, barrier, memory] = expected.words();
    // The word for a launch without an answer to compare; transcripts before it had a dash.
    let answer = if said.answer == "-" { "ended" } else { &said.answer };
    let racecheck = beside(&said.racecheck, racecheck_agrees(expected, &said.racecheck));
    let synccheck = beside(&said.synccheck, expected.divergent == (said.synccheck != SILENT));
    // Neither of the two looks for what is wrong here.
    let memory = if memory == "ok" { memory } else { format!("**{memory}**") };
    [race, racecheck, barrier, synccheck, memory, beside(answer, true)].join(" | ")
}

/// Where there is no race, or none is judged any more, nothing is to be said of one.
fn racecheck_agrees(expected: Expected, said: &str) -> bool {
    match expected.race {
        Race::Found(_, level) => said == level.name(),
        Race::None | Race::NotJudged => said == SILENT,
    }
}

fn beside(said: &str, agrees: bool) -> String {
    match (said, agrees) {
        ("", _) => "not run".into(),
        (said, true) => said.into(),
        (said, false) => format!("**{said}**"),
    }
}

const SILENT: &str = "silent";

fn read(transcript: &str) -> Transcript<'_> {
    let mut said = Transcript::new();
    let mut page = None;
    let mut headings = Vec::new();
    let mut checked = None;
    for line in transcript.lines() {
        if let Some(title) = line.strip_prefix("--- ") {
            page = title.split(' ').next();
        } else if let Some(row) = line.strip_prefix('│') {
            let cells: Vec<_> = row.split('│').map(str::trim).collect();
            let answer = headings.iter().position(|heading| *heading == "answer");
            match (cells[0].parse(), page, answer) {
                (Ok(block), Some(name), Some(column)) => {
                    said.entry((name, block)).or_default().answer = cells[column].to_owned();
                }
                (Ok(_), ..) => {}
                (Err(_), ..) => headings = cells,
            }
        } else if let Some((tool, launch)) = check(line) {
            *verdict(&mut said, tool, launch) = "no verdict".to_owned();
            checked = Some((tool, launch));
        } else if let (Some((tool, launch)), Some(summary)) = (checked, summary(line)) {
            *verdict(&mut said, tool, launch) = summary.to_owned();
            checked = None;
        }
    }
    said
}

#[derive(Clone, Copy)]
enum Tool {
    Racecheck,
    Synccheck,
}

fn verdict<'a, 'b>(said: &'b mut Transcript<'a>, tool: Tool, launch: (&'a str, u32)) -> &'b mut String {
    let said = said.entry(launch).or_default();
    match tool {
        Tool::Racecheck => &mut said.racecheck,
        Tool::Synccheck => &mut said.synccheck,
    }
}

/// `racecheck, NAME, 32 threads a block: exit 0`
fn check(line: &str) -> Option<(Tool, (&str, u32))> {
    let mut parts = line.split(", ");
    let tool = match parts.next()? {
        "racecheck" => Tool::Racecheck,
        "synccheck" => Tool::Synccheck,
        _ => return None,
    };
    let name = parts.next()?;
    let block = parts.next()?.split_once(" threads a block")?.0.parse().ok()?;
    Some((tool, (name, block)))
}

/// `RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)` or `ERROR SUMMARY: 0 errors`, in a word.
fn summary(line: &str) -> Option<&'static str> {
    let (_, summary) = line.split_once(" SUMMARY: ")?;
    let numbers = summary.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty());
    let numbers: Vec<_> = numbers.map(|number| number.parse::<u64>().unwrap_or(u64::MAX)).collect();
    Some(match numbers[..] {
        [] => return None,
        [0, ..] => SILENT,
        [_, 0, 0] => "info",
        [_, 0, _] => "warning",
        _ => "error",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_is_read_by_its_headings() {
        let text = "\
--- odd-warp --undefined --timeout 5
│ block │   n │ answer          │ first bad │
│    96 │ 288 │ 32 of 288 wrong │ 192       │
│ block │ race              │
│    96 │ RAW hazard, error │
racecheck, odd-warp, 96 threads a block: exit 0
      1 ========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)
synccheck, odd-warp, 96 threads a block: exit 0
     96 ========= Barrier error detected. Divergent thread(s) in block.
      1 ========= ERROR SUMMARY: 96 errors
racecheck --racecheck-detect-level info, odd-warp, 96 threads a block: exit 0
      1 ========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)
synccheck, odd-warp, 32 threads a block: exit 124
";
        let said = read(text);
        let at = |block| &said[&("odd-warp", block)];
        let (race, sync) = ("warning".to_owned(), "error".to_owned());
        let answer = "32 of 288 wrong".to_owned();
        assert_eq!(*at(96), Said { racecheck: race, synccheck: sync, answer });
        assert_eq!(at(32).synccheck, "no verdict");
        let table = table(text);
        let row = table.lines().find(|line| line.starts_with("| [odd-warp]")).expect("a row");
        assert!(
            row.ends_with("RAW hazard, error | **warning** | ok | **error** | ok | 32 of 288 wrong |"),
            "{row}"
        );
        assert!(
            table.contains("| [typed-tile](exhibits.md#typed-tile) | 32, 64, 128, 256 | none | not run |")
        );
    }

    #[test]
    fn a_summary_is_its_worst_level() {
        let said = |counts| summary(&format!("1 ========= RACECHECK SUMMARY: {counts}"));
        assert_eq!(said("0 hazards displayed (0 errors, 0 warnings)"), Some("silent"));
        assert_eq!(said("2 hazards displayed (0 errors, 0 warnings)"), Some("info"));
        assert_eq!(said("2 hazards displayed (1 error, 1 warning)"), Some("error"));
        assert_eq!(summary("1 ========= ERROR SUMMARY: 3 errors"), Some("error"));
        assert_eq!(summary("1 ========= Barrier error detected."), None);
    }
}
