//! The report of one kernel, as text and as JSON.

use serde_json::{Value, json};
use tabled::builder::Builder;
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Style};

use super::outcome::{Launched, Verdicts};

/// Lines that a kernel printed which a table shows.
const MOST_LINES: usize = 16;

/// A row for each launch, then the findings of the first launch with each row of verdicts.
pub(crate) fn text(launches: &[Launched]) -> String {
    let mut text = table(launches);
    let mut told: Vec<&Verdicts> = Vec::new();
    for Launched { block, verdicts, findings, .. } in launches {
        if told.contains(&verdicts) {
            continue;
        }
        told.push(verdicts);
        for finding in findings {
            text += &format!("\n\n{block} threads a block:\n{finding}");
        }
    }
    if let Some(Launched { block, printed, .. }) =
        launches.iter().find(|launched| !launched.printed.is_empty())
    {
        text += &format!("\n\nwhat the kernel printed with {block} threads a block:");
        for line in printed.lines().take(MOST_LINES) {
            text += &format!("\n  {line}");
        }
        if let Some(more) = printed.lines().count().checked_sub(MOST_LINES).filter(|&more| more > 0) {
            text += &format!("\n  ... and {more} lines more (--format json has them)");
        }
    }
    if launches.iter().all(|launched| launched.clean) {
        text += "\n\nnothing found";
    }
    text
}

fn table(launches: &[Launched]) -> String {
    let mut table = Builder::default();
    table.push_record(["block", "seed", "race", "barrier", "memory", "access"]);
    for Launched { block, seed, verdicts, .. } in launches {
        let Verdicts { race, barrier, memory, access } = verdicts;
        table.push_record([&block.to_string(), &seed.to_string(), race, *barrier, *memory, *access]);
    }
    let mut table = table.build();
    table.with(Style::sharp()).modify(Columns::new(..2), Alignment::right());
    table.to_string()
}

/// The same as one JSON document, with every finding of every launch.
pub(crate) fn json(kernel: &str, device: &str, n: usize, args: &[String], launches: &[Launched]) -> Value {
    json!({
        "kernel": kernel,
        "device": device,
        "n": n,
        "args": args,
        "launches": launches,
        "clean": launches.iter().all(|launched| launched.clean),
    })
}
