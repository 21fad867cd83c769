//! The report of the lesson: the one place that knows its text.

use command::text::wrapped;
use cuda_std::emulator::{Divergence, Hazard, Report, Site, Whereabouts};
use serde_json::{Value, json};
use tabled::builder::Builder;
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Style};

use crate::args::Args;
use crate::lesson::{Launched, Run};
use crate::verdict;

/// What stands above everything: the device, the size, and that there are no times.
#[must_use]
pub fn header(args: &Args, headline: &str) -> String {
    format!(
        "{headline}\n\
         n = {} floats, each block reverses its own tile\n\
         {} block {}; no clock is read anywhere in this program\n",
        args.n,
        args.blocks.len(),
        if args.blocks.len() == 1 { "size" } else { "sizes" },
    )
}

/// One run, in words and tables.
#[must_use]
pub fn text(args: &Args, run: &Run, number: u32) -> String {
    let mut parts = Vec::new();
    if args.runs > 1 {
        parts.push(format!("run {number} of {}", args.runs));
    }
    parts.extend(run.schedule.as_ref().map(|schedule| wrapped("schedule: ", schedule)));
    if !run.tiles.is_empty() {
        parts.push(answers(&run.tiles));
    }
    parts.extend(run.prefix.as_ref().map(|launched| prefix(args, launched)));
    parts.extend(races(run));
    parts.push(gates(run));
    parts.join("\n\n") + "\n"
}

fn answers(tiles: &[Launched]) -> String {
    let mut table = Builder::default();
    table.push_record(["block", "kernel", "mismatches", "first bad", "read warp", "wrote it"]);
    for launched in tiles {
        let dash = || "-".to_owned();
        let [bad, read, wrote] = match launched.first_bad {
            Some(bad) => [bad.index, bad.read_warp, bad.wrote_it].map(|number| number.to_string()),
            None => [dash(), dash(), dash()],
        };
        let mismatches = launched.mismatches.to_string();
        table.push_record([launched.block.to_string(), name(launched), mismatches, bad, read, wrote]);
    }
    let mut table = table.build();
    table.with(Style::sharp()).modify(Columns::new(2..), Alignment::right());
    table.modify(Columns::first(), Alignment::right());
    table.to_string()
}

fn name(launched: &Launched) -> String {
    launched.kernel.name().to_owned()
}

fn prefix(args: &Args, prefix: &Launched) -> String {
    let returned = match prefix.report.as_ref().and_then(|report| report.fault.as_ref()) {
        Some(fault) => format!("the launch did not return: {}", verdict::fault(fault)),
        None => "the launch returned, so the barrier did not deadlock".into(),
    };
    format!(
        "{}: {} threads per block, {} reach the barrier\n  {returned}\n  \
         {} of {} elements differ from the prefix reference",
        name(prefix),
        prefix.block,
        args.keep,
        prefix.mismatches,
        args.n,
    )
}

/// The verdicts of the device's checks, if it has any.
fn races(run: &Run) -> Option<String> {
    let judged: Vec<(&Launched, &Report)> =
        run.launches().filter_map(|launched| Some((launched, launched.report.as_ref()?))).collect();
    if judged.is_empty() {
        return None;
    }
    let mut table = Builder::default();
    table.push_record(["block", "kernel", "answer", "race", "byte hazards"]);
    for (launched, report) in &judged {
        table.push_record([
            launched.block.to_string(),
            name(launched),
            if launched.mismatches == 0 { "right" } else { "wrong" }.into(),
            verdict::race(report),
            report.hazard_bytes().to_string(),
        ]);
    }
    let mut table = table.build();
    table.with(Style::sharp()).modify(Columns::first(), Alignment::right());
    table.modify(Columns::last(), Alignment::right());
    let mut text = format!("Does an order exist? (whatever the answer was)\n{table}");
    let mut told: Vec<&Hazard> = Vec::new();
    for (launched, report) in &judged {
        for hazard in &report.hazards {
            if told.iter().any(|old| verdict::alike(old, hazard)) {
                continue;
            }
            told.push(hazard);
            text += &format!(
                "\n  {}, {} threads a block, {}:\n{}",
                name(launched),
                launched.block,
                hazard.level.name(),
                verdict::hazard_lines(hazard)
            );
        }
        if let Some(fault) = &report.fault {
            text += &format!(
                "\n  {}, {} threads a block, fault:\n{}",
                name(launched),
                launched.block,
                wrapped("    ", &verdict::fault(fault))
            );
        }
    }
    Some(text)
}

