//! Floating-point formats, and their arithmetic on bits, rounded once.

use rustc_apfloat::ieee::{IeeeFloat, Semantics};
use rustc_apfloat::{Float, FloatConvert, Round, ieee};

use super::word::Word;

/// What modifiers say about a computation: a sum of the constants below. A const parameter, so that the functions
/// of each combination are compiled apart.
pub(super) mod mode {
    /// The bits that hold the rounding.
    pub(in crate::alu) const ROUNDING: u32 = 3;
    /// `.rz`: towards zero. Nothing: to the nearest, ties to even.
    pub(in crate::alu) const ZERO: u32 = 1;
    /// `.rm`: down.
    pub(in crate::alu) const DOWN: u32 = 2;
    /// `.rp`: up.
    pub(in crate::alu) const UP: u32 = 3;
    /// `.ftz`: subnormal operands and results are zeros of their sign.
    pub(in crate::alu) const FLUSH: u32 = 4;
    /// `.sat`: results are clamped to 0..=1; NaN becomes 0.
    pub(in crate::alu) const SATURATE: u32 = 8;
    /// `.relu`: negative results become 0.
    pub(in crate::alu) const RELU: u32 = 16;
    /// `.satfinite`: what would be infinite becomes the largest finite number.
    pub(in crate::alu) const FINITE: u32 = 32;

    /// The mode of these modifiers.
    pub(in crate::alu) fn of(instruction: &ptx::Instruction) -> u32 {
        let words = [
            ("rz", ZERO),
            ("rm", DOWN),
            ("rp", UP),
            ("ftz", FLUSH),
            ("sat", SATURATE),
            ("relu", RELU),
            ("satfinite", FINITE),
        ];
        words.into_iter().filter(|&(word, _)| instruction.has(word)).fold(0, |mode, (_, bit)| mode | bit)
    }
}

/// The rounding of a mode.
pub(super) const fn rounding(mode: u32) -> Round {
    match mode & mode::ROUNDING {
        mode::ZERO => Round::TowardZero,
        mode::DOWN => Round::TowardNegative,
        mode::UP => Round::TowardPositive,
        _ => Round::NearestTiesToEven,
    }
}

/// A floating-point format. Values are its bits.
///
/// The host's own arithmetic serves where it rounds as asked; `rustc_apfloat` the rest.
pub(super) trait Format: Sized {
    /// For `rustc_apfloat`.
    type Semantics: Semantics;
    /// The width.
    const BITS: u32;
    /// Of the exponent.
    const EXPONENT_BITS: u32;
    /// The NaN that instructions give of their own.
    const NAN: u64;
    /// Does a NaN come through an operation with its sign and payload? Else it becomes [`NAN`](Self::NAN).
    const PAYLOADS: bool = false;

    /// The bits behind the binary point.
    const FRACTION_BITS: u32 = Self::BITS - 1 - Self::EXPONENT_BITS;
    /// The bit of the sign.
    const SIGN: u64 = 1 << (Self::BITS - 1);
    /// All bits but the sign.
    const MAGNITUDE: u64 = Self::SIGN - 1;
    /// All bits.
    const MASK: u64 = Self::SIGN | Self::MAGNITUDE;
    /// The bits of positive infinity.
    const INFINITY: u64 = ((1 << Self::EXPONENT_BITS) - 1) << Self::FRACTION_BITS;
    /// The bit that makes a NaN a quiet one.
    const QUIET: u64 = 1 << (Self::FRACTION_BITS - 1);
    /// The bits of 1.
    const ONE: u64 = ((1 << (Self::EXPONENT_BITS - 1)) - 1) << Self::FRACTION_BITS;
    /// The bits of the least normal number.
    const LEAST_NORMAL: u64 = 1 << Self::FRACTION_BITS;

    /// `a + b`
    fn sum(a: u64, b: u64, round: Round) -> u64 {
        soft_bits(soft::<Self>(a).add_r(soft::<Self>(b), round).value)
    }

    /// `a * b`
    fn product(a: u64, b: u64, round: Round) -> u64 {
        soft_bits(soft::<Self>(a).mul_r(soft::<Self>(b), round).value)
    }

    /// `a * b + c`
    fn fused(a: u64, b: u64, c: u64, round: Round) -> u64 {
        soft_bits(soft::<Self>(a).mul_add_r(soft::<Self>(b), soft::<Self>(c), round).value)
    }

