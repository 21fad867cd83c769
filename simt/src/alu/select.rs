//! Copies and selections.

use ptx::{Instruction, Type};

use super::compare::at_least_zero;
use super::format::Single;
use super::shape::Alu;

/// `Some(expression)` with the constant `MASK` standing for the bits of a type of up to 64 bits.
macro_rules! with_mask {
    ($ty:expr, $MASK:ident => $e:expr) => {
        match $ty {
            Type::Pred => Some({
                const $MASK: u64 = 1;
                $e
            }),
            Type::B128 => None,
            ty => match ty.size() {
                1 => Some({
                    const $MASK: u64 = 0xff;
                    $e
                }),
                2 => Some({
                    const $MASK: u64 = 0xffff;
                    $e
                }),
                4 => Some({
                    const $MASK: u64 = 0xffff_ffff;
                    $e
                }),
                _ => Some({
                    const $MASK: u64 = u64::MAX;
                    $e
                }),
            },
        }
    };
}

pub(super) fn scalar(instruction: &Instruction) -> Option<Alu> {
    let mut types = instruction.types();
    let ty = types.next()?;
    match (instruction.opcode.as_str(), types.next()) {
        ("mov", None) => with_mask!(ty, MASK => Alu::One(|a| a & MASK)),
        ("selp", None) => {
            with_mask!(ty, MASK => Alu::Three(|a, b, p| (if p & 1 == 1 { a } else { b }) & MASK))
        }
        // The third operand of a `slct` is of the second type.
        ("slct", Some(Type::S32)) => {
            with_mask!(ty, MASK => Alu::Three(|a, b, c| (if c as i32 >= 0 { a } else { b }) & MASK))
        }
        ("slct", Some(Type::F32)) if instruction.has("ftz") => with_mask!(
            ty, MASK => Alu::Three(|a, b, c| (if at_least_zero::<Single, true>(c) { a } else { b }) & MASK)
        ),
        ("slct", Some(Type::F32)) => with_mask!(
            ty, MASK => Alu::Three(|a, b, c| (if at_least_zero::<Single, false>(c) { a } else { b }) & MASK)
        ),
        _ => None,
    }
}