fn gates(run: &Run) -> String {
    let failed: Vec<String> = run.launches().filter(|launched| !launched.gate_holds()).map(failure).collect();
    if failed.is_empty() { "every gated kernel matched its reference".into() } else { failed.join("\n") }
}

fn failure(launched: &Launched) -> String {
    let what = format!("GATE FAILED: {}, {} threads a block", name(launched), launched.block);
    match launched.first_bad {
        Some(bad) => format!(
            "{what}: {} wrong, the first at index {}: got {}, wanted {}",
            launched.mismatches, bad.index, bad.got, bad.wanted
        ),
        None => format!("{what}: the launch ended in a fault"),
    }
}

/// Every run as one JSON document.
#[must_use]
pub fn json(args: &Args, device: &str, runs: &[Run]) -> Value {
    json!({
        "device": device,
        "n": args.n,
        "runs": runs.iter().map(|run| json!({
            "schedule": run.schedule,
            "launches": run.launches().map(launch_json).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "gates_hold": runs.iter().flat_map(Run::launches).all(Launched::gate_holds),
    })
}

fn launch_json(launched: &Launched) -> Value {
    json!({
        "kernel": launched.kernel.name(),
        "block": launched.block,
        "gated": launched.kernel.defined(),
        "mismatches": launched.mismatches,
        "first_bad": launched.first_bad.map(|bad| json!({
            "index": bad.index,
            "got": number(bad.got),
            "wanted": number(bad.wanted),
            "read_warp": bad.read_warp,
            "wrote_it": bad.wrote_it,
        })),
        "checks": launched.report.as_ref().map(report_json),
    })
}

/// JSON has no NaN, and poison is one.
fn number(value: f32) -> Value {
    if value.is_finite() { json!(value) } else { json!(format!("{value} (0x{:08x})", value.to_bits())) }
}

/// What the checks found, for programs.
#[must_use]
pub fn report_json(report: &Report) -> Value {
    json!({
        "race": report.race().map(cuda_std::emulator::Level::name),
        "byte_hazards": report.hazard_bytes(),
        "hazards": report.hazards.iter().map(|hazard| json!({
            "kind": hazard.kind.name(),
            "level": hazard.level.name(),
            "bytes": hazard.bytes,
            "array": hazard.place.name,
            "index": hazard.place.index,
            "first": party_json(&hazard.first),
            "second": party_json(&hazard.second),
            "exited_above": hazard.exited_above.map(site_json),
        })).collect::<Vec<_>>(),
        "divergence": report.divergence.as_ref().map(divergence_json),
        "warp_misuse": report.warp_misuse.iter().map(|misuse| json!({
            "block": misuse.block,
            "thread": misuse.thread,
            "mask": misuse.mask,
            "at": site_json(misuse.site),
        })).collect::<Vec<_>>(),
        "uninitialised": report.uninitialised.iter().map(|found| json!({
            "array": found.place.name,
            "index": found.place.index,
            "reads": found.reads,
            "first": party_json(&found.by),
        })).collect::<Vec<_>>(),
        "lost_writes": report.lost_writes.iter().map(|found| json!({
            "writes": found.writes,
            "first": party_json(&found.by),
        })).collect::<Vec<_>>(),
        "early_exit": report.early_exit.map(|exit| json!({
            "threads": exit.threads,
            "barrier": site_json(exit.site),
        })),
        "fault": report.fault.as_ref().map(verdict::fault),
    })
}

fn divergence_json(divergence: &Divergence) -> Value {
    json!({
        "block": divergence.block,
        "blocks": divergence.blocks,
        "barrier": site_json(divergence.site),
        "trips": divergence.trips,
        "waiting": divergence.waiting,
        "elsewhere": divergence.elsewhere.iter().map(|(thread, whereabouts)| match whereabouts {
            Whereabouts::Waits { site, trips } => json!({
                "thread": thread,
                "waits_at": site_json(*site),
                "trips": trips,
            }),
            Whereabouts::Skipped => json!({ "thread": thread, "went_past": true }),
        }).collect::<Vec<_>>(),
    })
}

fn site_json(site: Site) -> Value {
    json!({ "file": site.file(), "line": site.line(), "column": site.column() })
}

fn party_json(party: &cuda_std::emulator::Party) -> Value {
    json!({
        "thread": party.thread,
        "warp": party.warp(),
        "block": party.block,
        "trips": party.trips,
        "writes": party.writes,
        "file": party.site.file(),
        "line": party.site.line(),
        "column": party.site.column(),
    })
}
