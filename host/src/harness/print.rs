//! The report of one kernel, as text and as JSON.

use serde_json::{Value, json};
use tabled::builder::Builder;
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Style};

use super::outcome::Launched;

/// A row for each launch, then every finding where it is first met.
pub(super) fn table(launches: &[Launched]) -> String {
    let seeds = launches.iter().any(|launched| launched.seed != launches[0].seed);
    let mut table = Builder::default();
    let seed = |text: String| seeds.then_some(text);
    let row = |block: String, seed: Option<String>, rest: [&str; 4]| {
        [block].into_iter().chain(seed).chain(rest.map(str::to_owned)).collect::<Vec<_>>()
    };
    table.push_record(row("block".into(), seed("seed".into()), ["race", "barrier", "init", "access"]));
    for launched in launches {
        let rest = [&launched.race, launched.barrier, launched.init, launched.access];
        table.push_record(row(launched.block.to_string(), seed(launched.seed.to_string()), rest));
    }
    let mut table = table.build();
    table.with(Style::sharp()).modify(Columns::first(), Alignment::right());
    let mut text = table.to_string();

    let mut told = Vec::new();
    for launched in launches {
        for finding in &launched.findings {
            if !told.contains(&(finding.what, &finding.at)) {
                told.push((finding.what, &finding.at));
                text +=
                    &format!("\n{} threads a block, {}:\n  {}", launched.block, finding.what, finding.text);
            }
        }
    }
    if let Some((launched, note)) =
        launches.iter().find_map(|launched| Some((launched, launched.note.as_ref()?)))
    {
        text += &format!("\n{} threads a block, note:\n  {note}", launched.block);
    }
    if launches.iter().all(|launched| launched.clean) {
        text += "\nnothing found";
    }
    text
}

/// The same as one JSON document.
pub(super) fn json(kernel: &str, n: usize, args: &[String], launches: &[Launched]) -> Value {
    json!({
        "kernel": kernel,
        "device": "emulator",
        "n": n,
        "args": args,
        "launches": launches,
        "clean": launches.iter().all(|launched| launched.clean),
    })
}
