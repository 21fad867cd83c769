//! Functions that PTX gives with a bounded error: here the nearest value, or nearly so.
//!
//! A card's result may differ by the error that the PTX ISA allows. Each is computed in `f64` and rounded, with the
//! same bits on every platform.

use ptx::{Instruction, Type};
use rustc_apfloat::Round;

use super::format::{Brain, Double, Format, Half, Single, mode, with_mode};
use super::shape::{Alu, halves1};

pub(super) fn scalar(instruction: &Instruction) -> Option<Alu> {
    if !(instruction.has("approx") || instruction.has("full")) {
        return None;
    }
    let mut types = instruction.types();
    let ty = types.next().filter(|_| types.next().is_none())?;
    let mode = mode::of(instruction) & mode::FLUSH;
    match (instruction.opcode.as_str(), ty) {
        ("div", Type::F32) if instruction.has("approx") => {
            with_mode!(mode, [0 4], M => Alu::Two(divide_fast::<M>))
        }
        ("div", Type::F32) => with_mode!(mode, [0 4], M => Alu::Two(divide::<M>)),
        ("rcp", Type::F64) => Some(Alu::One(|a| upper(a, |a| 1.0 / a))),
        ("rsqrt", Type::F64) if mode != 0 => Some(Alu::One(|a| upper(a, |a| 1.0 / a.sqrt()))),
        ("rsqrt", Type::F64) => {
            Some(Alu::One(|a| Double::or_nan((1.0 / Double::widen(a).sqrt()).to_bits(), &[a])))
        }
        ("rcp", Type::F32) => with_mode!(mode, [0 4], M => Alu::One(|a| of::<Single, M>(a, |a| 1.0 / a))),
        ("sqrt", Type::F32) => with_mode!(mode, [0 4], M => Alu::One(|a| of::<Single, M>(a, f64::sqrt))),
        ("rsqrt", Type::F32) => {
            with_mode!(mode, [0 4], M => Alu::One(|a| of::<Single, M>(a, |a| 1.0 / a.sqrt())))
        }
        ("sin", Type::F32) => with_mode!(mode, [0 4], M => Alu::One(|a| turns::<M>(a, libm::sin))),
        ("cos", Type::F32) => with_mode!(mode, [0 4], M => Alu::One(|a| turns::<M>(a, libm::cos))),
        ("lg2", Type::F32) => with_mode!(mode, [0 4], M => Alu::One(|a| of::<Single, M>(a, libm::log2))),
        ("ex2", Type::F32) => with_mode!(mode, [0 4], M => Alu::One(|a| of::<Single, M>(a, libm::exp2))),
        ("tanh", Type::F32) => Some(Alu::One(|a| of::<Single, 0>(a, libm::tanh))),
        ("ex2", Type::F16) => Some(Alu::One(|a| of::<Half, 0>(a, libm::exp2))),
        ("tanh", Type::F16) => Some(Alu::One(|a| of::<Half, 0>(a, libm::tanh))),
        ("ex2", Type::BF16) => with_mode!(mode, [0 4], M => Alu::One(|a| of::<Brain, M>(a, libm::exp2))),
        ("tanh", Type::BF16) => Some(Alu::One(|a| of::<Brain, 0>(a, libm::tanh))),
        ("ex2", Type::F16x2) => Some(Alu::One(|a| halves1(a, |a| of::<Half, 0>(a, libm::exp2)))),
        ("tanh", Type::F16x2) => Some(Alu::One(|a| halves1(a, |a| of::<Half, 0>(a, libm::tanh)))),
        ("ex2", Type::BF16x2) => {
            with_mode!(mode, [0 4], M => Alu::One(|a| halves1(a, |a| of::<Brain, M>(a, libm::exp2))))
        }
        ("tanh", Type::BF16x2) => Some(Alu::One(|a| halves1(a, |a| of::<Brain, 0>(a, libm::tanh)))),
        _ => None,
    }
}

/// A function of one number, rounded to the nearest.
fn of<F: Format, const MODE: u32>(a: u64, function: impl Fn(f64) -> f64) -> u64 {
    let value = function(F::widen(F::operand(a, MODE)));
    F::result(F::narrow(value, Round::NearestTiesToEven), MODE)
}

/// A sine or cosine. As an H200 does, the angle is first multiplied by 1/2π of `.f32`, towards zero, and subnormal
/// numbers are flushed; of the turns that this gives, only the fraction counts. So angles of many turns have the errors
/// that a card's have.
fn turns<const MODE: u32>(a: u64, function: impl Fn(f64) -> f64) -> u64 {
    const PER_RADIAN: u64 = 0x3e22_f983;
    let turns = Single::flush(Single::product(Single::flush(a), PER_RADIAN, Round::TowardZero));
    of::<Single, MODE>(turns, |turns| function(turns.fract() * std::f64::consts::TAU))
}

/// "For 2^126 < |b| < 2^128, if a is infinity, div.approx.f32 delivers NaN, otherwise it delivers 0" (PTX ISA, `div`).
fn divide_fast<const MODE: u32>(a: u64, b: u64) -> u64 {
    const BOUND: u64 = 0x7e80_0000;
    let magnitude = b & Single::MAGNITUDE;
    if (BOUND + 1..Single::INFINITY).contains(&magnitude) {
        return Single::result(Single::product(a, b & Single::SIGN, Round::NearestTiesToEven), MODE);
    }
    divide::<MODE>(a, b)
}

fn divide<const MODE: u32>(a: u64, b: u64) -> u64 {
    let [a, b] = [a, b].map(|a| Single::operand(a, MODE));
    Single::result(Single::quotient(a, b, Round::NearestTiesToEven), MODE)
}

/// The functions of `.f64` that take and give only the upper half of a number, and flush. They have a NaN of their
/// own.
fn upper(a: u64, function: impl Fn(f64) -> f64) -> u64 {
    const UPPER: u64 = 0xffff_ffff_0000_0000;
    const NAN: u64 = 0x7fff_ffff_0000_0000;
    let value = function(f64::from_bits(Double::flush(a & UPPER)));
    if value.is_nan() { NAN } else { Double::flush(value.to_bits()) & UPPER }
}