    /// `a / b`
    fn quotient(a: u64, b: u64, round: Round) -> u64 {
        soft_bits(soft::<Self>(a).div_r(soft::<Self>(b), round).value)
    }

    /// An integer, rounded.
    fn integer<T: Word>(a: u64, round: Round) -> u64 {
        integer_soft::<Self, T>(a, round)
    }

    /// As `f64`, which holds every value of every format here.
    fn widen(a: u64) -> f64 {
        f64::from_bits(convert_soft::<Self, Double>(a, Round::NearestTiesToEven))
    }

    /// Rounded from `f64`.
    fn narrow(a: f64, round: Round) -> u64 {
        convert_soft::<Double, Self>(a.to_bits(), round)
    }

    /// Is it a NaN?
    fn is_nan(a: u64) -> bool {
        a & Self::MAGNITUDE > Self::INFINITY
    }

    /// Bits whose order as integers is that of the values; equal for the two zeros. Not for NaN.
    fn key(a: u64) -> i64 {
        let magnitude = (a & Self::MAGNITUDE).cast_signed();
        if a & Self::SIGN == 0 { magnitude } else { -magnitude }
    }

    /// A subnormal number becomes the zero of its sign.
    fn flush(a: u64) -> u64 {
        if a & Self::MAGNITUDE < Self::LEAST_NORMAL { a & Self::SIGN } else { a }
    }

    /// An operand as the mode takes it.
    #[inline]
    fn operand(a: u64, mode: u32) -> u64 {
        if mode & mode::FLUSH != 0 { Self::flush(a) } else { a }
    }

    /// The result of an operation whose operands are these: if it is a NaN, one of them that is a NaN, made quiet, the
    /// first one that is; or else the format's own.
    #[inline]
    fn or_nan(result: u64, operands: &[u64]) -> u64 {
        if !Self::PAYLOADS || !Self::is_nan(result) {
            return result;
        }
        operands.iter().find(|&&a| Self::is_nan(a)).map_or(Self::NAN, |a| a | Self::QUIET)
    }

    /// A rounded result as the mode leaves it. A NaN becomes the format's own, if it has no payloads.
    #[inline]
    fn result(a: u64, mode: u32) -> u64 {
        if Self::is_nan(a) {
            return match () {
                () if mode & mode::SATURATE != 0 => 0,
                () if Self::PAYLOADS => a,
                () => Self::NAN,
            };
        }
        if mode & (mode::SATURATE | mode::RELU) != 0 && a & Self::SIGN != 0 {
            return 0;
        }
        if mode & mode::SATURATE != 0 && a > Self::ONE {
            return Self::ONE;
        }
        if mode & mode::FINITE != 0 && a & Self::MAGNITUDE == Self::INFINITY {
            return a - 1;
        }
        Self::operand(a, mode)
    }
}

/// The value of bits.
fn soft<F: Format>(a: u64) -> IeeeFloat<F::Semantics> {
    IeeeFloat::from_bits((a & F::MASK).into())
}

/// The bits of a value.
fn soft_bits<S: Semantics>(a: IeeeFloat<S>) -> u64 {
    a.to_bits() as u64
}

/// From one format to another, rounded.
pub(super) fn convert_soft<S: Format, D: Format>(a: u64, round: Round) -> u64 {
    let converted: IeeeFloat<D::Semantics> = soft::<S>(a).convert_r(round, &mut false).value;
    soft_bits(converted)
}

/// An integer, rounded.
fn integer_soft<F: Format, T: Word>(a: u64, round: Round) -> u64 {
    soft_bits(IeeeFloat::<F::Semantics>::from_i128_r(T::wide(a), round).value)
}

/// `.f16`
pub(super) struct Half;
/// `.bf16`
pub(super) struct Brain;
/// `.tf32`: the 19 bits that it has, without the 13 zeros behind them.
pub(super) struct Tensor;
/// `.f32`
pub(super) struct Single;
/// `.f64`
pub(super) struct Double;

/// The 19 bits of `.tf32`.
pub(super) struct TensorSemantics;

impl Semantics for TensorSemantics {
    const BITS: usize = 19;
    const EXP_BITS: usize = 8;
}

impl Format for Half {
    type Semantics = ieee::HalfS;
    const BITS: u32 = 16;
    const EXPONENT_BITS: u32 = 5;
    const NAN: u64 = 0x7fff;
}

impl Format for Brain {
    type Semantics = ieee::BFloatS;
    const BITS: u32 = 16;
    const EXPONENT_BITS: u32 = 8;
    const NAN: u64 = 0x7fff;
}

