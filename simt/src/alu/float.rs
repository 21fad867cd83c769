//! Floating-point arithmetic: all that IEEE 754 or a copy of bits defines to the last bit.

use ptx::{Instruction, Type};

use super::format::{Double, Format, Single, mode, rounding, with_format, with_mode};
use super::shape::{Alu, halves1, halves2, halves3};

/// `Some(expression)` for each mode that an operation of this type has.
macro_rules! with_arithmetic {
    ($ty:expr, $mode:expr, $F:ident, $M:ident => $e:expr) => {
        match $ty {
            Type::F64 => {
                type $F = Double;
                with_mode!($mode, [0 1 2 3], $M => $e)
            }
            Type::F32 => {
                type $F = Single;
                with_mode!($mode, [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15], $M => $e)
            }
            Type::F16 | Type::BF16 => {
                with_format!($ty, $F => with_mode!($mode, [0 4 8 12 16 20], $M => $e)).flatten()
            }
            _ => None,
        }
    };
}

pub(super) fn scalar(instruction: &Instruction) -> Option<Alu> {
    let mut types = instruction.types();
    let ty = types.next()?;
    if types.next().is_some() || instruction.has("approx") || instruction.has("full") {
        return None;
    }
    let opcode = instruction.opcode.as_str();
    let packed = match ty {
        Type::F16x2 => Some(Type::F16),
        Type::BF16x2 => Some(Type::BF16),
        _ => None,
    };
    match packed {
        Some(half) => arithmetic_packed(opcode, half, mode::of(instruction))
            .or_else(|| extremum_packed(instruction, half)),
        None => arithmetic(opcode, ty, mode::of(instruction))
            .or_else(|| extremum(instruction, ty))
            .or_else(|| root(opcode, ty, mode::of(instruction)))
            .or_else(|| test(instruction, ty)),
    }
}

fn arithmetic(opcode: &str, ty: Type, mode: u32) -> Option<Alu> {
    match opcode {
        "add" => with_arithmetic!(ty, mode, F, M => Alu::Two(add::<F, M>)),
        "sub" => with_arithmetic!(ty, mode, F, M => Alu::Two(sub::<F, M>)),
        "mul" => with_arithmetic!(ty, mode, F, M => Alu::Two(mul::<F, M>)),
        "fma" => with_arithmetic!(ty, mode, F, M => Alu::Three(fma::<F, M>)),
        "mad" if matches!(ty, Type::F32 | Type::F64) => {
            with_arithmetic!(ty, mode, F, M => Alu::Three(fma::<F, M>))
        }
        "div" => with_arithmetic!(ty, mode, F, M => Alu::Two(div::<F, M>)),
        "rcp" => with_arithmetic!(ty, mode, F, M => Alu::One(|a| div::<F, M>(F::ONE, a))),
        "neg" => with_arithmetic!(ty, mode, F, M => Alu::One(neg::<F, M>)),
        "abs" => with_arithmetic!(ty, mode, F, M => Alu::One(abs::<F, M>)),
        "copysign" => with_format!(ty, F => Alu::Two(|sign, a| sign & F::SIGN | a & F::MAGNITUDE)),
        _ => None,
    }
}

fn arithmetic_packed(opcode: &str, half: Type, mode: u32) -> Option<Alu> {
    match opcode {
        "add" => with_arithmetic!(half, mode, F, M => Alu::Two(|a, b| halves2(a, b, add::<F, M>))),
        "sub" => with_arithmetic!(half, mode, F, M => Alu::Two(|a, b| halves2(a, b, sub::<F, M>))),
        "mul" => with_arithmetic!(half, mode, F, M => Alu::Two(|a, b| halves2(a, b, mul::<F, M>))),
        "fma" => with_arithmetic!(half, mode, F, M => Alu::Three(|a, b, c| halves3(a, b, c, fma::<F, M>))),
        "neg" => with_arithmetic!(half, mode, F, M => Alu::One(|a| halves1(a, neg::<F, M>))),
        "abs" => with_arithmetic!(half, mode, F, M => Alu::One(|a| halves1(a, abs::<F, M>))),
        _ => None,
    }
}

