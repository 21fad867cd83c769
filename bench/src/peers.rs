//! What one would use instead, on the same kernels: Oclgrind without a card, racecheck with one.
//!
//! Whole processes are measured, from the start to the verdict, ours and then the peer's in each round. A
//! round in which either comes to another verdict than the kernel deserves is no comparison and ends it.

mod oclgrind;

use std::ffi::OsString;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, ensure};
use host::device::Kernel;
use serde_json::Value;

use crate::figure::{Figure, Row};
use crate::launch::{BLOCKS, N, TILES, short};
use crate::own::{each, lesson};
use crate::spread::{Spread, seconds};
use oclgrind::Oclgrind;

/// One launch to judge.
#[derive(Clone, Copy, Debug)]
struct Case {
    kernel: Kernel,
    block: u32,
    n: usize,
}

/// Measures the peers that are here.
pub(crate) fn measure(
    rounds: u32,
    racecheck: &[OsString],
    take: &mut dyn FnMut(Figure) -> Result<()>,
) -> Result<()> {
    let oclgrind = Oclgrind::find();
    match &oclgrind {
        Ok(found) => {
            let mut figure = beside(&found.name, rounds, |case| found.races(case))?;
            figure.note = "n floats and the last block partial for both; OpenCL's global size is n rounded up to \
                           whole blocks\nOclgrind compiles the kernel in each run: the last row, one block, is nearly that"
                .into();
            take(figure)?;
        }
        Err(missing) => command::note(format_args!("without Oclgrind: {missing:#}")),
    }
    if !racecheck.is_empty() {
        take(beside("compute-sanitizer racecheck", rounds, |case| on_card(racecheck, case))?)?;
    }
    ensure!(oclgrind.is_ok() || !racecheck.is_empty(), "there is nothing to measure beside this project");
    Ok(())
}

/// Measures the lesson on the emulator, and a peer that says whether there are races.
fn beside(peer: &str, rounds: u32, races: impl Fn(Case) -> Result<bool>) -> Result<Figure> {
    let mut cases: Vec<_> =
        TILES.into_iter().flat_map(|kernel| BLOCKS.map(|block| Case { kernel, block, n: N })).collect();
    cases.push(Case { kernel: Kernel::ReverseTileSynced, block: 256, n: 256 });
    let row = |case: Case| {
        command::note(format_args!(
            "measuring: {peer}, {}, {} threads a block",
            case.kernel.name(),
            case.block
        ));
        let pairs = each(rounds, || {
            let (ours, found) = seconds(|| on_emulator(case))?;
            agree("the emulator", case, found)?;
            let (theirs, found) = seconds(|| races(case))?;
            agree(peer, case, found)?;
            Ok((ours, theirs))
        })?;
        Ok(Row {
            of: format!("{}, {}{}", short(case.kernel), case.block, if case.n == N { "" } else { ", alone" }),
            measured: vec![
                Spread::of(pairs.iter().map(|(ours, _)| ours * 1e3)),
                Spread::of(pairs.iter().map(|(_, theirs)| theirs * 1e3)),
                Spread::of(pairs.iter().map(|(ours, theirs)| theirs / ours)),
            ],
        })
    };
    Ok(Figure {
        title: format!("{peer} beside the emulator, the same verdicts: n = {N}"),
        command: "cargo xtask bench --peers",
        columns: vec!["kernel, block", "ours, ms", "theirs, ms", "theirs / ours"],
        rows: cases.into_iter().map(row).collect::<Result<_>>()?,
        note: String::new(),
    })
}

fn agree(who: &str, case: Case, found: bool) -> Result<()> {
    let wanted = !case.kernel.defined();
    let says = if found { "finds a race" } else { "finds no race" };
    ensure!(found == wanted, "{who} {says} in {}, {} threads a block", case.kernel.name(), case.block);
    Ok(())
}

fn flags(case: Case) -> [String; 6] {
    ["--only", case.kernel.name(), "--blocks", &case.block.to_string(), "--n", &case.n.to_string()]
        .map(str::to_owned)
}

fn on_emulator(case: Case) -> Result<bool> {
    let output = ran(lesson()?.args(["--device", "emulator", "--format", "json"]).args(flags(case)))?;
    let report: Value = serde_json::from_slice(&output.stdout).context("the lesson's report is no JSON")?;
    let checks = report.pointer("/runs/0/launches/0/checks").context("the lesson's report has no checks")?;
    Ok(!checks["race"].is_null())
}

fn on_card(racecheck: &[OsString], case: Case) -> Result<bool> {
    let output = ran(Command::new(&racecheck[0]).args(&racecheck[1..]).args(flags(case)))?;
    hazards(&String::from_utf8_lossy(&output.stdout)).context("racecheck did not come to its summary")
}

/// Whether racecheck's last line says that there are hazards.
fn hazards(said: &str) -> Option<bool> {
    let (_, summary) = said.split_once("RACECHECK SUMMARY: ")?;
    Some(!summary.starts_with("0 "))
}

/// Runs a command that must succeed.
fn ran(command: &mut Command) -> Result<Output> {
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {command:?}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    ensure!(output.status.success(), "{command:?} ended with {}: {last}", output.status);
    Ok(output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn racecheck_says_so_in_its_last_line() {
        let clean = include_str!("../../xtask/src/sanitizer/fixtures/racecheck-clean.txt");
        let warning = include_str!("../../xtask/src/sanitizer/fixtures/racecheck-racy-32.txt");
        let error = include_str!("../../xtask/src/sanitizer/fixtures/racecheck-racy-64.txt");
        assert_eq!(
            [clean, warning, error, "no summary"].map(hazards),
            [Some(false), Some(true), Some(true), None]
        );
    }
}