impl Format for Tensor {
    type Semantics = TensorSemantics;
    const BITS: u32 = 19;
    const EXPONENT_BITS: u32 = 8;
    const NAN: u64 = 0x3ffff;
}

/// The operators of a host type, for rounding to the nearest.
macro_rules! host_arithmetic {
    ($host:ty) => {
        fn sum(a: u64, b: u64, round: Round) -> u64 {
            match round {
                Round::NearestTiesToEven => Self::bits(Self::host(a) + Self::host(b)),
                _ => soft_bits(soft::<Self>(a).add_r(soft::<Self>(b), round).value),
            }
        }

        fn product(a: u64, b: u64, round: Round) -> u64 {
            match round {
                Round::NearestTiesToEven => Self::bits(Self::host(a) * Self::host(b)),
                _ => soft_bits(soft::<Self>(a).mul_r(soft::<Self>(b), round).value),
            }
        }

        fn fused(a: u64, b: u64, c: u64, round: Round) -> u64 {
            match round {
                Round::NearestTiesToEven => Self::bits(Self::host(a).mul_add(Self::host(b), Self::host(c))),
                _ => soft_bits(soft::<Self>(a).mul_add_r(soft::<Self>(b), soft::<Self>(c), round).value),
            }
        }

        fn quotient(a: u64, b: u64, round: Round) -> u64 {
            match round {
                Round::NearestTiesToEven => Self::bits(Self::host(a) / Self::host(b)),
                _ => soft_bits(soft::<Self>(a).div_r(soft::<Self>(b), round).value),
            }
        }

        fn integer<T: Word>(a: u64, round: Round) -> u64 {
            match round {
                Round::NearestTiesToEven if T::SIGNED => Self::bits(T::signed(a) as $host),
                Round::NearestTiesToEven => Self::bits((a & T::MASK) as $host),
                _ => integer_soft::<Self, T>(a, round),
            }
        }
    };
}

impl Single {
    fn host(a: u64) -> f32 {
        f32::from_bits(a as u32)
    }

    fn bits(a: f32) -> u64 {
        a.to_bits().into()
    }
}

impl Double {
    fn host(a: u64) -> f64 {
        f64::from_bits(a)
    }

    fn bits(a: f64) -> u64 {
        a.to_bits()
    }
}

impl Format for Single {
    type Semantics = ieee::SingleS;
    const BITS: u32 = 32;
    const EXPONENT_BITS: u32 = 8;
    const NAN: u64 = 0x7fff_ffff;

    host_arithmetic!(f32);

    fn widen(a: u64) -> f64 {
        Self::host(a).into()
    }

    fn narrow(a: f64, round: Round) -> u64 {
        match round {
            Round::NearestTiesToEven => Self::bits(a as f32),
            _ => convert_soft::<Double, Self>(a.to_bits(), round),
        }
    }
}

impl Format for Double {
    type Semantics = ieee::DoubleS;
    const BITS: u32 = 64;
    const EXPONENT_BITS: u32 = 11;
    /// As an H200 does; PTX names no NaN of `.f64`, but says that payloads stay.
    const NAN: u64 = 0xfff8_0000_0000_0000;
    const PAYLOADS: bool = true;

    host_arithmetic!(f64);

    fn widen(a: u64) -> f64 {
        Self::host(a)
    }

    fn narrow(a: f64, _: Round) -> u64 {
        Self::bits(a)
    }
}

/// `Some(expression)` with `F` standing for the [`Format`] of a type of one number; `None` for another type.
macro_rules! with_format {
    ($ty:expr, $F:ident => $e:expr) => {
        match $ty {
            ptx::Type::F16 => Some({
                type $F = $crate::alu::format::Half;
                $e
            }),
            ptx::Type::BF16 => Some({
                type $F = $crate::alu::format::Brain;
                $e
            }),
            ptx::Type::F32 => Some({
                type $F = $crate::alu::format::Single;
                $e
            }),
            ptx::Type::F64 => Some({
                type $F = $crate::alu::format::Double;
                $e
            }),
            _ => None,
        }
    };
}
pub(super) use with_format;

/// `Some(expression)` with the constant `M` standing for the mode, if it is one of those listed.
macro_rules! with_mode {
    ($mode:expr, [$($known:literal)*], $M:ident => $e:expr) => {
        match $mode {
            $($known => Some({
                const $M: u32 = $known;
                $e
            }),)*
            _ => None,
        }
    };
}
pub(super) use with_mode;