// Which of several `.f64` NaNs comes through is what an H200 does; PTX leaves it open. It is the second operand of a
// sum or a product, of a fused one the second, the third, the first, and of a quotient the first.

pub(super) fn add<F: Format, const MODE: u32>(a: u64, b: u64) -> u64 {
    let sum = F::sum(F::operand(a, MODE), F::operand(b, MODE), rounding(MODE));
    F::result(F::or_nan(sum, &[b, a]), MODE)
}

/// A NaN keeps its sign.
fn sub<F: Format, const MODE: u32>(a: u64, b: u64) -> u64 {
    let difference = F::sum(F::operand(a, MODE), F::operand(b ^ F::SIGN, MODE), rounding(MODE));
    F::result(F::or_nan(difference, &[b, a]), MODE)
}

fn mul<F: Format, const MODE: u32>(a: u64, b: u64) -> u64 {
    let product = F::product(F::operand(a, MODE), F::operand(b, MODE), rounding(MODE));
    F::result(F::or_nan(product, &[b, a]), MODE)
}

fn fma<F: Format, const MODE: u32>(a: u64, b: u64, c: u64) -> u64 {
    let [a, b, c] = [a, b, c].map(|a| F::operand(a, MODE));
    F::result(F::or_nan(F::fused(a, b, c, rounding(MODE)), &[b, c, a]), MODE)
}

fn div<F: Format, const MODE: u32>(a: u64, b: u64) -> u64 {
    let quotient = F::quotient(F::operand(a, MODE), F::operand(b, MODE), rounding(MODE));
    F::result(F::or_nan(quotient, &[a, b]), MODE)
}

/// A NaN keeps its sign in `.f64`, or becomes the format's own: as an H200 does; PTX leaves it open.
fn neg<F: Format, const MODE: u32>(a: u64) -> u64 {
    let a = a & F::MASK;
    if F::is_nan(a) { F::result(F::or_nan(a, &[a]), 0) } else { F::operand(a ^ F::SIGN, MODE) }
}

/// A NaN is as in [`neg`].
fn abs<F: Format, const MODE: u32>(a: u64) -> u64 {
    let a = a & F::MASK;
    if F::is_nan(a) { F::result(F::or_nan(a, &[a]), 0) } else { F::operand(a & F::MAGNITUDE, MODE) }
}

/// Which of two numbers `min` and `max` give.
pub(super) mod choice {
    /// The greater.
    pub(in crate::alu) const GREATER: u32 = 1;
    /// `.NaN`: a NaN if any operand is one, where else the other operand counts.
    pub(in crate::alu) const NAN: u32 = 2;
    /// `.xorsign.abs`: of the magnitudes, with the product of the signs.
    pub(in crate::alu) const MAGNITUDE: u32 = 4;
    /// Operands are flushed.
    pub(in crate::alu) const FLUSH: u32 = 8;
}

fn choice(instruction: &Instruction) -> Option<u32> {
    let greater = match instruction.opcode.as_str() {
        "min" => 0,
        "max" => choice::GREATER,
        _ => return None,
    };
    let words = [("NaN", choice::NAN), ("xorsign", choice::MAGNITUDE), ("ftz", choice::FLUSH)];
    Some(
        words.into_iter().filter(|&(word, _)| instruction.has(word)).fold(greater, |all, (_, bit)| all | bit),
    )
}

fn extremum(instruction: &Instruction, ty: Type) -> Option<Alu> {
    let three = instruction.operands.len() == 4;
    let choice = choice(instruction)?;
    with_format!(ty, F => with_mode!(choice, [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15], C => if three {
        Alu::Three(|a, b, c| choose::<F, C>(choose::<F, C>(a, b), c))
    } else {
        Alu::Two(choose::<F, C>)
    }))
    .flatten()
}

fn extremum_packed(instruction: &Instruction, half: Type) -> Option<Alu> {
    let choice = choice(instruction)?;
    with_format!(half, F => with_mode!(
        choice, [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15], C => Alu::Two(|a, b| halves2(a, b, choose::<F, C>))
    ))
    .flatten()
}

