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
    /// The greatest absolute and relative errors, where both are numbers.
    absolute: f64,
    relative: f64,
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
        let operand = f32::from_bits(operands.first().map_or(0, |&a| a as u32));
        // Where PTX bounds which error.
        let (absolute, relative) = match case.mnemonic.get(..3) {
            Some("sin" | "cos") => (operand.abs() <= std::f32::consts::TAU, false),
            Some("lg2") => ((0.5..=2.0).contains(&operand), !(0.5..=2.0).contains(&operand)),
            _ => (true, true),
        };
        for (card, expected) in numbers(case, card).into_iter().zip(numbers(case, expected)) {
            let error = (card - expected).abs();
            if error.is_finite() && error > 0.0 {
                self.absolute = self.absolute.max(if absolute { error } else { 0.0 });
                self.relative = self.relative.max(if relative { error / expected.abs() } else { 0.0 });
            }
        }
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
        if case.approximate {
            let of = |error: f64| if error > 0.0 { format!("2^{:.2}", error.log2()) } else { "none".into() };
            println!(
                "    where PTX bounds it: greatest absolute difference {}, relative {}",
                of(self.absolute),
                of(self.relative)
            );
        }
        for (operands, card, expected) in &self.examples {
            println!("    {operands:x?}: card {card:x}, here {expected:x}");
        }
    }
}

/// The numbers that a result holds.
fn numbers(case: &Case, word: u64) -> Vec<f64> {
    let half = |word: u64| {
        // An `.f16` in the bits of an `.f32`, its exponent too small by the difference of the biases.
        let small = f32::from_bits(((word & 0x8000) << 16 | (word & 0x7fff) << 13) as u32);
        let beyond = word & 0x7c00 == 0x7c00;
        if beyond { f64::NAN } else { f64::from(small) * 2f64.powi(112) }
    };
    let brain = |word: u64| f64::from(f32::from_bits((word as u32 & 0xffff) << 16));
    let halves = if case.mnemonic.ends_with("x2") { 2 } else { 1 };
    match case.class {
        Class::Integer => Vec::new(),
        Class::Single => vec![f32::from_bits(word as u32).into()],
        Class::Double => vec![f64::from_bits(word)],
        Class::Half => (0..halves).map(|at| half(word >> (16 * at))).collect(),
        Class::Brain => (0..halves).map(|at| brain(word >> (16 * at))).collect(),
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
