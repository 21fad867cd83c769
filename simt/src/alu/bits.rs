//! Logic, shifts and bit fields.

use ptx::{Instruction, Type};

use super::shape::Alu;
use super::word::{Int, Word, with_word};

type B32 = Int<32, false>;

pub(super) fn scalar(instruction: &Instruction) -> Option<Alu> {
    let ty = instruction.ty()?;
    let has = |word| instruction.has(word);
    let b32 = |alu| matches!(ty, Type::B32 | Type::U32 | Type::S32).then_some(alu);
    match instruction.opcode.as_str() {
        "and" if ty == Type::Pred => Some(Alu::Two(|a, b| a & b & 1)),
        "or" if ty == Type::Pred => Some(Alu::Two(|a, b| (a | b) & 1)),
        "xor" if ty == Type::Pred => Some(Alu::Two(|a, b| (a ^ b) & 1)),
        "not" if ty == Type::Pred => Some(Alu::One(|a| !a & 1)),
        "and" => with_word!(ty, T => Alu::Two(|a, b| a & b & T::MASK)),
        "or" => with_word!(ty, T => Alu::Two(|a, b| (a | b) & T::MASK)),
        "xor" => with_word!(ty, T => Alu::Two(|a, b| (a ^ b) & T::MASK)),
        "not" => with_word!(ty, T => Alu::One(|a| !a & T::MASK)),
        "cnot" => with_word!(ty, T => Alu::One(|a| u64::from(a & T::MASK == 0))),
        "lop3" => b32(Alu::Four(lop3)),
        "shl" => with_word!(ty, T => Alu::Two(shl::<T>)),
        "shr" => with_word!(ty, T => Alu::Two(shr::<T>)),
        "shf" => b32(Alu::Three(match (has("l"), has("wrap")) {
            (true, false) => |a, b, c| funnel_left(a, b, clamp(c)),
            (true, true) => |a, b, c| funnel_left(a, b, c & 31),
            (false, false) => |a, b, c| funnel_right(a, b, clamp(c)),
            (false, true) => |a, b, c| funnel_right(a, b, c & 31),
        })),
        "popc" => with_word!(ty, T => Alu::One(|a| (a & T::MASK).count_ones().into())),
        "clz" => with_word!(ty, T => Alu::One(clz::<T>)),
        "brev" => with_word!(ty, T => Alu::One(|a| a.reverse_bits() >> (64 - T::BITS))),
        "bfind" if has("shiftamt") => with_word!(ty, T => Alu::One(|a| match bfind::<T>(a) {
            NOT_FOUND => NOT_FOUND,
            bit => u64::from(T::BITS) - 1 - bit,
        })),
        "bfind" => with_word!(ty, T => Alu::One(bfind::<T>)),
        "fns" => b32(Alu::Three(fns)),
        "bfe" => with_word!(ty, T => Alu::Three(bfe::<T>)),
        "bfi" => with_word!(ty, T => Alu::Four(bfi::<T>)),
        "szext" => {
            with_word!(ty, T => Alu::Two(if has("clamp") { szext::<T, true> } else { szext::<T, false> }))
        }
        "bmsk" => b32(Alu::Two(if has("clamp") { bmsk::<true> } else { bmsk::<false> })),
        "prmt" => b32(Alu::Three(permute(instruction))),
        _ => None,
    }
}

/// Each bit of the result is the bit of `table` that the three bits of the operands select.
fn lop3(a: u64, b: u64, c: u64, table: u64) -> u64 {
    let word = (0..8).filter(|entry| table >> entry & 1 == 1).fold(0, |word, entry| {
        let pick = |operand: u64, bit: u32| if entry >> bit & 1 == 1 { operand } else { !operand };
        word | pick(a, 2) & pick(b, 1) & pick(c, 0)
    });
    word & B32::MASK
}

/// A shift amount is an unsigned 32-bit number, whatever the type of what is shifted; amounts above the width act as
/// the width.
fn shl<T: Word>(a: u64, b: u64) -> u64 {
    let amount = b & B32::MASK;
    if amount >= T::BITS.into() { 0 } else { a << amount & T::MASK }
}

fn shr<T: Word>(a: u64, b: u64) -> u64 {
    let amount = (b & B32::MASK).min(T::BITS.into()) as u32;
    if T::SIGNED {
        (T::signed(a) >> amount.min(63)).cast_unsigned() & T::MASK
    } else {
        (a & T::MASK).checked_shr(amount).unwrap_or(0)
    }
}

fn clamp(amount: u64) -> u64 {
    (amount & B32::MASK).min(32)
}

/// `b` holds the upper 32 bits of what is shifted by up to 32.
fn funnel(a: u64, b: u64) -> u64 {
    b << 32 | a & B32::MASK
}

fn funnel_left(a: u64, b: u64, amount: u64) -> u64 {
    (funnel(a, b) << amount) >> 32
}

fn funnel_right(a: u64, b: u64, amount: u64) -> u64 {
    funnel(a, b) >> amount & B32::MASK
}