/// `min` or `max`, where -0 is less than +0.
pub(super) fn choose<F: Format, const CHOICE: u32>(a: u64, b: u64) -> u64 {
    let flush = |a: u64| if CHOICE & choice::FLUSH != 0 { F::flush(a & F::MASK) } else { a & F::MASK };
    let (mut a, mut b) = (flush(a), flush(b));
    let mut sign = 0;
    if CHOICE & choice::MAGNITUDE != 0 {
        sign = (a ^ b) & F::SIGN;
        a &= F::MAGNITUDE;
        b &= F::MAGNITUDE;
    }
    let chosen = match (F::is_nan(a), F::is_nan(b)) {
        // The second, where payloads stay: as an H200 does.
        (true, true) => return F::result(F::or_nan(b, &[b]), 0),
        (true, false) | (false, true) if CHOICE & choice::NAN != 0 => return F::NAN,
        (true, false) => b,
        (false, true) => a,
        (false, false) => {
            // Of two equal numbers, only zeros can differ in the sign.
            let less = (F::key(a), a & F::SIGN == 0) < (F::key(b), b & F::SIGN == 0);
            if less == (CHOICE & choice::GREATER == 0) { a } else { b }
        }
    };
    chosen | sign
}

fn root(opcode: &str, ty: Type, mode: u32) -> Option<Alu> {
    match (opcode, ty) {
        ("sqrt", Type::F32) => with_mode!(mode, [0 1 2 3 4 5 6 7], M => Alu::One(sqrt32::<M>)),
        ("sqrt", Type::F64) => with_mode!(mode, [0 1 2 3], M => Alu::One(sqrt64::<M>)),
        _ => None,
    }
}

fn sqrt32<const MODE: u32>(a: u64) -> u64 {
    let a = f32::from_bits(Single::operand(a, MODE) as u32);
    let root = a.sqrt();
    // Exact: a square of 24 bits has 48.
    let excess = f64::from(root) * f64::from(root) - f64::from(a);
    Single::result(step::<MODE>(root.to_bits().into(), excess), MODE)
}

fn sqrt64<const MODE: u32>(a: u64) -> u64 {
    let a = f64::from_bits(a);
    // Where the excess could be too small for a number, that of the same digits farther up.
    let scaled = if a < 1e-200 { a * 2f64.powi(512) } else { a };
    let root = scaled.sqrt();
    let excess = root.mul_add(root, -scaled);
    Double::or_nan(step::<MODE>(a.sqrt().to_bits(), excess), &[a.to_bits()])
}

/// Makes a root that was rounded to the nearest the one that the mode asks for. `excess` has the sign of what its
/// square is too great; NaN and infinity are exact.
fn step<const MODE: u32>(root: u64, excess: f64) -> u64 {
    match MODE & mode::ROUNDING {
        mode::UP if excess < 0.0 => root + 1,
        mode::DOWN | mode::ZERO if excess > 0.0 => root - 1,
        _ => root,
    }
}

/// `testp`
fn test(instruction: &Instruction, ty: Type) -> Option<Alu> {
    if instruction.opcode != "testp" {
        return None;
    }
    let property = instruction.modifiers.first()?;
    with_format!(ty, F => Some(Alu::One(match property.as_str() {
        "finite" => |a| u64::from(a & F::MAGNITUDE < F::INFINITY),
        "infinite" => |a| u64::from(a & F::MAGNITUDE == F::INFINITY),
        "number" => |a| u64::from(!F::is_nan(a)),
        "notanumber" => |a| u64::from(F::is_nan(a)),
        // "Positive and negative zero are considered normal numbers" (PTX ISA, `testp`).
        "normal" => |a| {
            let magnitude = a & F::MAGNITUDE;
            u64::from(magnitude == 0 || (F::LEAST_NORMAL..F::INFINITY).contains(&magnitude))
        },
        "subnormal" => |a| u64::from((1..F::LEAST_NORMAL).contains(&(a & F::MAGNITUDE))),
        _ => return None,
    })))
    .flatten()
}
