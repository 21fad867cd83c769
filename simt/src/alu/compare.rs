//! Comparisons.

use ptx::{Instruction, Type};

use super::format::{Format, with_format, with_mode};
use super::shape::{Alu, halves2};
use super::word::{Word, with_word};

/// What can hold between two values. A comparison is the sum of what it accepts.
mod relation {
    pub(super) const LESS: u32 = 1;
    pub(super) const EQUAL: u32 = 2;
    pub(super) const GREATER: u32 = 4;
    /// One is a NaN.
    pub(super) const UNORDERED: u32 = 8;
}
use relation::{EQUAL, GREATER, LESS, UNORDERED};

/// What the comparison word among the modifiers accepts, and whether it makes integers unsigned.
fn accepted(instruction: &Instruction) -> Option<(u32, bool)> {
    instruction.modifiers.iter().find_map(|word| {
        Some(match word.as_str() {
            "eq" => (EQUAL, false),
            "ne" => (LESS | GREATER, false),
            "lt" => (LESS, false),
            "le" => (LESS | EQUAL, false),
            "gt" => (GREATER, false),
            "ge" => (GREATER | EQUAL, false),
            "lo" => (LESS, true),
            "ls" => (LESS | EQUAL, true),
            "hi" => (GREATER, true),
            "hs" => (GREATER | EQUAL, true),
            "equ" => (EQUAL | UNORDERED, false),
            "neu" => (LESS | GREATER | UNORDERED, false),
            "ltu" => (LESS | UNORDERED, false),
            "leu" => (LESS | EQUAL | UNORDERED, false),
            "gtu" => (GREATER | UNORDERED, false),
            "geu" => (GREATER | EQUAL | UNORDERED, false),
            "num" => (LESS | EQUAL | GREATER, false),
            "nan" => (UNORDERED, false),
            _ => return None,
        })
    })
}

/// The comparison of a `setp` or `set`: of its operands `a` and `b`, before any combination with a predicate. Of one
/// half of each where the type is a packed one.
#[must_use]
pub fn comparison(instruction: &Instruction) -> Option<fn(u64, u64) -> bool> {
    if !matches!(instruction.opcode.as_str(), "setp" | "set") {
        return None;
    }
    let (accepted, unsigned) = accepted(instruction)?;
    let ty = match instruction.ty()? {
        Type::F16x2 => Type::F16,
        Type::BF16x2 => Type::BF16,
        Type::S16 if unsigned => Type::U16,
        Type::S32 if unsigned => Type::U32,
        Type::S64 if unsigned => Type::U64,
        ty => ty,
    };
    if ty.is_float() {
        let flush = instruction.has("ftz");
        with_format!(ty, F => with_mode!(
            accepted,
            [1 2 3 4 5 6 7 8 9 10 11 12 13 14],
            A => if flush { compare_numbers::<F, A, true> } else { compare_numbers::<F, A, false> }
        ))
        .flatten()
    } else {
        with_word!(ty, T => with_mode!(accepted, [1 2 3 4 5 6], A => compare_integers::<T, A> as _)).flatten()
    }
}

fn compare_integers<T: Word, const ACCEPTED: u32>(a: u64, b: u64) -> bool {
    let holds = if T::less(a, b) {
        LESS
    } else if T::less(b, a) {
        GREATER
    } else {
        EQUAL
    };
    ACCEPTED & holds != 0
}

fn compare_numbers<F: Format, const ACCEPTED: u32, const FLUSH: bool>(a: u64, b: u64) -> bool {
    let key = |a: u64| F::key(if FLUSH { F::flush(a) } else { a });
    let holds = if F::is_nan(a) || F::is_nan(b) {
        UNORDERED
    } else {
        match key(a).cmp(&key(b)) {
            std::cmp::Ordering::Less => LESS,
            std::cmp::Ordering::Equal => EQUAL,
            std::cmp::Ordering::Greater => GREATER,
        }
    };
    ACCEPTED & holds != 0
}

/// What a `set` writes where its comparison, combined with its predicate, holds; else it writes 0. `None` for
/// another instruction, and for packed types.
#[must_use]
pub fn set_value(instruction: &Instruction) -> Option<u64> {
    if instruction.opcode != "set" {
        return None;
    }
    let ty = instruction.types().next()?;
    with_format!(ty, F => F::ONE).or_else(|| with_word!(ty, T => T::MASK))
}

/// `set` of packed numbers, without a predicate.
pub(super) fn scalar(instruction: &Instruction) -> Option<Alu> {
    let mut types = instruction.types();
    let (result, ty) = (types.next()?, types.next()?);
    let combines = ["and", "or", "xor"].into_iter().any(|word| instruction.has(word));
    if instruction.opcode != "set" || result != ty || combines {
        return None;
    }
    let half = match ty {
        Type::F16x2 => Type::F16,
        Type::BF16x2 => Type::BF16,
        _ => return None,
    };
    let (accepted, _) = accepted(instruction)?;
    let flush = instruction.has("ftz");
    with_format!(half, F => with_mode!(accepted, [1 2 3 4 5 6 7 8 9 10 11 12 13 14], A => Alu::Two(if flush {
        |a, b| halves2(a, b, |a, b| F::ONE * u64::from(compare_numbers::<F, A, true>(a, b)))
    } else {
        |a, b| halves2(a, b, |a, b| F::ONE * u64::from(compare_numbers::<F, A, false>(a, b)))
    })))
    .flatten()
}

/// Is this number at least zero? A NaN is not.
pub(super) fn at_least_zero<F: Format, const FLUSH: bool>(a: u64) -> bool {
    compare_numbers::<F, { GREATER | EQUAL }, FLUSH>(a, 0)
}
