//! A learner's guess, made before the run.

use std::io::{BufRead, Write};

use anyhow::{Result, bail};
use cuda_std::emulator::Report;

use super::Outcome;

/// What to expect of one block size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guess {
    /// Whether the answer will come out right, if the guess says so.
    right: Option<bool>,
    /// The verdict.
    verdict: Verdict,
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

/// What to answer, for the prompt.
pub const WORDS: &str = "answer and verdict, such as `right race`: right or wrong; clean, race, divergent, \
                         uninitialised or lost";

impl Guess {
    /// Asks until the reply can be read.
    ///
    /// # Errors
    ///
    /// If the input ends before that.
    pub fn ask(block: u32, input: &mut dyn BufRead, output: &mut dyn Write) -> Result<Self> {
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
                None => writeln!(output, "  please say {WORDS}")?,
            }
        }
    }

    /// A guess in words: a verdict, with or without `right` or `wrong`.
    #[must_use]
    pub fn read(line: &str) -> Option<Self> {
        let (mut right, mut verdict) = (None, None);
        for word in line.split_whitespace().map(str::to_lowercase) {
            match &*word {
                "right" => right = Some(true),
                "wrong" => right = Some(false),
                word => verdict = Some(Verdict::ALL.into_iter().find(|verdict| verdict.word() == word)?),
            }
        }
        Some(Self { right, verdict: verdict? })
    }

    /// How the guess compares with what came.
    #[must_use]
    pub fn compare(self, outcome: &Outcome) -> String {
        let mut parts = Vec::new();
        if let (Some(guess), Some(wrong)) = (self.right, outcome.mismatches()) {
            let word = |right| if right { "right" } else { "wrong" };
            let was = wrong == 0;
            parts.push(match guess == was {
                true => format!("the answer is {}, as you said", word(was)),
                false => format!("the answer is {}, and you said {}", word(was), word(guess)),
            });
        }
        let said = self.verdict.word();
        parts.push(if self.verdict.holds(&outcome.report) {
            format!("the verdict is {said}, as you said")
        } else {
            let holds = |verdict: &Verdict| verdict.holds(&outcome.report);
            let found: Vec<_> = Verdict::ALL.into_iter().filter(holds).map(Verdict::word).collect();
            format!("the verdict is {}, and you said {said}", found.join(" and "))
        });
        format!("{} threads a block: {}", outcome.block, parts.join("; "))
    }
}
