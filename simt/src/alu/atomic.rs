//! What atomics and reductions make of the value in memory.

use ptx::{Instruction, Type};

use super::float;
use super::format::{Brain, Double, Format as _, Half, Single, mode};
use super::integer::{add, max, min};
use super::shape::halves2;
use super::word::{Word, with_word};

/// The new value of an `atom` or `red`, of what memory holds, operand `b` and operand `c`; `c` counts for `cas`
/// alone. Of one element where the instruction has a vector of them. The function of a `redux` is that of the same
/// operation.
///
/// `.f32` additions to global memory flush subnormal numbers, as the PTX ISA says of current cards; those to shared
/// memory do not, nor, here, those that name no state space.
#[must_use]
pub fn atomic(instruction: &Instruction) -> Option<fn(u64, u64, u64) -> u64> {
    if !matches!(instruction.opcode.as_str(), "atom" | "red" | "redux") {
        return None;
    }
    let ty = instruction.ty()?;
    let operation =
        instruction.modifiers.iter().map(String::as_str).find(|word| OPERATIONS.contains(word))?;
    if ty.is_float() {
        return of_numbers(operation, ty, instruction.has("global"), instruction.has("shared"));
    }
    with_word!(ty, T => Some(match operation {
        "add" => (|old, b, _| add::<T>(old, b)) as fn(u64, u64, u64) -> u64,
        "min" => |old, b, _| min::<T>(old, b),
        "max" => |old, b, _| max::<T>(old, b),
        "and" => |old, b, _| old & b & T::MASK,
        "or" => |old, b, _| (old | b) & T::MASK,
        "xor" => |old, b, _| (old ^ b) & T::MASK,
        "inc" => |old, b, _| if T::less(old, b) { add::<T>(old, 1) } else { 0 },
        "dec" => |old, b, _| if old & T::MASK == 0 || T::less(b, old) { b & T::MASK } else { (old - 1) & T::MASK },
        "exch" => |_, b, _| b & T::MASK,
        "cas" => |old, b, c| if (old ^ b) & T::MASK == 0 { c & T::MASK } else { old & T::MASK },
        _ => return None,
    }))
    .flatten()
}

const OPERATIONS: [&str; 10] = ["add", "min", "max", "and", "or", "xor", "inc", "dec", "exch", "cas"];

fn of_numbers(operation: &str, ty: Type, global: bool, shared: bool) -> Option<fn(u64, u64, u64) -> u64> {
    const GREATER: u32 = float::choice::GREATER;
    Some(match (operation, ty) {
        ("add", Type::F32) if global => |old, b, _| float::add::<Single, { mode::FLUSH }>(old, b),
        ("add", Type::F32) => |old, b, _| float::add::<Single, 0>(old, b),
        // A loop of compare-and-swap with the sum `b + old` on an H200; elsewhere its second-level cache adds.
        ("add", Type::F64) if shared => |old, b, _| float::add::<Double, 0>(b, old),
        ("add", Type::F64) => |old, b, _| match [b, old].into_iter().find(|&a| Double::is_nan(a)) {
            // As it is, not made quiet.
            Some(nan) => nan,
            None => float::add::<Double, 0>(old, b),
        },
        ("add", Type::F16) => |old, b, _| float::add::<Half, 0>(old, b),
        ("add", Type::BF16) => |old, b, _| float::add::<Brain, 0>(old, b),
        ("add", Type::F16x2) => |old, b, _| halves2(old, b, float::add::<Half, 0>),
        ("add", Type::BF16x2) => |old, b, _| halves2(old, b, float::add::<Brain, 0>),
        ("min", Type::F16) => |old, b, _| float::choose::<Half, 0>(old, b),
        ("max", Type::F16) => |old, b, _| float::choose::<Half, GREATER>(old, b),
        ("min", Type::BF16) => |old, b, _| float::choose::<Brain, 0>(old, b),
        ("max", Type::BF16) => |old, b, _| float::choose::<Brain, GREATER>(old, b),
        ("min", Type::F16x2) => |old, b, _| halves2(old, b, float::choose::<Half, 0>),
        ("max", Type::F16x2) => |old, b, _| halves2(old, b, float::choose::<Half, GREATER>),
        ("min", Type::BF16x2) => |old, b, _| halves2(old, b, float::choose::<Brain, 0>),
        ("max", Type::BF16x2) => |old, b, _| halves2(old, b, float::choose::<Brain, GREATER>),
        ("exch", Type::F32) => |_, b, _| b & 0xffff_ffff,
        ("exch", Type::F64) => |_, b, _| b,
        _ => return None,
    })
}
