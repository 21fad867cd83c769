//! `submission.md`: what a learner hands in.

use std::fs;

use anyhow::Result;

use super::folder::Folder;
use super::measured::{judged, sizes};
use super::progress::Progress;

/// The text, once the exercise is complete.
pub(super) fn submission(progress: &Progress) -> Option<String> {
    let Progress { without, below, fixed, answers, .. } = progress;
    let (without, below, fixed) = (without.as_ref()?, below.as_ref()?, fixed.as_ref()?);
    let failed = sizes(answers.failed_sizes.as_ref()?);
    let changed = if answers.step_2_changed? { "yes" } else { "no" };
    let why = answers.why.as_ref()?;
    Some(format!(
        "# What one barrier orders\n\n\
         ## Which block sizes failed in step 1?\n\n{failed}\n\n\
         ## Did step 2 change anything?\n\n{changed}\n\n\
         ## Why does the checker object at 32 threads a block, though the answer was right?\n\n{why}\n\n\
         ## Wrong elements without the barrier (step 1)\n\n```text\n{}\n```\n\n\
         ## Wrong elements with the barrier below the read (step 2)\n\n```text\n{}\n```\n\n\
         ## The checker on steps 2 and 3\n\n```text\n{}\n```\n",
        without.measured.answers(),
        below.measured.answers(),
        judged(&below.measured, &fixed.measured),
    ))
}

/// Writes the text, unless what lies there is the learner's own. Says which.
pub(super) fn write(text: String, progress: &mut Progress, folder: &Folder) -> Result<String> {
    let path = folder.submission();
    let shown = folder.shown(&path);
    if path.exists() && fs::read_to_string(&path).ok() != progress.submission {
        return Ok(format!("{shown} is kept as you edited it.\nDelete it to have it written anew."));
    }
    folder.write(&path, &text)?;
    progress.submission = Some(text);
    Ok(format!("{shown} is written.\nTo change an answer, edit it there; it will be kept."))
}
