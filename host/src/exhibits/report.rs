//! What a learner sees of an exhibit: the one place that knows its text.

use command::text::wrapped;
use cuda_std::emulator::Hazard;
use serde_json::{Value, json};
use tabled::builder::Builder;
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Style};

use super::{EXHIBITS, Ending, Exhibit, Listing, Outcome};
use crate::answer::{ENDED, NO_RIGHT_ANSWER};
use crate::verdict;

/// A few lines for each exhibit: all of them, or only those whose launch on a card is sure to end.
#[must_use]
pub fn list(card: bool) -> String {
    let width = EXHIBITS.iter().map(|exhibit| exhibit.name.len()).max().unwrap_or_default();
    let shown = EXHIBITS.iter().filter(|exhibit| exhibit.terminates || !card);
    shown.map(|exhibit| wrapped(&format!("{:width$}  ", exhibit.name), exhibit.proves) + "\n").collect()
}

/// The same for programs, with what a runner needs to know.
#[must_use]
pub fn list_json(card: bool) -> Value {
    let shown = EXHIBITS.iter().filter(|exhibit| exhibit.terminates || !card);
    shown
        .map(|exhibit| {
            json!({
                "name": exhibit.name,
                "proves": exhibit.proves,
                "file": exhibit.page.path,
                "kernels": exhibit.call.names(),
                "arguments": exhibit.call.arguments(),
                "blocks": exhibit.blocks.shown(),
                "terminates": exhibit.terminates,
            })
        })
        .collect()
}

/// What stands before the run: the source and the question.
#[must_use]
pub fn page(exhibit: &'static Exhibit, colour: bool) -> String {
    let Exhibit { name, page, question, .. } = exhibit;
    let listing = Listing::new(exhibit).text(colour);
    format!("{name}: {}\n\n{listing}\n{}\n", page.path, wrapped("", question))
}

/// What stands behind it: answer and verdicts, what was found, and the sentence.
#[must_use]
pub fn results(exhibit: &Exhibit, outcomes: &[Outcome]) -> String {
    let on_card = outcomes.iter().any(|outcome| outcome.card.is_some());
    let mut text = if on_card { card(exhibit, outcomes) } else { String::new() };
    let mut rows = Vec::new();
    for outcome in outcomes {
        let mut row = vec![outcome.block.to_string(), outcome.len.to_string()];
        if !on_card {
            row.push(answer(outcome));
        }
        row.extend(verdicts(outcome));
        rows.push(row);
    }
    let columns = ["block", "n", "answer", "race", "barrier", "memory"];
    let columns = columns.into_iter().filter(|column| !on_card || *column != "answer");
    text += &table(columns, rows);
    if !on_card {
        text += &ended(outcomes);
    }
    for line in found(outcomes) {
        text += &format!("  {line}\n");
    }
    text += &format!("\n{}\n", wrapped("So: ", exhibit.proves));
    for outcome in outcomes.iter().filter(|outcome| !outcome.as_expected) {
        text += &format!("\n{}\n", wrapped("NOT AS EXPECTED: ", &surprise(exhibit, outcome)));
    }
    text
}

/// What `ended` means, where it stands.
fn ended(outcomes: &[Outcome]) -> String {
    let ended = outcomes.iter().any(|outcome| answer(outcome) == ENDED);
    if ended { format!("  {NO_RIGHT_ANSWER}\n") } else { String::new() }
}

/// What a card did, apart from the verdicts: it has none.
fn card(exhibit: &Exhibit, outcomes: &[Outcome]) -> String {
    let mut rows = Vec::new();
    let mut notes = ended(outcomes);
    for outcome in outcomes {
        let first_bad = match &outcome.card {
            Some(Ending::Answer(found)) => found.first_bad,
            Some(Ending::Fault(fault)) => {
                notes += &format!("{}\n", wrapped("  ", fault));
                None
            }
            Some(Ending::NoEndWithinS(_)) | None => None,
        };
        let first_bad = first_bad.map_or_else(|| "-".into(), |index| index.to_string());
        rows.push(vec![outcome.block.to_string(), outcome.len.to_string(), answer(outcome), first_bad]);
    }
    let gated = outcomes.iter().any(|outcome| exhibit.gated(outcome.block));
    let worth = if gated { "This kernel's has to be right." } else { "A right one proves nothing here." };
    format!(
        "The answer, on the card. {worth}\n{}{notes}\nThe verdict, on the emulator: a card has none.\n",
        table(["block", "n", "answer", "first bad"].into_iter(), rows)
    )
}

