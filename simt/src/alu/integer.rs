//! Integer arithmetic.

use ptx::{Instruction, Type};

use super::shape::{Alu, halves2};
use super::word::{Int, Word, with_word};

/// The one type among the modifiers; `None` for the mixed forms, whose operands have several.
fn only_type(instruction: &Instruction) -> Option<Type> {
    let mut types = instruction.types();
    types.next().filter(|_| types.next().is_none())
}

pub(super) fn scalar(instruction: &Instruction) -> Option<Alu> {
    match instruction.opcode.as_str() {
        "dp4a" => return dot(instruction, false),
        "dp2a" => return dot(instruction, true),
        _ => {}
    }
    if instruction.has("u16x2") || instruction.has("s16x2") {
        return packed(instruction);
    }
    let ty = only_type(instruction)?;
    let has = |word| instruction.has(word);
    let (low, high, wide) = (has("lo"), has("hi"), has("wide"));
    match (instruction.opcode.as_str(), ty) {
        ("add", Type::S32) if has("sat") => Some(Alu::Two(add_saturating)),
        ("sub", Type::S32) if has("sat") => Some(Alu::Two(sub_saturating)),
        ("mad", Type::S32) if high && has("sat") => Some(Alu::Three(mad_hi_saturating)),
        ("mad24", Type::S32) if high && has("sat") => Some(Alu::Three(mad24_hi_saturating)),
        ("max" | "min", Type::S32) if has("relu") => Some(Alu::Two(if instruction.opcode == "max" {
            |a, b| relu::<Int<32, true>>(max::<Int<32, true>>(a, b))
        } else {
            |a, b| relu::<Int<32, true>>(min::<Int<32, true>>(a, b))
        })),
        ("add", _) => with_word!(ty, T => Alu::Two(add::<T>)),
        ("addc", _) => with_word!(ty, T => Alu::Three(|a, b, carry| add::<T>(add::<T>(a, b), carry))),
        ("sub", _) => with_word!(ty, T => Alu::Two(sub::<T>)),
        ("subc", _) => with_word!(ty, T => Alu::Three(|a, b, carry| sub::<T>(sub::<T>(a, b), !carry & 1))),
        ("mul", _) if wide => with_word!(ty, T => Alu::Two(mul_wide::<T>)),
        ("mul", _) if high => with_word!(ty, T => Alu::Two(mul_hi::<T>)),
        ("mul", _) if low => with_word!(ty, T => Alu::Two(mul::<T>)),
        ("mad", _) if wide => with_word!(ty, T => Alu::Three(mad_wide::<T>)),
        ("mad", _) if high => with_word!(ty, T => Alu::Three(|a, b, c| add::<T>(mul_hi::<T>(a, b), c))),
        ("mad", _) if low => with_word!(ty, T => Alu::Three(|a, b, c| add::<T>(mul::<T>(a, b), c))),
        ("madc", _) if high => with_word!(
            ty, T => Alu::Four(|a, b, c, carry| add::<T>(add::<T>(mul_hi::<T>(a, b), c), carry))
        ),
        ("madc", _) if low => with_word!(
            ty, T => Alu::Four(|a, b, c, carry| add::<T>(add::<T>(mul::<T>(a, b), c), carry))
        ),
        ("mul24", Type::U32 | Type::S32) if high => with_word!(ty, T => Alu::Two(mul24::<T, 16>)),
        ("mul24", Type::U32 | Type::S32) if low => with_word!(ty, T => Alu::Two(mul24::<T, 0>)),
        ("mad24", Type::U32 | Type::S32) if high => {
            with_word!(ty, T => Alu::Three(|a, b, c| add::<T>(mul24::<T, 16>(a, b), c)))
        }
        ("mad24", Type::U32 | Type::S32) if low => {
            with_word!(ty, T => Alu::Three(|a, b, c| add::<T>(mul24::<T, 0>(a, b), c)))
        }
        ("sad", _) => with_word!(ty, T => Alu::Three(sad::<T>)),
        ("div", _) => with_word!(ty, T => Alu::Two(div::<T>)),
        ("rem", _) => with_word!(ty, T => Alu::Two(rem::<T>)),
        ("abs", _) => with_word!(ty, T => Alu::One(abs::<T>)),
        ("neg", _) => with_word!(ty, T => Alu::One(|a| sub::<T>(0, a))),
        ("min", _) => with_word!(ty, T => Alu::Two(min::<T>)),
        ("max", _) => with_word!(ty, T => Alu::Two(max::<T>)),
        _ => None,
    }
}

