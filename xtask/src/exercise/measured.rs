//! What the runs of one version of the file showed.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use tabled::builder::Builder;
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Style};

use super::card::{Card, OnCard};
use super::folder::Folder;
use crate::program::{self, Limit};
use crate::workshop::Workshop;

/// How many elements; the last block of every size is partial.
pub(super) const N: usize = 262_755;
pub(super) const BLOCKS: [u32; 4] = [32, 64, 128, 256];
/// On the emulator with the seeds from 0 on.
pub(super) const RUNS: usize = 3;
const LIMIT: Limit = Limit { time: Duration::from_secs(120), longer: "" };

/// One version at every block size.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Measured {
    device: String,
    /// On the emulator, which judges too.
    pub(super) sizes: Vec<Size>,
    /// On the card, if there is one.
    pub(super) card: Option<OnCard>,
}

/// One block size, over all runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Size {
    pub(super) block: u32,
    /// Wrong elements, run by run.
    pub(super) wrong: Vec<usize>,
    pub(super) verdict: String,
    /// A block of lines for each finding.
    pub(super) findings: Vec<String>,
}

/// The part of the harness's report that is needed here.
#[derive(Deserialize)]
struct Report {
    device: String,
    launches: Vec<Launch>,
}

#[derive(Deserialize)]
struct Launch {
    block: u32,
    mismatches: Option<usize>,
    race: String,
    barrier: String,
    memory: String,
    access: String,
    clean: bool,
    findings: Vec<String>,
}

/// Compiles and runs the file on the emulator, and on a card if there is one.
pub(super) fn measure(folder: &Folder, card: Option<&Card>) -> Result<Measured> {
    let shown = folder.shown(&folder.tile());
    let workshop = Workshop::new()?;
    let Some(program) = program::compile(&workshop, &folder.main(), &folder.shown_from, LIMIT)? else {
        bail!("{shown} does not compile; the compiler's message is above");
    };
    let mut command = Command::new(program);
    command.args(flags());
    let ran = program::run(&workshop, command, LIMIT)?;
    let Some(text) = ran.report else { bail!("the runs of {shown} did not come to an end") };
    let report: Report =
        serde_json::from_str(&text).context("the report of the runs does not read as JSON")?;
    let mut sizes: Vec<Size> = Vec::new();
    for launch in report.launches {
        let wrong = launch.mismatches.unwrap_or_default();
        match sizes.iter_mut().find(|size| size.block == launch.block) {
            Some(size) => size.wrong.push(wrong),
            None => sizes.push(Size {
                block: launch.block,
                wrong: vec![wrong],
                verdict: verdict(&launch),
                findings: launch.findings,
            }),
        }
    }
    let card = card.and_then(|card| card.answers(&folder.tile()));
    Ok(Measured { device: report.device, sizes, card })
}

fn flags() -> [String; 4] {
    let list = |numbers: &mut dyn Iterator<Item = String>| numbers.collect::<Vec<_>>().join(",");
    [
        format!("--block={}", list(&mut BLOCKS.iter().map(u32::to_string))),
        format!("--n={N}"),
        format!("--seed={}", list(&mut (0..RUNS).map(|seed| seed.to_string()))),
        "--format=json".to_owned(),
    ]
}

const CLEAN: &str = "clean";

/// Verdicts do not depend on the seed here, so the first run's stands for all.
fn verdict(launch: &Launch) -> String {
    if launch.clean {
        return CLEAN.into();
    }
    let race = if launch.race == "none" { "ok" } else { &launch.race };
    let all = [race, &launch.barrier, &launch.memory, &launch.access];
    all.into_iter().filter(|verdict| *verdict != "ok").collect::<Vec<_>>().join(", ")
}

impl Measured {
    /// The block sizes that came out wrong in any run: on the card, where that is what the learner asks.
    pub(super) fn failed(&self) -> BTreeSet<u32> {
        let of = |(block, wrong): (u32, &[usize])| wrong.iter().any(|&wrong| wrong > 0).then_some(block);
        match &self.card {
            Some(card) => card.wrong().filter_map(of).collect(),
            None => self.wrong().filter_map(of).collect(),
        }
    }

    pub(super) fn clean(&self) -> bool {
        self.sizes.iter().all(|size| size.verdict == CLEAN)
    }

    /// The answers, device by device: what a program that only compares values would see.
    pub(super) fn answers(&self) -> String {
        let emulator = answers(&self.device, self.wrong());
        match &self.card {
            Some(card) => answers(&card.name, card.wrong()) + "\n\n" + &emulator,
            None => emulator,
        }
    }

    fn wrong(&self) -> impl Iterator<Item = (u32, &[usize])> {
        self.sizes.iter().map(|size| (size.block, &*size.wrong))
    }
}

fn answers<'a>(device: &str, sizes: impl Iterator<Item = (u32, &'a [usize])>) -> String {
    let mut table = Builder::default();
    table.push_record(["block", "wrong in run 1", "run 2", "run 3"]);
    for (block, wrong) in sizes {
        table.push_record([block.to_string()].into_iter().chain(wrong.iter().map(usize::to_string)));
    }
    let mut table = table.build();
    table.with(Style::sharp()).modify(Columns::new(..), Alignment::right());
    format!("on the {device}: n = {N}, {RUNS} runs at each block size\n{table}")
}

/// The answers of two versions beside what the checkers say of them.
pub(super) fn judged(middle: &Measured, fixed: &Measured) -> String {
    let versions = [("step 2", middle), ("step 3", fixed)];
    let cards = || versions.iter().filter_map(|(_, measured)| measured.card.as_ref());
    let (card, racecheck) = (cards().next().is_some(), cards().any(|card| !card.racecheck.is_empty()));
    let mut table = Builder::default();
    let head = [Some("version"), Some("block"), card.then_some("card"), Some("emulator"), Some("checker")];
    table.push_record(head.into_iter().chain([racecheck.then_some("racecheck, card")]).flatten());
    for (version, measured) in versions {
        let on_card = measured.card.as_ref();
        for size in &measured.sizes {
            let of = |(block, _): &(u32, _)| *block == size.block;
            let answer =
                on_card.and_then(|card| card.wrong().find(of)).map_or("-", |(_, wrong)| right(wrong));
            let said = on_card
                .and_then(|card| card.racecheck.iter().find(|(block, _)| *block == size.block))
                .map_or("-", |(_, said)| said);
            let block = size.block.to_string();
            let cells = [
                Some(version),
                Some(&*block),
                card.then_some(answer),
                Some(right(&size.wrong)),
                Some(&*size.verdict),
                racecheck.then_some(said),
            ];
            table.push_record(cells.into_iter().flatten());
        }
    }
    let mut table = table.build();
    table.with(Style::sharp()).modify(Columns::one(1), Alignment::right());
    table.to_string()
}

fn right(wrong: &[usize]) -> &'static str {
    if wrong.iter().all(|&wrong| wrong == 0) { "right" } else { "wrong" }
}

/// A set of block sizes in words.
pub(super) fn sizes(sizes: &BTreeSet<u32>) -> String {
    if sizes.is_empty() {
        return "none".into();
    }
    sizes.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}