fn table(columns: impl Iterator<Item = &'static str>, rows: Vec<Vec<String>>) -> String {
    let mut table = Builder::default();
    table.push_record(columns);
    for row in rows {
        table.push_record(row);
    }
    let mut table = table.build();
    table.with(Style::sharp()).modify(Columns::new(..2), Alignment::right());
    format!("{table}\n")
}

/// What was found, in words: a race once for its two lines, with the smallest block that has it.
fn found(outcomes: &[Outcome]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut told: Vec<&Hazard> = Vec::new();
    for outcome in outcomes {
        let size = format!("{} threads a block", outcome.block);
        for hazard in &outcome.report.hazards {
            if !told.iter().any(|old| verdict::alike(old, hazard)) {
                told.push(hazard);
                lines.push(format!("{size}, {}:\n{}", hazard.level.name(), verdict::hazard_lines(hazard)));
            }
        }
        let others = verdict::others(&outcome.report);
        lines.extend(others.iter().map(|other| format!("{size}:\n{}", wrapped("    ", other))));
    }
    lines
}

fn verdicts(outcome: &Outcome) -> [String; 3] {
    let report = &outcome.report;
    [
        verdict::race(report),
        verdict::barrier(report.divergence.is_some()).into(),
        verdict::memory(!report.uninitialised.is_empty(), !report.lost_writes.is_empty()).into(),
    ]
}

/// The answer where the kernel ran, in a few words.
fn answer(outcome: &Outcome) -> String {
    match &outcome.card {
        Some(Ending::Fault(_)) => "a fault".into(),
        Some(Ending::NoEndWithinS(seconds)) => format!("no end within {seconds} s"),
        Some(Ending::Answer(_)) | None => match outcome.mismatches() {
            None => ENDED.into(),
            Some(0) => "right".into(),
            Some(wrong) => format!("{wrong} of {} wrong", outcome.len),
        },
    }
}

fn surprise(exhibit: &Exhibit, outcome: &Outcome) -> String {
    let at = format!("at {} threads a block", outcome.block);
    if outcome.card.as_ref().is_some_and(|ending| !ending.holds(exhibit, outcome.block)) {
        let what = if exhibit.gated(outcome.block) { "a right answer" } else { "an end, with any answer" };
        return format!("{at} {what} on the card");
    }
    let expected = exhibit.expected(outcome.block);
    let answer = if expected.is_clean() { "a right answer, " } else { "" };
    let [race, barrier, memory] = expected.words();
    format!("{at} {answer}race {race}, barrier {barrier}, memory {memory}")
}

/// The run as one JSON document.
#[must_use]
pub fn json(exhibit: &'static Exhibit, device: &str, seed: u64, outcomes: &[Outcome]) -> Value {
    let outcomes_json: Vec<Value> = outcomes
        .iter()
        .map(|outcome| {
            let [race, barrier, memory] = verdicts(outcome);
            let [expected_race, expected_barrier, expected_memory] = exhibit.expected(outcome.block).words();
            json!({
                "block": outcome.block,
                "elements": outcome.len,
                "answer": answer(outcome),
                "wrong": outcome.mismatches(),
                "card": outcome.card,
                "race": race,
                "barrier": barrier,
                "memory": memory,
                "expected": {
                    "answer_defined": exhibit.expected(outcome.block).is_clean(),
                    "race": expected_race,
                    "barrier": expected_barrier,
                    "memory": expected_memory,
                },
                "found": outcome.report.hazards.iter().map(verdict::hazard)
                    .chain(verdict::others(&outcome.report)).collect::<Vec<_>>(),
                "as_expected": outcome.as_expected,
            })
        })
        .collect();
    json!({
        "name": exhibit.name,
        "file": exhibit.page.path,
        "kernels": exhibit.call.names(),
        "lines": Listing::new(exhibit).marked(),
        "question": exhibit.question,
        "proves": exhibit.proves,
        "device": device,
        "verdicts_from": "emulator",
        "schedule": schedule(exhibit, seed),
        "outcomes": outcomes_json,
    })
}

/// How the emulator interleaves the threads.
#[must_use]
pub fn schedule(exhibit: &Exhibit, seed: u64) -> String {
    verdict::schedule(exhibit.policy, seed)
}