/// Two 16-bit integers in a word.
fn packed(instruction: &Instruction) -> Option<Alu> {
    type S = Int<16, true>;
    type U = Int<16, false>;
    Some(Alu::Two(match (instruction.opcode.as_str(), instruction.has("s16x2"), instruction.has("relu")) {
        ("add", _, false) => |a, b| halves2(a, b, add::<U>),
        ("min", false, false) => |a, b| halves2(a, b, min::<U>),
        ("max", false, false) => |a, b| halves2(a, b, max::<U>),
        ("min", true, false) => |a, b| halves2(a, b, min::<S>),
        ("max", true, false) => |a, b| halves2(a, b, max::<S>),
        ("min", true, true) => |a, b| halves2(a, b, |a, b| relu::<S>(min::<S>(a, b))),
        ("max", true, true) => |a, b| halves2(a, b, |a, b| relu::<S>(max::<S>(a, b))),
        _ => return None,
    }))
}

/// The carry flag that an instruction with `.cc` writes, from the operands that [`scalar`](super::scalar)'s function
/// takes: 1 for a carry out of an addition; for a subtraction, 0 for a borrow and 1 for none, since a card adds the
/// complement. (PTX says that the flag is the borrow, which shows only where a sum takes up the flag of a difference:
/// there an H200 adds 1 if there was no borrow.) `None` for an instruction that leaves the flag alone.
#[must_use]
pub fn carry(instruction: &Instruction) -> Option<Alu> {
    if !instruction.has("cc") {
        return None;
    }
    let ty = only_type(instruction)?;
    let high = instruction.has("hi");
    match instruction.opcode.as_str() {
        "add" => with_word!(ty, T => Alu::Two(|a, b| carry_out::<T>(a, b, 0))),
        "addc" => with_word!(ty, T => Alu::Three(carry_out::<T>)),
        "sub" => with_word!(ty, T => Alu::Two(|a, b| no_borrow::<T>(a, b, 1))),
        "subc" => with_word!(ty, T => Alu::Three(no_borrow::<T>)),
        "mad" if high => with_word!(ty, T => Alu::Three(|a, b, c| carry_out::<T>(mul_hi::<T>(a, b), c, 0))),
        "mad" => with_word!(ty, T => Alu::Three(|a, b, c| carry_out::<T>(mul::<T>(a, b), c, 0))),
        "madc" if high => {
            with_word!(ty, T => Alu::Four(|a, b, c, carry| carry_out::<T>(mul_hi::<T>(a, b), c, carry)))
        }
        "madc" => with_word!(ty, T => Alu::Four(|a, b, c, carry| carry_out::<T>(mul::<T>(a, b), c, carry))),
        _ => None,
    }
}

pub(super) fn add<T: Word>(a: u64, b: u64) -> u64 {
    a.wrapping_add(b) & T::MASK
}

fn sub<T: Word>(a: u64, b: u64) -> u64 {
    a.wrapping_sub(b) & T::MASK
}

fn mul<T: Word>(a: u64, b: u64) -> u64 {
    a.wrapping_mul(b) & T::MASK
}

fn carry_out<T: Word>(a: u64, b: u64, carry: u64) -> u64 {
    let sum = u128::from(a & T::MASK) + u128::from(b & T::MASK) + u128::from(carry & 1);
    u64::from(sum > T::MASK.into())
}

fn no_borrow<T: Word>(a: u64, b: u64, carry: u64) -> u64 {
    u64::from(u128::from(a & T::MASK) + u128::from(carry & 1) > u128::from(b & T::MASK))
}

/// The product, which fits 128 bits: `wrapping` only because of what unsigned 64-bit factors make of an `i128`.
fn product<T: Word>(a: u64, b: u64) -> i128 {
    T::wide(a).wrapping_mul(T::wide(b))
}

fn mul_hi<T: Word>(a: u64, b: u64) -> u64 {
    T::wrap(product::<T>(a, b) >> T::BITS)
}

fn mul_wide<T: Word>(a: u64, b: u64) -> u64 {
    let above = 64u32.saturating_sub(2 * T::BITS);
    (product::<T>(a, b) as u64) << above >> above
}

fn mad_wide<T: Word>(a: u64, b: u64, c: u64) -> u64 {
    let above = 64u32.saturating_sub(2 * T::BITS);
    mul_wide::<T>(a, b).wrapping_add(c) << above >> above
}

fn add_saturating(a: u64, b: u64) -> u64 {
    (a as i32).saturating_add(b as i32).cast_unsigned().into()
}

fn sub_saturating(a: u64, b: u64) -> u64 {
    (a as i32).saturating_sub(b as i32).cast_unsigned().into()
}

