//! Compares the outputs of a card.

use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};

use crate::cases::{Case, Class, is_miscompiled};
use crate::{Group, groups, kernel};

/// How the outputs of a case differ from what is expected.
#[derive(Default)]
struct Difference {
    /// Threads whose result has other bits.
    count: usize,
    /// The first few: operands, the card's result, the expected one.
    examples: Vec<(Vec<u64>, u64, u64)>,
    /// The greatest distance in units in the last place, where both are numbers.
    distance: u64,
}

pub(crate) fn check(folder: &Path) -> Result<()> {
    let (mut same, mut open, mut faulty, mut wrong) = (0, 0, 0, 0);
    for Group { name, cases } in groups() {
        let read = |extension: &str| -> Result<Vec<u64>> {
            let path = folder.join(format!("{name}.{extension}"));
            let bytes = std::fs::read(&path)
                .with_context(|| format!("cannot read {}; did the card run the kernel?", path.display()))?;
            Ok(bytes
                .chunks_exact(8)
                .map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default()))
                .collect())
        };
        let (inputs, outputs) = (
            read("in")?,
            match read("out") {
                Ok(outputs) => outputs,
                Err(error) => {
                    eprintln!("{error:#}");
                    wrong += cases.len();
                    continue;
                }
            },
        );
        let threads = inputs.len() / kernel::INPUTS;
        ensure!(
            outputs.len() == threads * cases.len(),
            "{name}.out has {} words; run the card again",
            outputs.len()
        );
        for (index, case) in cases.iter().enumerate() {
            let mut difference = Difference::default();
            for thread in 0..threads {
                let words = &inputs[thread * kernel::INPUTS..][..kernel::INPUTS];
                let operands = kernel::operands(case, words);
                let Some(expected) = case.expected(&operands) else {
                    bail!("{} is not supported", case.mnemonic);
                };
                difference.add(case, operands, outputs[thread * cases.len() + index], expected);
            }
            if difference.count == 0 {
                same += 1;
            } else if case.open || case.approximate {
                open += 1;
                difference.print(case, threads);
            } else if is_miscompiled(&case.instruction()) {
                faulty += 1;
                difference.print(case, threads);
            } else {
                wrong += 1;
                difference.print(case, threads);
            }
        }
    }
    println!(
        "{same} cases the same bit for bit; {open} others approximate or open; {faulty} that the driver compiles wrong; \
         {wrong} wrong"
    );
    if wrong > 0 {
        bail!("{wrong} cases are wrong");
    }
    Ok(())
}

impl Difference {
    fn add(&mut self, case: &Case, operands: Vec<u64>, card: u64, expected: u64) {
        if card == expected {
            return;
        }
        self.count += 1;
        let distance = distance(case, card, expected);
        if self.examples.len() < 3 || distance > self.distance {
            self.examples.truncate(2);
            self.examples.push((operands, card, expected));
        }
        self.distance = self.distance.max(distance);
    }

    fn print(&self, case: &Case, threads: usize) {
        let Self { count, distance, .. } = self;
        println!(
            "{} {:?}: {count} of {threads} differ, at most {distance} units in the last place",
            case.mnemonic, case.form
        );
        for (operands, card, expected) in &self.examples {
            println!("    {operands:x?}: card {card:x}, here {expected:x}");
        }
    }
}

/// Between two numbers of the format of the result, in units in the last place.
fn distance(case: &Case, card: u64, expected: u64) -> u64 {
    let halves = case.mnemonic.ends_with("x2");
    let bits = match case.class {
        Class::Half | Class::Brain => 16,
        Class::Single => 32,
        _ => 64,
    };
    let one = |card: u64, expected: u64| {
        let key = |word: u64| {
            let magnitude = (word & ((1 << (bits - 1)) - 1)).cast_signed();
            if word >> (bits - 1) & 1 == 1 { -magnitude } else { magnitude }
        };
        key(card).wrapping_sub(key(expected)).unsigned_abs()
    };
    if halves {
        one(card & 0xffff, expected & 0xffff).max(one(card >> 16, expected >> 16))
    } else {
        one(card, expected)
    }
}
