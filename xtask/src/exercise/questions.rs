//! The three questions.

use std::collections::BTreeSet;
use std::io::{self, BufRead, IsTerminal, Write};

use anyhow::{Context, Result};
use command::dialogue;
use command::text::wrapped;

use super::measured::sizes;
use super::progress::Progress;
use super::texts;

/// How often a question is asked before it is left for the next call.
const TRIES: usize = 3;

/// How asking went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Asked {
    /// Nothing was asked that is not answered now.
    Answered,
    /// The last answer to a question did not fit what was measured.
    Wrong,
    /// There was no answer.
    Silent,
}

/// Asks what has not been answered yet and can be by now, in order.
pub(super) fn ask(progress: &mut Progress) -> Result<Asked> {
    if let Some(without) = &progress.without
        && progress.answers.failed_sizes.is_none()
    {
        let measured = without.measured.failed();
        match question(texts::FAILED_SIZES, |answer| failed_sizes(answer, &measured))? {
            Ok(answer) => progress.answers.failed_sizes = Some(answer),
            Err(asked) => return Ok(asked),
        }
    }
    if let (Some(without), Some(below)) = (&progress.without, &progress.below)
        && progress.answers.step_2_changed.is_none()
    {
        let measured = (without.measured.failed(), below.measured.failed());
        match question(texts::STEP_2_CHANGED, |answer| step_2_changed(answer, &measured))? {
            Ok(answer) => progress.answers.step_2_changed = Some(answer),
            Err(asked) => return Ok(asked),
        }
    }
    if progress.fixed.is_some() && progress.answers.why.is_none() {
        match question(texts::WHY, sentence)? {
            Ok(answer) => progress.answers.why = Some(answer),
            Err(asked) => return Ok(asked),
        }
    }
    Ok(Asked::Answered)
}

/// Asks until `check` is content, a few times.
fn question<T>(text: &str, check: impl Fn(&str) -> Result<T, String>) -> Result<Result<T, Asked>> {
    writeln!(dialogue(), "\n{text}").context("cannot write the question")?;
    for _ in 0..TRIES {
        write!(dialogue(), "> ")?;
        dialogue().flush().context("cannot write the question")?;
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line).context("cannot read the answer")?;
        if read == 0 {
            writeln!(dialogue(), "\n{}", texts::NO_ANSWER)?;
            return Ok(Err(Asked::Silent));
        }
        let answer = line.trim();
        if !io::stdin().is_terminal() {
            writeln!(dialogue(), "{answer}")?;
        }
        match check(answer) {
            Ok(answer) => return Ok(Ok(answer)),
            Err(why) => writeln!(dialogue(), "{}", wrapped("", &why))?,
        }
    }
    writeln!(
        dialogue(),
        "Leave it for now: change nothing, look at the table, and run\n`cargo xtask exercise` again."
    )?;
    Ok(Err(Asked::Wrong))
}

/// Says something about an answer. That nobody reads it, the next line that is asked or said will show.
fn remark(text: &str) {
    let _ = writeln!(dialogue(), "{text}");
}

fn failed_sizes(answer: &str, measured: &BTreeSet<u32>) -> Result<BTreeSet<u32>, String> {
    let words = answer.split([',', ' ', ';']).filter(|word| !word.is_empty() && *word != "and");
    let given = match answer.to_lowercase().as_str() {
        "none" | "no" => Some(BTreeSet::new()),
        "" => None,
        _ => words.map(|word| word.parse().ok()).collect(),
    };
    let Some(given) = given else {
        return Err("Write the sizes as numbers, such as 32, 64, or write none.".into());
    };
    let missing = measured.difference(&given).next().is_some();
    let extra = given.difference(measured).next().is_some();
    match (missing, extra) {
        (false, false) => {
            remark("That is what the runs showed.");
            Ok(given)
        }
        (true, false) => Err("Not all: a size that failed is not in your list.".into()),
        (false, true) => Err("Too many: a size in your list came out right in every run.".into()),
        (true, true) => {
            Err("No: your list lacks a size that failed, and has one that did not fail in any run.".into())
        }
    }
}

fn step_2_changed(answer: &str, (without, below): &(BTreeSet<u32>, BTreeSet<u32>)) -> Result<bool, String> {
    let given = match answer.to_lowercase().as_str() {
        "yes" | "y" => true,
        "no" | "n" | "nothing" => false,
        _ => return Err("Write yes or no.".into()),
    };
    let lists = format!("wrong in step 1: {}; in step 2: {}", sizes(without), sizes(below));
    if given == (without != below) {
        remark(&format!("So it is; {lists}."));
        Ok(given)
    } else {
        Err(format!("Look at the two lists; {lists}."))
    }
}

fn sentence(answer: &str) -> Result<String, String> {
    if answer.split_whitespace().count() < 3 {
        return Err("A sentence, please.".into());
    }
    remark(
        "Nobody checks this one. Compare it with `cargo xtask exercise --solution`, and\n\
         if you like yours no longer, change it in submission.md.",
    );
    Ok(answer.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_compared_as_a_set() {
        let measured = BTreeSet::from([64, 128, 256]);
        for right in ["64,128,256", "256 128, 64", "64, 128 and 256", "64;64;128;256"] {
            assert_eq!(failed_sizes(right, &measured), Ok(measured.clone()), "{right}");
        }
        for wrong in ["64", "32,64,128,256", "none", "32", "", "all", "64.5", "-64"] {
            assert!(failed_sizes(wrong, &measured).is_err(), "{wrong}");
        }
        assert_eq!(failed_sizes("None", &BTreeSet::new()), Ok(BTreeSet::new()));
    }

    #[test]
    fn yes_and_no_are_held_against_both_sets() {
        let same = (BTreeSet::from([64]), BTreeSet::from([64]));
        let other = (BTreeSet::from([64]), BTreeSet::new());
        assert_eq!(step_2_changed("No", &same), Ok(false));
        assert!(step_2_changed("yes", &same).is_err());
        assert_eq!(step_2_changed("y", &other), Ok(true));
        assert!(step_2_changed("perhaps", &other).is_err());
    }
}