fn mad_hi_saturating(a: u64, b: u64, c: u64) -> u64 {
    add_saturating(mul_hi::<Int<32, true>>(a, b), c)
}

fn mad24_hi_saturating(a: u64, b: u64, c: u64) -> u64 {
    add_saturating(mul24::<Int<32, true>, 16>(a, b), c)
}

/// 32 bits, from bit `FROM` up, of the product of the low 24 bits of each factor.
fn mul24<T: Word, const FROM: u32>(a: u64, b: u64) -> u64 {
    let product = if T::SIGNED { product::<Int<24, true>>(a, b) } else { product::<Int<24, false>>(a, b) };
    T::wrap(product >> FROM)
}

fn sad<T: Word>(a: u64, b: u64, c: u64) -> u64 {
    let distance = if T::less(a, b) { b.wrapping_sub(a) } else { a.wrapping_sub(b) };
    distance.wrapping_add(c) & T::MASK
}

/// Division by zero is unspecified; here it gives all ones, as on an H200. The quotient of the least number and -1 wraps.
fn div<T: Word>(a: u64, b: u64) -> u64 {
    let quotient = if b & T::MASK == 0 {
        u64::MAX
    } else if T::SIGNED {
        T::signed(a).wrapping_div(T::signed(b)).cast_unsigned()
    } else {
        (a & T::MASK) / (b & T::MASK)
    };
    quotient & T::MASK
}

/// The remainder of a division by zero is unspecified; here it is all ones, as an H200 has it.
fn rem<T: Word>(a: u64, b: u64) -> u64 {
    let rest = if b & T::MASK == 0 {
        u64::MAX
    } else if T::SIGNED {
        T::signed(a).wrapping_rem(T::signed(b)).cast_unsigned()
    } else {
        (a & T::MASK) % (b & T::MASK)
    };
    rest & T::MASK
}

/// The least number stays what it is.
fn abs<T: Word>(a: u64) -> u64 {
    if T::less(a, 0) { sub::<T>(0, a) } else { a & T::MASK }
}

pub(super) fn min<T: Word>(a: u64, b: u64) -> u64 {
    (if T::less(b, a) { b } else { a }) & T::MASK
}

pub(super) fn max<T: Word>(a: u64, b: u64) -> u64 {
    (if T::less(a, b) { b } else { a }) & T::MASK
}

/// A negative number becomes zero.
fn relu<T: Word>(a: u64) -> u64 {
    max::<T>(a, 0)
}

/// `dp4a` and `dp2a`: both types are `.u32` or `.s32`, and say how the parts of each operand extend.
fn dot(instruction: &Instruction, two_way: bool) -> Option<Alu> {
    let mut types = instruction.types();
    let (a, b) = (types.next()?, types.next()?);
    let signed = |ty: Type| matches!(ty, Type::U32 | Type::S32).then_some(ty == Type::S32);
    type S8 = Int<8, true>;
    type U8 = Int<8, false>;
    type S16 = Int<16, true>;
    type U16 = Int<16, false>;
    Some(Alu::Three(match (two_way, instruction.has("hi"), signed(a)?, signed(b)?) {
        (false, _, false, false) => dot_product::<U8, U8, 4, 0>,
        (false, _, false, true) => dot_product::<U8, S8, 4, 0>,
        (false, _, true, false) => dot_product::<S8, U8, 4, 0>,
        (false, _, true, true) => dot_product::<S8, S8, 4, 0>,
        (true, false, false, false) => dot_product::<U16, U8, 2, 0>,
        (true, false, false, true) => dot_product::<U16, S8, 2, 0>,
        (true, false, true, false) => dot_product::<S16, U8, 2, 0>,
        (true, false, true, true) => dot_product::<S16, S8, 2, 0>,
        (true, true, false, false) => dot_product::<U16, U8, 2, 16>,
        (true, true, false, true) => dot_product::<U16, S8, 2, 16>,
        (true, true, true, false) => dot_product::<S16, U8, 2, 16>,
        (true, true, true, true) => dot_product::<S16, S8, 2, 16>,
    }))
}

/// The sum of `c` and the products of `N` parts of `a` with parts of `b` from bit `FROM` up.
fn dot_product<A: Word, B: Word, const N: u32, const FROM: u32>(a: u64, b: u64, c: u64) -> u64 {
    let products = (0..N).map(|part| A::wide(a >> (part * A::BITS)) * B::wide(b >> (FROM + part * B::BITS)));
    Int::<32, false>::wrap(products.sum::<i128>() + i128::from(c))
}
