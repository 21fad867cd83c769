//! What the steps of a random program are written with.

use fastrand::Rng;

use crate::cases::Case;

/// Registers of each width that the steps of a program read and write.
pub(crate) const HALVES: usize = 4;
pub(crate) const WORDS: usize = 8;
pub(crate) const DOUBLES: usize = 4;
pub(crate) const PREDICATES: usize = 4;

/// Writes one program.
pub(crate) struct Writer<'a> {
    pub(crate) text: String,
    pub(crate) random: &'a mut Rng,
    pub(crate) cases: Vec<&'a Case>,
    /// Threads of a block.
    pub(crate) block: u32,
    /// For `sm_90`.
    pub(crate) new: bool,
    /// Labels and loop counters so far.
    pub(crate) labels: usize,
}

impl Writer<'_> {
    pub(crate) fn line(&mut self, line: &str) {
        self.text += "\t";
        self.text += line;
        self.text += "\n";
    }

    /// A register of so many bits; 1 for a predicate.
    pub(crate) fn any(&mut self, bits: u32) -> String {
        match bits {
            1 => format!("%p{}", self.random.usize(..PREDICATES)),
            16 => format!("%h{}", self.random.usize(..HALVES)),
            32 => format!("%r{}", self.random.usize(..WORDS)),
            _ => format!("%l{}", self.random.usize(..DOUBLES)),
        }
    }

    /// Two different registers.
    pub(crate) fn two(&mut self, bits: u32) -> (String, String) {
        let first = self.any(bits);
        loop {
            let second = self.any(bits);
            if second != first {
                return (first, second);
            }
        }
    }

    pub(crate) fn label(&mut self) -> usize {
        self.labels += 1;
        self.labels
    }

    /// No guard, more often than one.
    pub(crate) fn guard(&mut self) -> String {
        match self.random.u32(..8) {
            0 => format!("@{} ", self.any(1)),
            1 => format!("@!{} ", self.any(1)),
            _ => String::new(),
        }
    }

    /// A predicate, negated now and then.
    pub(crate) fn condition(&mut self) -> String {
        let negation = if self.random.bool() { "!" } else { "" };
        format!("{negation}{}", self.any(1))
    }
}
