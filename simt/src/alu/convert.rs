//! `cvt`: from one type to another.

use ptx::{Instruction, Type};
use rustc_apfloat::Round;

use super::format::{Format, Single, Tensor, convert_soft, mode, rounding, with_format, with_mode};
use super::shape::Alu;
use super::word::{Int, Word, with_word};

/// Does the result extend as a signed integer where the destination register is wider than the type of the result?
///
/// PTX lets the destination of a `cvt` or `ld` be wider than its type. The result of [`scalar`](super::scalar) has
/// the width of that type, the first among the modifiers, with zeros above it. If this is true, the caller copies
/// the sign of that width to the width of the register.
#[must_use]
pub fn extends_signed(instruction: &Instruction) -> bool {
    matches!(instruction.opcode.as_str(), "cvt" | "ld" | "ldu")
        && !instruction.has("pack")
        && instruction.types().next().is_some_and(Type::is_signed)
}

pub(super) fn scalar(instruction: &Instruction) -> Option<Alu> {
    if instruction.opcode != "cvt" || has_small_format(instruction) {
        return None;
    }
    if instruction.has("pack") {
        return pack(instruction);
    }
    let mode = mode::of(instruction);
    if instruction.has("tf32") {
        return tensor(instruction.has("rna"), mode);
    }
    let mut types = instruction.types();
    let (to, from) = (types.next()?, types.next()?);
    match (to, from) {
        (Type::F16x2 | Type::BF16x2, Type::F32) => pair(to, mode),
        _ if from.is_float() && to.is_float() => match integral_rounding(instruction) {
            Some(round) if from == to => integral(from, round | mode & !mode::ROUNDING),
            Some(_) => None,
            None => between_floats(from, to, mode),
        },
        _ if from.is_float() => {
            let round = integral_rounding(instruction).unwrap_or(mode::ZERO);
            to_integer(from, to, round | mode & mode::FLUSH)
        }
        _ if to.is_float() => from_integer(from, to, mode & !mode::FLUSH),
        _ => between_integers(from, to, mode & mode::SATURATE != 0),
    }
}

/// Does it convert to or from a format of 4, 6 or 8 bits, or round at random?
fn has_small_format(instruction: &Instruction) -> bool {
    instruction.modifiers.iter().any(|word| {
        word == "rs"
            || word.starts_with("ue")
            || word.starts_with('e') && word.as_bytes().get(1).is_some_and(u8::is_ascii_digit)
    })
}

/// The rounding of `.rni` to `.rpi`.
fn integral_rounding(instruction: &Instruction) -> Option<u32> {
    let words = [("rni", 0), ("rzi", mode::ZERO), ("rmi", mode::DOWN), ("rpi", mode::UP)];
    words.into_iter().find(|&(word, _)| instruction.has(word)).map(|(_, round)| round)
}

fn between_integers(from: Type, to: Type, saturate: bool) -> Option<Alu> {
    with_word!(from, S => with_word!(to, D => Alu::One(if saturate {
        |a| D::saturate(S::wide(a))
    } else {
        |a| D::wrap(S::wide(a))
    })))
    .flatten()
}

fn from_integer(from: Type, to: Type, mode: u32) -> Option<Alu> {
    with_word!(from, T => with_format!(to, F => with_mode!(
        mode, [0 1 2 3 8 9 10 11], M => Alu::One(|a| F::result(F::integer::<T>(a, rounding(M)), M))
    )))
    .flatten()
    .flatten()
}

fn to_integer(from: Type, to: Type, mode: u32) -> Option<Alu> {
    with_format!(from, F => with_word!(to, T => with_mode!(
        mode, [0 1 2 3 4 5 6 7], M => Alu::One(number_to_integer::<F, T, M>)
    )))
    .flatten()
    .flatten()
}

/// `.ftz` is about `.f32` alone.
fn flush_single<F: Format>(a: u64, mode: u32) -> u64 {
    if F::BITS == Single::BITS { F::operand(a, mode) } else { a & F::MASK }
}

/// Rounds to an integer.
fn round(a: f64, mode: u32) -> f64 {
    match mode & mode::ROUNDING {
        mode::ZERO => a.trunc(),
        mode::DOWN => a.floor(),
        mode::UP => a.ceil(),
        _ => a.round_ties_even(),
    }
}

/// What is beyond the integers of the type becomes the nearest of them. A NaN becomes 0 if neither type has 64 bits,
/// else the number of which only the highest bit is set.
fn number_to_integer<F: Format, T: Word, const MODE: u32>(a: u64) -> u64 {
    let a = flush_single::<F>(a, MODE);
    if F::is_nan(a) {
        return if F::BITS < 64 && T::BITS < 64 { 0 } else { 1 << (T::BITS - 1) };
    }
    let integral = round(F::widen(a), MODE);
    if T::SIGNED { T::saturate((integral as i64).into()) } else { T::saturate((integral as u64).into()) }
}

fn integral(ty: Type, mode: u32) -> Option<Alu> {
    with_format!(ty, F => with_mode!(
        mode, [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15], M => Alu::One(number_to_integral::<F, M>)
    ))
    .flatten()
}

