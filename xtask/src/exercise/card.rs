//! The card of this machine, if it has one that can run the learner's file.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::measured::{BLOCKS, N, RUNS};
use super::placement::KERNEL;
use crate::workshop::Workshop;
use crate::{child, cuda, ptx, sanitizer};

/// How many seconds the runs at one block size may take.
const LIMIT: u32 = 60;

/// Beyond that, for a driver that does not even notice.
const GRACE: u32 = 10;

/// A card, and what it takes to use it.
pub(super) struct Card {
    card: driver::Card,
    program: PathBuf,
}

/// What a card answered, which judges no order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct OnCard {
    pub(super) name: String,
    /// Wrong elements at each block size, run by run.
    pub(super) wrong: Vec<(u32, Vec<usize>)>,
    /// What NVIDIA's racecheck says at each block size, where it was asked.
    pub(super) racecheck: Vec<(u32, String)>,
}

/// What is needed here of what `lesson-cuda launch` prints.
#[derive(Deserialize)]
struct Launches {
    launches: Vec<Launch>,
    fault: Option<String>,
}

#[derive(Deserialize)]
struct Launch {
    mismatches: usize,
}

impl OnCard {
    pub(super) fn wrong(&self) -> impl Iterator<Item = (u32, &[usize])> {
        self.wrong.iter().map(|(block, wrong)| (*block, &**wrong))
    }
}

/// The card; where there is none that will do, one line says why.
pub(super) fn find() -> Option<Card> {
    let find = || {
        let card = driver::probe()?;
        Ok(Card { card, program: cuda::build_host()? })
    };
    or_say(find(), EMULATOR_ALONE)
}

const EMULATOR_ALONE: &str = "the exercise runs on the emulator alone";

/// The exercise goes on, whatever is wrong with a card.
fn or_say<T>(done: Result<T>, so: &str) -> Option<T> {
    done.map_err(|error| command::note(format_args!("{error:#}; {so}"))).ok()
}

impl Card {
    /// Runs the file at every block size.
    pub(super) fn answers(&self, file: &Path) -> Option<OnCard> {
        let answers = || {
            let workshop = Workshop::new()?;
            let ptx = self.compile(file, &workshop)?;
            let wrong = BLOCKS.map(|block| Ok((block, self.wrong(&ptx, block)?)));
            Ok(OnCard {
                name: self.card.name.clone(),
                wrong: wrong.into_iter().collect::<Result<_>>()?,
                racecheck: Vec::new(),
            })
        };
        or_say(answers(), EMULATOR_ALONE)
    }

    /// Has NVIDIA's racecheck judge the file at every block size, if it is there.
    pub(super) fn racecheck(&self, file: &Path) -> Option<Vec<(u32, String)>> {
        let racecheck = || {
            let workshop = Workshop::new()?;
            let ptx = self.compile(file, &workshop)?;
            let judged = BLOCKS.map(|block| {
                let what = format!("racecheck with {block} threads a block");
                Ok((block, sanitizer::racecheck(&what, &self.launch(&ptx, block, 1))?))
            });
            judged.into_iter().collect::<Result<_>>()
        };
        or_say(racecheck(), "racecheck is not asked on the card")
    }

    fn compile(&self, file: &Path, workshop: &Workshop) -> Result<PathBuf> {
        ptx::build_file(file, &cuda::arch(&self.card), workshop.path().join("exercise.ptx"))
    }

    fn launch(&self, ptx: &Path, block: u32, runs: usize) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["launch", "--kernel", KERNEL, "--ptx"]).arg(ptx);
        for (flag, value) in
            [("--n", N), ("--block", block as usize), ("--runs", runs), ("--patience", LIMIT as usize)]
        {
            command.args([flag, &value.to_string()]);
        }
        command
    }

    fn wrong(&self, ptx: &Path, block: u32) -> Result<Vec<usize>> {
        let what = || format!("{} with {block} threads a block", self.card.name);
        let mut launch = self.launch(ptx, block, RUNS);
        launch.stdout(Stdio::piped()).stderr(Stdio::piped());
        let limit = Duration::from_secs((LIMIT + GRACE).into());
        let ran = match child::run_within(limit, &mut launch) {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                bail!("{}: no end within {} s", what(), limit.as_secs())
            }
            ran => ran.with_context(|| format!("cannot run {}", self.program.display()))?,
        };
        let Ok(report) = serde_json::from_slice::<Launches>(&ran.stdout) else {
            let said = String::from_utf8_lossy(&ran.stderr);
            bail!("{}: {}", what(), said.trim().trim_start_matches("error: "));
        };
        if let Some(fault) = report.fault {
            bail!("{}: {fault}", what());
        }
        Ok(report.launches.iter().map(|launch| launch.mismatches).collect())
    }
}
