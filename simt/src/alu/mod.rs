//! What each instruction computes for one lane, as plain functions on bits.
//!
//! [`scalar`] looks an instruction up once; the function that it returns is then called for every lane. Nothing here
//! knows registers, memory or other lanes.
//!
//! Operands and results sit zero-extended in the low bits of a `u64`; bits of an operand above the width of its
//! type are ignored. A predicate is 0 or 1. No function panics, whatever the operands.
//!
//! Source of the semantics, where nothing else is named: PTX ISA 9.0, "Instruction Set".

mod approximate;
mod atomic;
mod bits;
mod compare;
mod convert;
mod float;
mod format;
mod integer;
mod select;
mod shape;
mod word;

pub use atomic::atomic;
pub use compare::{comparison, set_value};
pub use convert::extends_signed;
pub use integer::carry;
use ptx::Instruction;
pub use shape::Alu;

/// What this instruction computes, or `None` if it is not one of these or is not supported.
///
/// The function takes the source operands in the order of the PTX. What takes more than that, or less:
///
/// - `addc`, `subc` and `madc` take the carry flag as their last operand; the flag that a `.cc` writes is
///   [`carry`]'s.
/// - `lop3` takes its table as the fourth operand; the predicate of `lop3.and` and `lop3.or` is the caller's to
///   combine.
/// - `setp` and `set` are [`comparison`]'s. Only `set` of two packed halves is here, without a predicate to combine.
/// - `mov` here copies one register; packing and unpacking `{a, b}` is the caller's.
#[must_use]
pub fn scalar(instruction: &Instruction) -> Option<Alu> {
    integer::scalar(instruction)
        .or_else(|| bits::scalar(instruction))
        .or_else(|| float::scalar(instruction))
        .or_else(|| approximate::scalar(instruction))
        .or_else(|| convert::scalar(instruction))
        .or_else(|| compare::scalar(instruction))
        .or_else(|| select::scalar(instruction))
}