fn clz<T: Word>(a: u64) -> u64 {
    ((a & T::MASK).leading_zeros() - (64 - T::BITS)).into()
}

const NOT_FOUND: u64 = 0xffff_ffff;

/// The place of the highest bit that is not a copy of the sign.
fn bfind<T: Word>(a: u64) -> u64 {
    let a = if T::less(a, 0) { !a } else { a };
    (a & T::MASK).checked_ilog2().map_or(NOT_FOUND, u64::from)
}

/// A base above 31 is undefined; here nothing is found from there. The least offset has no magnitude in 32 bits; an H200
/// gives 0 for it.
fn fns(mask: u64, base: u64, offset: u64) -> u64 {
    let base = base & B32::MASK;
    let offset = i64::from(offset as i32);
    if base > 31 {
        return NOT_FOUND;
    }
    if offset == i64::from(i32::MIN) {
        return 0;
    }
    let set = |bit: &u64| mask >> bit & 1 == 1;
    let nth = offset.unsigned_abs().saturating_sub(1) as usize;
    let found = match offset {
        0 => Some(base).filter(set),
        1.. => (base..32).filter(set).nth(nth),
        _ => (0..=base).rev().filter(set).nth(nth),
    };
    found.unwrap_or(NOT_FOUND)
}

/// Position and length of a field have 8 bits.
fn bfe<T: Word>(a: u64, position: u64, length: u64) -> u64 {
    let (position, length) = (position as u8, length as u8);
    if length == 0 {
        return 0;
    }
    let top = T::BITS - 1;
    let last = (u32::from(position) + u32::from(length) - 1).min(top);
    let sign = T::SIGNED && a >> last & 1 == 1;
    let field = if u32::from(position) > top { 0 } else { (a & T::MASK) >> position };
    // How many bits of the field lie inside the operand.
    let inside = (last + 1).saturating_sub(position.into());
    let ones = u64::MAX.checked_shl(inside).unwrap_or(0);
    (if sign { field | ones } else { field & !ones }) & T::MASK
}

fn bfi<T: Word>(a: u64, b: u64, position: u64, length: u64) -> u64 {
    let (position, length) = (position as u8, length as u8);
    let ones = !u64::MAX.checked_shl(length.into()).unwrap_or(0);
    let field = ones.checked_shl(position.into()).unwrap_or(0);
    let inserted = a.checked_shl(position.into()).unwrap_or(0);
    (inserted & field | b & !field) & T::MASK
}

fn szext<T: Word, const CLAMP: bool>(a: u64, b: u64) -> u64 {
    let b = b & B32::MASK;
    let length = b & 31;
    if CLAMP && b >= 32 {
        return a & B32::MASK;
    }
    let above = u64::MAX << length;
    let negative = T::SIGNED && length > 0 && a >> (length - 1) & 1 == 1;
    (if negative { a | above } else { a & !above }) & B32::MASK
}

fn bmsk<const CLAMP: bool>(a: u64, b: u64) -> u64 {
    let (a, b) = (a & B32::MASK, b & B32::MASK);
    if CLAMP && a >= 32 {
        return 0;
    }
    let from = a & 31;
    let end = if CLAMP && b >= 32 { 32 } else { (from + (b & 31)).min(32) };
    (u64::MAX << from) & !(u64::MAX << end) & B32::MASK
}

/// The function of a `prmt`: picks four of the eight bytes of `{b, a}`.
fn permute(instruction: &Instruction) -> fn(u64, u64, u64) -> u64 {
    let mode = ["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"].into_iter().position(|mode| instruction.has(mode));
    match mode {
        // Four bytes up, or down, from a start that counts modulo 8.
        Some(0) => |a, b, c| pick(a, b, |byte| byte + (c & 3)),
        Some(1) => |a, b, c| pick(a, b, |byte| (c & 3).wrapping_sub(byte) & 7),
        // One byte four times.
        Some(2) => |a, b, c| pick(a, b, |_| c & 3),
        // Edge clamped, from the left and from the right.
        Some(3) => |a, b, c| pick(a, b, |byte| byte.max(c & 3)),
        Some(4) => |a, b, c| pick(a, b, |byte| byte.min(c & 3)),
        // One half twice.
        Some(5) => |a, b, c| pick(a, b, |byte| byte & 1 | (c & 1) << 1),
        // Four bits a byte, the highest of which spreads the sign of the byte over it.
        _ => |a, b, c| pick(a, b, |byte| c >> (4 * byte) & 15),
    }
}

fn pick(a: u64, b: u64, selector: impl Fn(u64) -> u64) -> u64 {
    let bytes = funnel(a, b);
    (0..4).fold(0, |word, byte| {
        let selector = selector(byte);
        let picked = bytes >> (8 * (selector & 7)) & 0xff;
        let value = match selector >> 3 & 1 {
            1 if picked & 0x80 != 0 => 0xff,
            1 => 0,
            _ => picked,
        };
        word | value << (8 * byte)
    })
}
