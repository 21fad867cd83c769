//! A learner's guess, made before the run.

use std::io::{BufRead, Write};

use anyhow::{Result, bail};
use command::text::wrapped;
use cuda_std::emulator::Report;

use super::{Exhibit, Outcome};

/// What to expect of one block size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess {
    /// Whether the answer will come out right, if the guess says so.
    right: Option<bool>,
    /// The verdict, all of it or a part.
    verdicts: Vec<Verdict>,
}

/// The verdicts, as short as they can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Clean,
    Race,
    Divergent,
    Uninitialised,
    Lost,
}

impl Verdict {
    const ALL: [Self; 5] = [Self::Clean, Self::Race, Self::Divergent, Self::Uninitialised, Self::Lost];

    fn word(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Race => "race",
            Self::Divergent => "divergent",
            Self::Uninitialised => "uninitialised",
            Self::Lost => "lost",
        }
    }

    fn holds(self, report: &Report) -> bool {
        match self {
            Self::Clean => report.is_clean(),
            Self::Race => !report.hazards.is_empty(),
            Self::Divergent => report.divergence.is_some(),
            Self::Uninitialised => !report.uninitialised.is_empty(),
            Self::Lost => !report.lost_writes.is_empty(),
        }
    }
}

/// What to answer, for the prompt. There may be no right answer to guess at.
#[must_use]
pub fn words(exhibit: &Exhibit) -> &'static str {
    match exhibit.reference {
        Some(_) => {
            "answer and verdict, such as `right race`: right or wrong; clean, race, divergent, \
             uninitialised or lost"
        }
        None => "the verdict: clean, race, divergent, uninitialised or lost",
    }
}

impl Guess {
    /// Asks until the reply can be read.
    ///
    /// # Errors
    ///
    /// If the input ends before that.
    pub fn ask(
        exhibit: &Exhibit,
        block: u32,
        input: &mut dyn BufRead,
        output: &mut dyn Write,
    ) -> Result<Self> {
        loop {
            write!(output, "your guess at {block} threads a block: ")?;
            output.flush()?;
            let mut line = String::new();
            if input.read_line(&mut line)? == 0 {
                writeln!(output)?;
                bail!("the input ended before a guess for {block} threads a block");
            }
            match Self::read(&line) {
                Some(guess) => return Ok(guess),
                None => writeln!(output, "{}", wrapped("  please say ", words(exhibit)))?,
            }
        }
    }

    /// A guess in words: a verdict, with or without `right` or `wrong`, as loosely as one writes a list.
    #[must_use]
    pub fn read(line: &str) -> Option<Self> {
        let (mut right, mut verdicts) = (None, Vec::new());
        let words = line.split([' ', ',', ';']).map(str::trim).filter(|word| !word.is_empty());
        for word in words.map(str::to_lowercase) {
            match &*word {
                "right" => right = Some(true),
                "wrong" => right = Some(false),
                // The table says `write lost`.
                "and" | "write" => {}
                word => verdicts.push(Verdict::ALL.into_iter().find(|verdict| verdict.word() == word)?),
            }
        }
        (!verdicts.is_empty()).then_some(Self { right, verdicts })
    }

    /// How the guess compares with what came.
    #[must_use]
    pub fn compare(&self, outcome: &Outcome) -> String {
        let mut parts = Vec::new();
        let report = &outcome.report;
        let word = |right| if right { "right" } else { "wrong" };
        match (self.right, outcome.mismatches().map(|wrong| wrong == 0)) {
            (None, _) => {}
            // Nor may there be an answer: a launch on a card need not end.
            (_, None) if outcome.wrong.is_some() => {}
            (_, None) => parts.push("there is no right answer to compare with".into()),
            // Luck is not to be guessed.
            (_, Some(was)) if !report.is_clean() => {
                parts.push(format!("the answer came out {}, and nothing promises that", word(was)));
            }
            (Some(guess), Some(was)) if guess == was => {
                parts.push(format!("the answer is {}, as you said", word(was)));
            }
            (Some(guess), Some(was)) => {
                parts.push(format!("the answer is {}, and you said {}", word(was), word(guess)));
            }
        }
        let found: Vec<_> = Verdict::ALL.into_iter().filter(|verdict| verdict.holds(report)).collect();
        let names = |verdicts: &[Verdict]| {
            verdicts.iter().map(|verdict| verdict.word()).collect::<Vec<_>>().join(" and ")
        };
        let all = found.iter().all(|verdict| self.verdicts.contains(verdict));
        let none_else = self.verdicts.iter().all(|verdict| found.contains(verdict));
        let said = match (all, none_else) {
            (true, true) => "as you said".into(),
            (false, true) => format!("of which you said {}", names(&self.verdicts)),
            _ => format!("and you said {}", names(&self.verdicts)),
        };
        parts.push(format!("the verdict is {}, {said}", names(&found)));
        wrapped(&format!("{} threads a block: ", outcome.block), &parts.join("; "))
    }
}