/// The sign of zero stays.
fn number_to_integral<F: Format, const MODE: u32>(a: u64) -> u64 {
    let a = flush_single::<F>(a, MODE);
    if F::is_nan(a) {
        return F::result(F::or_nan(a, &[a]), MODE);
    }
    F::result(F::narrow(round(F::widen(a), MODE), Round::NearestTiesToEven), MODE & !mode::FLUSH)
}

fn between_floats(from: Type, to: Type, mode: u32) -> Option<Alu> {
    with_format!(from, S => with_format!(to, D => with_mode!(
        mode,
        [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 32 33 48 49],
        M => Alu::One(number_to_number::<S, D, M>)
    )))
    .flatten()
    .flatten()
}

fn number_to_number<S: Format, D: Format, const MODE: u32>(a: u64) -> u64 {
    let a = flush_single::<S>(a, MODE);
    if S::is_nan(a) {
        return nan_to_nan::<S, D, MODE>(a);
    }
    let converted = D::narrow(S::widen(a), rounding(MODE));
    flush_single::<D>(D::result(converted, MODE & !mode::FLUSH), MODE)
}

/// As an H200 does; PTX leaves it open. Conversions from and to `.f64` keep the sign and what fits of the payload, and
/// make it quiet; but with `.ftz` what is widened is the NaN of `.f32`. One from `.bf16` to `.f32` moves the bits. All
/// others give the NaN of the format.
fn nan_to_nan<S: Format, D: Format, const MODE: u32>(a: u64) -> u64 {
    if MODE & mode::SATURATE != 0 {
        return 0;
    }
    let a = if S::BITS == Single::BITS && MODE & mode::FLUSH != 0 { S::NAN } else { a };
    if S::PAYLOADS || D::PAYLOADS {
        // The library makes it quiet.
        convert_soft::<S, D>(a, Round::TowardZero) | D::QUIET
    } else if S::EXPONENT_BITS == D::EXPONENT_BITS && S::BITS < D::BITS {
        (a & S::MASK) << (D::BITS - S::BITS)
    } else {
        D::NAN
    }
}

/// Two numbers, the first of which goes to the upper half.
fn pair(to: Type, mode: u32) -> Option<Alu> {
    let half = if to == Type::F16x2 { Type::F16 } else { Type::BF16 };
    with_format!(half, F => with_mode!(mode, [0 1 16 17 32 33 48 49], M => Alu::Two(|a, b| {
        number_to_number::<Single, F, M>(a) << 16 | number_to_number::<Single, F, M>(b)
    })))
    .flatten()
}

/// To `.tf32`, in a register of 32 bits.
fn tensor(away: bool, mode: u32) -> Option<Alu> {
    if away {
        with_mode!(mode, [0 32], M => Alu::One(|a| number_to_tensor(a, Round::NearestTiesToAway, M)))
    } else {
        with_mode!(mode, [0 1 16 17 32 33 48 49], M => Alu::One(|a| number_to_tensor(a, rounding(M), M)))
    }
}

fn number_to_tensor(a: u64, round: Round, mode: u32) -> u64 {
    if Single::is_nan(a) && round == Round::NearestTiesToAway {
        // The upper bits alone, even if no payload is left and it becomes an infinity: as an H200 does; PTX leaves it open.
        let unused = Single::BITS - Tensor::BITS;
        return (a & Single::MASK) >> unused << unused;
    }
    Tensor::result(convert_soft::<Single, Tensor>(a, round), mode) << (Single::BITS - Tensor::BITS)
}

/// `cvt.pack.sat`: two integers, saturated, the first above the second. With a third operand, that moves up to make
/// room for them.
fn pack(instruction: &Instruction) -> Option<Alu> {
    let signed = instruction.types().any(|ty| ty == Type::S32);
    let narrow = instruction.modifiers.get(2)?.as_str();
    macro_rules! packed {
        ($bits:literal, $signed:literal) => {
            Alu::Three(if signed {
                |a, b, c| pack_integers::<Int<32, true>, Int<$bits, $signed>>(a, b, c)
            } else {
                |a, b, c| pack_integers::<Int<32, false>, Int<$bits, $signed>>(a, b, c)
            })
        };
    }
    macro_rules! pair {
        ($signed:literal) => {
            Alu::Two(if signed {
                |a, b| pack_integers::<Int<32, true>, Int<16, $signed>>(a, b, 0)
            } else {
                |a, b| pack_integers::<Int<32, false>, Int<16, $signed>>(a, b, 0)
            })
        };
    }
    Some(match narrow {
        "u16" => pair!(false),
        "s16" => pair!(true),
        "u8" => packed!(8, false),
        "s8" => packed!(8, true),
        "u4" => packed!(4, false),
        "s4" => packed!(4, true),
        "u2" => packed!(2, false),
        "s2" => packed!(2, true),
        _ => return None,
    })
}

fn pack_integers<S: Word, D: Word>(a: u64, b: u64, above: u64) -> u64 {
    let (a, b) = (D::saturate(S::wide(a)), D::saturate(S::wide(b)));
    Int::<32, false>::wrap((above << (2 * D::BITS) | a << D::BITS | b).into())
}
