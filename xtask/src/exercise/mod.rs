//! `cargo xtask exercise`: three steps on one file, three questions, one submission.

mod changes;
mod folder;
mod measured;
mod placement;
mod progress;
mod questions;
mod submission;
mod texts;
mod watch;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use crate::CHECK_FAILED;
use folder::Folder;
use measured::{judged, measure};
use placement::Placement;
use progress::{Progress, Version};
use questions::Asked;

/// Exit codes: 0 it ran, 1 an answer did not fit what was measured, 2 it cannot run.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A hint: 1, or 2 for more
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=2), group = "instead")]
    hint: Option<u8>,
    /// The solution, with answers to the three questions
    #[arg(long, group = "instead")]
    solution: bool,
    /// Start over; your text is kept beside the file
    #[arg(long, group = "instead")]
    reset: bool,
    /// Run again whenever the file is saved; asks no questions
    #[arg(long, group = "instead")]
    watch: bool,
    /// A copy of the exercise's folder to work on
    #[arg(long, hide = true)]
    folder: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let folder = Folder::new(args.folder.clone())?;
    if let Some(hint) = args.hint {
        print!("{}", texts::HINTS[usize::from(hint) - 1]);
    } else if args.solution {
        print!("{}", texts::SOLUTION);
    } else if args.reset {
        for (from, to) in folder.reset()? {
            println!("{from} is kept as {to}");
        }
        println!("{} is as it was at the start", folder.shown(&folder.tile()));
    } else if args.watch {
        watch::watch(&folder, || turn(&folder).map(drop))?;
    } else {
        return with_questions(&folder);
    }
    Ok(ExitCode::SUCCESS)
}

fn with_questions(folder: &Folder) -> Result<ExitCode> {
    let mut progress = turn(folder)?;
    let asked = questions::ask(&mut progress)?;
    progress.save(folder)?;
    if let Some(text) = submission::submission(&progress) {
        folder.write(&folder.submission(), &text)?;
        println!("\n{}\n{} is written.", texts::DONE, folder.shown(&folder.submission()));
    }
    Ok(if asked == Asked::Wrong { ExitCode::from(CHECK_FAILED) } else { ExitCode::SUCCESS })
}

/// Runs the file as it is, says where the learner stands and what comes next.
fn turn(folder: &Folder) -> Result<Progress> {
    let mut progress = Progress::load(folder)?;
    let source = folder.read_tile()?;
    let measured = measure(folder)?;
    let placement = Placement::of(&source, &measured);

    println!("{}: the barrier: {}", folder.shown(&folder.tile()), placement.words());
    println!("{}\n{}", measured.setting(), measured.answers());
    if let Some(before) = &progress.last
        && let Some(changes) = changes::changes(before, &source, &measured)
    {
        println!("{changes}");
    }
    progress.record(Version { placement, source, measured });
    progress.save(folder)?;
    println!("\n{}", next(&progress));
    Ok(progress)
}

/// What there is to say about the version just recorded.
fn next(progress: &Progress) -> String {
    let Progress { last, without, below, fixed, .. } = progress;
    let Some(last) = last else { return texts::TO_STEP_1.into() };
    let to_do = match (without, below) {
        (None, _) => texts::TO_STEP_1,
        (_, None) => texts::TO_STEP_2,
        _ => texts::TO_STEP_3,
    };
    match (&last.placement, below, fixed) {
        (Placement::InPlace, Some(below), Some(fixed)) => {
            let mut text = format!("{}\n{}", texts::JUDGED, judged(&below.measured, &fixed.measured));
            if let Some((block, finding)) =
                below.measured.sizes.first().and_then(|size| Some((size.block, size.findings.first()?)))
            {
                text += &format!("\nstep 2 with {block} threads a block:\n{finding}");
            }
            text
        }
        (Placement::Below, ..) if without.is_none() => texts::STEP_1_STILL_MISSING.into(),
        (Placement::Above, ..) => format!("{}\n\n{to_do}", texts::ABOVE_THE_WRITE),
        (Placement::Other(_), ..) => {
            let findings =
                last.measured.sizes.iter().find_map(|size| Some((size.block, size.findings.first()?)));
            let said = findings
                .map(|(block, finding)| format!("The checker, with {block} threads a block:\n{finding}\n\n"));
            format!("{}This is none of the three versions. {to_do}", said.unwrap_or_default())
        }
        _ => to_do.into(),
    }
}
