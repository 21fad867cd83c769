//! The same launches of what a card gets: did the compiler change the verdict?

use std::path::Path;

use anyhow::Result;

use super::arguments::Arguments;
use super::program::Program;
use super::{Args, launches};
use crate::harness::Launched;

/// One line: the same verdict, or where it differs, or why it cannot be said.
pub(super) fn compare(
    path: &Path,
    args: &Args,
    arguments: &Arguments,
    shared: u32,
    source: &[Launched],
) -> String {
    match judged(path, args, arguments, shared) {
        Ok(card) => difference(source, &card),
        Err(error) => format!("cannot be judged: {error:#}"),
    }
}

fn judged(path: &Path, args: &Args, arguments: &Arguments, shared: u32) -> Result<Vec<Launched>> {
    let program = Program::read(path, args)?;
    launches(args, &program, arguments, shared)
}

fn difference(source: &[Launched], card: &[Launched]) -> String {
    let mut different = source.iter().zip(card).filter(|(source, card)| source.summary() != card.summary());
    match different.next() {
        None => "the compiler did not change the verdict".into(),
        Some((source, card)) => {
            let changes: Vec<_> = source
                .summary()
                .into_iter()
                .zip(card.summary())
                .filter(|(before, after)| before != after)
                .map(|((what, before), (_, after))| {
                    format!("{what} {before} in the source, {after} for a card")
                })
                .collect();
            let more = match different.count() {
                0 => String::new(),
                more => format!("; {more} more launches differ"),
            };
            format!(
                "the compiler CHANGED the verdict: with blocks of {} threads {}{more}; `cargo xtask ptx FILE` compiles \
                 without the pass that splits barriers",
                source.block,
                changes.join(", ")
            )
        }
    }
}
