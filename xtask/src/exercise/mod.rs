//! `cargo xtask exercise`: three steps on one file, three questions, one submission.

mod card;
mod changes;
mod folder;
mod measured;
mod placement;
mod progress;
mod questions;
mod submission;
mod texts;
mod watch;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use command::text::wrapped;

use card::Card;
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
        write!(command::stdout(), "{}", texts::HINTS[usize::from(hint) - 1])?;
    } else if args.solution {
        write!(command::stdout(), "{}", texts::SOLUTION)?;
    } else if args.reset {
        for (from, to) in folder.reset()? {
            writeln!(command::stdout(), "{from} is kept as {to}")?;
        }
        writeln!(command::stdout(), "{} is as it was at the start", folder.shown(&folder.tile()))?;
    } else if args.watch {
        watch::watch(&folder, || say_next(&turn(&folder)?))?;
    } else {
        return with_questions(&folder);
    }
    Ok(ExitCode::SUCCESS)
}

fn with_questions(folder: &Folder) -> Result<ExitCode> {
    let mut progress = turn(folder)?;
    let asked = questions::ask(&mut progress)?;
    let text = submission::submission(&progress);
    let handed_in = text.map(|text| submission::write(text, &mut progress, folder)).transpose()?;
    progress.save(folder)?;
    say_next(&progress)?;
    if let Some(handed_in) = handed_in {
        writeln!(command::stdout(), "\n{}\n{handed_in}", texts::DONE)?;
    }
    Ok(command::verdict(asked != Asked::Wrong))
}

/// Runs the file as it is, and says where the learner stands.
fn turn(folder: &Folder) -> Result<Progress> {
    let mut progress = Progress::load(folder)?;
    let source = folder.read_tile()?;
    let card = card::find();
    let measured = measure(folder, card.as_ref())?;
    let placement = Placement::of(&source, &measured);

    let tile = format!("{}: ", folder.shown(&folder.tile()));
    writeln!(command::stdout(), "{}", wrapped(&tile, &format!("the barrier: {}", placement.words())))?;
    writeln!(command::stdout(), "{}", measured.answers())?;
    if let Some(before) = &progress.last
        && let Some(changes) = changes::changes(before, &source, &measured)
    {
        writeln!(command::stdout(), "{changes}")?;
    }
    progress.record(Version { placement, source, measured });
    if let Some(below) = &progress.below {
        folder.keep_step_2(&below.source)?;
    }
    judge(&mut progress, folder, card.as_ref())?;
    progress.save(folder)?;
    if let Some(remark) = remark(&progress) {
        writeln!(command::stdout(), "\n{remark}")?;
    }
    Ok(progress)
}

/// In step 3, has the checkers judge the version of step 2 and the fixed one, both as they are now.
fn judge(progress: &mut Progress, folder: &Folder, card: Option<&Card>) -> Result<()> {
    let Progress { last, below: Some(below), fixed: Some(fixed), .. } = progress else { return Ok(()) };
    if !last.as_ref().is_some_and(|last| last.placement == Placement::InPlace) {
        return Ok(());
    }
    let step_2 = folder.step_2();
    below.measured = measure(&step_2, card)?;
    for (version, folder) in [(below, &step_2), (fixed, folder)] {
        if let (Some(card), Some(on_card)) = (card, &mut version.measured.card) {
            let Some(said) = card.racecheck(&folder.tile()) else { break };
            on_card.racecheck = said;
        }
    }
    Ok(())
}

/// What there is to say about the version just recorded, before any question.
fn remark(progress: &Progress) -> Option<String> {
    let Progress { last, below, fixed, .. } = progress;
    let last = last.as_ref()?;
    match (&last.placement, below, fixed) {
        (Placement::InPlace, Some(below), Some(fixed)) => {
            let mut text = format!("{}\n{}", texts::JUDGED, judged(&below.measured, &fixed.measured));
            if let Some((block, finding)) =
                below.measured.sizes.first().and_then(|size| Some((size.block, size.findings.first()?)))
            {
                text += &format!("\nstep 2 with {block} threads a block:\n{finding}");
            }
            Some(text)
        }
        (Placement::Above, ..) => Some(texts::ABOVE_THE_WRITE.into()),
        (Placement::Other(_), ..) => {
            let (block, finding) =
                last.measured.sizes.iter().find_map(|size| Some((size.block, size.findings.first()?)))?;
            Some(format!("The checker, with {block} threads a block:\n{finding}"))
        }
        _ => None,
    }
}

/// What to do next, after the questions.
fn say_next(progress: &Progress) -> Result<()> {
    if let Some(next) = next(progress) {
        writeln!(command::stdout(), "\n{next}")?;
    }
    Ok(())
}

fn next(progress: &Progress) -> Option<&'static str> {
    let Progress { last, without, below, fixed, .. } = progress;
    match (last.as_ref().map(|last| &last.placement), without, below, fixed) {
        (Some(Placement::InPlace), .., Some(_)) => None,
        (Some(Placement::Other(_)), ..) => Some(texts::NONE_OF_THE_THREE),
        (Some(Placement::Below), None, ..) => Some(texts::STEP_1_STILL_MISSING),
        (_, None, ..) => Some(texts::TO_STEP_1),
        (_, _, None, _) => Some(texts::TO_STEP_2),
        _ => Some(texts::TO_STEP_3),
    }
}
