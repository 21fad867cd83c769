//! What the runs of one version of the file showed.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use tabled::builder::Builder;
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Style};

use super::folder::Folder;
use crate::program;
use crate::workshop::Workshop;

const SEEDS: [u64; 3] = [0, 1, 2];
const FLAGS: [&str; 4] = ["--block=32,64,128,256", "--n=262755", "--seed=0,1,2", "--format=json"];
const LIMIT: Duration = Duration::from_secs(120);

/// One version at every block size.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Measured {
    device: String,
    n: usize,
    pub(super) sizes: Vec<Size>,
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
    n: usize,
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

/// Compiles and runs the file. A card would be asked here, before the emulator; the rest only reads
/// what comes back.
pub(super) fn measure(folder: &Folder) -> Result<Measured> {
    let shown = folder.shown(&folder.tile());
    let workshop = Workshop::new()?;
    let Some(program) = program::compile(&workshop, &folder.main(), &folder.shown_from)? else {
        bail!("{shown} does not compile; the compiler's message is above");
    };
    let ran = program::run(&workshop, &program, &FLAGS.map(str::to_owned), LIMIT)?;
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
    Ok(Measured { device: report.device, n: report.n, sizes })
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
    /// The block sizes that came out wrong in any run.
    pub(super) fn failed(&self) -> BTreeSet<u32> {
        let failed = self.sizes.iter().filter(|size| size.wrong.iter().any(|&wrong| wrong > 0));
        failed.map(|size| size.block).collect()
    }

    pub(super) fn clean(&self) -> bool {
        self.sizes.iter().all(|size| size.verdict == CLEAN)
    }

    pub(super) fn setting(&self) -> String {
        format!("on the {}: n = {}, {} runs at each block size", self.device, self.n, SEEDS.len())
    }

    /// The answers: what a program that only compares values would see.
    pub(super) fn answers(&self) -> String {
        let mut table = Builder::default();
        table.push_record(["block", "wrong in run 1", "run 2", "run 3"]);
        for size in &self.sizes {
            let runs = size.wrong.iter().map(usize::to_string);
            table.push_record([size.block.to_string()].into_iter().chain(runs));
        }
        let mut table = table.build();
        table.with(Style::sharp()).modify(Columns::new(..), Alignment::right());
        table.to_string()
    }
}

/// The answers of two versions beside what the checker says of them.
pub(super) fn judged(middle: &Measured, fixed: &Measured) -> String {
    let mut table = Builder::default();
    table.push_record(["version", "block", "answer", "checker"]);
    for (version, measured) in [("step 2", middle), ("step 3", fixed)] {
        for size in &measured.sizes {
            let right = size.wrong.iter().all(|&wrong| wrong == 0);
            let answer = if right { "right" } else { "wrong" };
            table.push_record([version, &size.block.to_string(), answer, &size.verdict]);
        }
    }
    let mut table = table.build();
    table.with(Style::sharp()).modify(Columns::one(1), Alignment::right());
    table.to_string()
}

/// A set of block sizes in words.
pub(super) fn sizes(sizes: &BTreeSet<u32>) -> String {
    if sizes.is_empty() {
        return "none".into();
    }
    sizes.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}
