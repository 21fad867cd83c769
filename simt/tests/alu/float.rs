//! Floating-point arithmetic.

use super::{compute, number32, number64};

fn f(value: f32) -> u64 {
    value.to_bits().into()
}

fn d(value: f64) -> u64 {
    value.to_bits()
}

const NAN: u64 = 0x7fff_ffff;
const NEXT: u64 = 0x3f80_0001;
const BEFORE: u64 = 0x3f7f_ffff;

#[test]
fn known_values() {
    let tiny = 2f32.powi(-30);
    for (mnemonic, operands, expected) in [
        ("add.rn.f32", &[f(1.0), f(tiny)][..], f(1.0)),
        ("add.rp.f32", &[f(1.0), f(tiny)], NEXT),
        ("add.rm.f32", &[f(1.0), f(-tiny)], BEFORE),
        ("add.rz.f32", &[f(-1.0), f(tiny)], 0x8000_0000 | BEFORE),
        ("add.rm.f32", &[f(1.0), f(-1.0)], f(-0.0)),
        ("add.f32", &[f(f32::INFINITY), f(f32::NEG_INFINITY)], NAN),
        ("add.f32", &[0xffc0_0001, f(1.0)], NAN),
        ("add.ftz.f32", &[1, 0x8000_0001], f(0.0)),
        ("add.ftz.f32", &[0x8000_0001, 0x8000_0001], f(-0.0)),
        ("add.f32", &[1, 1], 2),
        ("add.sat.f32", &[f(1.0), f(1.0)], f(1.0)),
        ("add.sat.f32", &[f(-1.0), f(-1.0)], 0),
        ("add.sat.f32", &[NAN, f(1.0)], 0),
        ("sub.rn.f32", &[f(3.0), f(1.0)], f(2.0)),
        ("mul.rz.f32", &[f(f32::MAX), f(2.0)], f(f32::MAX)),
        ("mul.rn.f32", &[f(f32::MAX), f(2.0)], f(f32::INFINITY)),
        ("mul.ftz.f32", &[f(f32::MIN_POSITIVE), f(-0.5)], f(-0.0)),
        ("fma.rn.f32", &[NEXT, f(1.0 - f32::EPSILON), f(-1.0)], f(-f32::EPSILON * f32::EPSILON)),
        ("mad.rn.f32", &[f(2.0), f(3.0), f(4.0)], f(10.0)),
        ("div.rn.f32", &[f(1.0), f(3.0)], 0x3eaa_aaab),
        ("div.rz.f32", &[f(1.0), f(3.0)], 0x3eaa_aaaa),
        ("div.rn.f32", &[f(1.0), f(0.0)], f(f32::INFINITY)),
        ("rcp.rp.f32", &[f(3.0)], 0x3eaa_aaab),
        ("rcp.rm.f64", &[d(3.0)], 0x3fd5_5555_5555_5555),
        ("rcp.rp.f64", &[d(3.0)], 0x3fd5_5555_5555_5556),
        ("sqrt.rn.f32", &[f(2.0)], f(2f32.sqrt())),
        ("sqrt.rn.f32", &[f(-1.0)], NAN),
        ("sqrt.rp.f32", &[f(-0.0)], f(-0.0)),
        ("sqrt.rp.f64", &[d(4.0)], d(2.0)),
        ("sqrt.rm.f64", &[1], 0x1e60_0000_0000_0000),
        ("neg.f32", &[f(1.0)], f(-1.0)),
        ("abs.ftz.f32", &[0x8000_0001], 0),
        ("min.f32", &[f(-0.0), f(0.0)], f(-0.0)),
        ("max.f32", &[f(-0.0), f(0.0)], f(0.0)),
        ("min.f32", &[NAN, f(1.0)], f(1.0)),
        ("min.NaN.f32", &[f(1.0), 0xffc0_0000], NAN),
        ("max.f32", &[0x7fc0_0000, 0xffc0_0000], NAN),
        ("min.xorsign.abs.f32", &[f(-3.0), f(2.0)], f(-2.0)),
        ("max.xorsign.abs.f32", &[f(-3.0), f(-2.0)], f(3.0)),
        ("max.f32", &[f(1.0), f(5.0), f(3.0)], f(5.0)),
        ("copysign.f32", &[f(-1.0), f(5.0)], f(-5.0)),
        ("testp.subnormal.f32", &[1], 1),
        ("testp.normal.f32", &[f(1.0)], 1),
        ("testp.normal.f32", &[f(-0.0)], 1),
        ("testp.normal.f32", &[1], 0),
        ("testp.finite.f64", &[d(f64::INFINITY)], 0),
        ("testp.notanumber.f64", &[d(f64::NAN)], 1),
        ("add.f16", &[0x3c00, 0x3c00], 0x4000),
        ("add.f16x2", &[0x3c00_4000, 0x3c00_3c00], 0x4000_4200),
        ("mul.bf16", &[0x3f80, 0xc000], 0xc000),
        ("fma.rn.relu.f16", &[0x3c00, 0xbc00, 0], 0),
        ("fma.rn.bf16x2", &[0x3f80_4000, 0x3f80_4000, 0x3f80_3f80], 0x4000_40a0),
        ("neg.bf16x2", &[0x3f80_bf80], 0xbf80_3f80),
        ("max.NaN.f16x2", &[0x7e00_3c00, 0x3c00_bc00], 0x7fff_3c00),
        ("add.ftz.f16", &[1, 0], 0),
        ("sub.f16", &[0x7bff, 0xfbff], 0x7c00),
    ] {
        assert_eq!(compute(mnemonic, operands), expected, "{mnemonic} {operands:x?}");
    }
}

const QUIET: u64 = 1 << 51;
const FIRST: u64 = 0xfff0_0000_0000_0001;
const SECOND: u64 = 0x7ff0_0000_0000_0002;
const THIRD: u64 = 0xfff0_0000_0000_0003;

/// As an H200 does: the payload and the sign of one operand stay.
#[test]
fn a_nan_comes_through_double_precision() {
    for (mnemonic, operands, expected) in [
        ("add.rn.f64", &[FIRST, SECOND][..], SECOND | QUIET),
        ("add.rz.f64", &[FIRST, d(1.0)], FIRST | QUIET),
        ("sub.f64", &[d(1.0), FIRST], FIRST | QUIET),
        ("mul.f64", &[FIRST, SECOND], SECOND | QUIET),
        ("div.rn.f64", &[FIRST, SECOND], FIRST | QUIET),
        ("fma.rn.f64", &[FIRST, SECOND, THIRD], SECOND | QUIET),
        ("fma.rm.f64", &[FIRST, d(1.0), THIRD], THIRD | QUIET),
        ("fma.rn.f64", &[FIRST, d(1.0), d(1.0)], FIRST | QUIET),
        ("rcp.rn.f64", &[FIRST], FIRST | QUIET),
        ("sqrt.rn.f64", &[SECOND], SECOND | QUIET),
        ("sqrt.rn.f64", &[d(-1.0)], 0xfff8 << 48),
        ("add.f64", &[d(f64::INFINITY), d(f64::NEG_INFINITY)], 0xfff8 << 48),
        ("min.f64", &[FIRST, SECOND], SECOND | QUIET),
        ("max.f64", &[FIRST, d(1.0)], d(1.0)),
        ("neg.f64", &[FIRST], FIRST | QUIET),
        ("abs.f64", &[FIRST], FIRST | QUIET),
        ("neg.f32", &[0x7f80_0001], NAN),
        ("abs.bf16x2", &[0xff91_bf80], 0x7fff_3f80),
        ("rsqrt.approx.f64", &[FIRST], FIRST | QUIET),
    ] {
        assert_eq!(compute(mnemonic, operands), expected, "{mnemonic} {operands:x?}");
    }
}

/// The product of two `.bf16` numbers and a far smaller third: a sum in `f64` loses the third, and the product lies
/// halfway between two numbers.
#[test]
fn fma_of_bf16_rounds_once() {
    // 1.0078125 * 1.5 = 1.51171875, halfway between 1.5078125 and 1.515625.
    let (a, b) = (0x3f81, 0x3fc0);
    assert_eq!(compute("fma.rn.bf16", &[a, b, 0]), 0x3fc2);
    assert_eq!(compute("fma.rn.bf16", &[a, b, 0x0001]), 0x3fc2);
    assert_eq!(compute("fma.rn.bf16", &[a, b, 0x8001]), 0x3fc1);
}

/// Checks the bound in each direction without rounding: `f64` holds sums, products and fused products of numbers of
/// 24 bits whose exponents are close.
#[test]
fn directed_rounding_of_single_precision_is_the_nearest_on_its_side() {
    let mut random = fastrand::Rng::with_seed(6);
    let mut near = || f32::from_bits(random.u32(..) & 0x81ff_ffff | 0x3e00_0000);
    for _ in 0..20_000 {
        let (a, b, c) = (near(), near(), near());
        let bits = [a, b, c].map(f);
        let [x, y, z] = [a, b, c].map(f64::from);
        for (operation, operands, exact) in
            [("add", &bits[..2], x + y), ("mul", &bits[..2], x * y), ("fma", &bits[..], x.mul_add(y, z))]
        {
            check_sides(operation, operands, |value| value.partial_cmp(&exact));
        }
        // q <= a / b where q * b <= a, for a positive b.
        let b = b.abs();
        check_sides("div", &[bits[0], f(b)], |q| (q * f64::from(b)).partial_cmp(&x));
        check_sides("sqrt", &[f(a.abs())], |root| (root * root).partial_cmp(&x.abs()));
    }
}

/// `compare` says how a value lies to the exact result.
#[track_caller]
fn check_sides(operation: &str, operands: &[u64], compare: impl Fn(f64) -> Option<std::cmp::Ordering>) {
    let result = |rounding: &str| {
        let bits = compute(&format!("{operation}.{rounding}.f32"), operands);
        f32::from_bits(bits as u32)
    };
    let (down, up, zero, nearest) = (result("rm"), result("rp"), result("rz"), result("rn"));
    let order = |value: f32| compare(value.into()).expect("a number");
    assert!(order(down).is_le() && order(up).is_ge(), "{operation} {operands:x?}: {down} {up}");
    if order(down).is_eq() {
        assert_eq!([down, zero, nearest], [up; 3], "{operation} {operands:x?}");
    } else {
        assert_eq!(down.next_up(), up, "{operation} {operands:x?}");
        assert_eq!(zero, if down < 0.0 { up } else { down }, "{operation} {operands:x?}");
        assert!(nearest == down || nearest == up, "{operation} {operands:x?}");
    }
}

/// In every format: the results of the four roundings lie around the nearest, which the host computes.
#[test]
fn directed_rounding_encloses_the_nearest() {
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..10_000 {
        let [a, b, c] = std::array::from_fn(|_| number64(&mut random));
        let value = |mnemonic: &str, operands: &[u64]| f64::from_bits(compute(mnemonic, operands));
        for (operation, operands) in
            [("add", &[a, b][..]), ("mul", &[a, b]), ("fma", &[a, b, c]), ("div", &[a, b]), ("sqrt", &[a])]
        {
            let [nearest, zero, down, up] = ["rn", "rz", "rm", "rp"]
                .map(|rounding| value(&format!("{operation}.{rounding}.f64"), operands));
            let context = format!("{operation} {operands:x?}: {nearest:e} {zero:e} {down:e} {up:e}");
            if nearest.is_nan() {
                assert!(zero.is_nan() && down.is_nan() && up.is_nan(), "{context}");
                continue;
            }
            assert!(down <= nearest && nearest <= up, "{context}");
            assert!(down == up || down.next_up() == up, "{context}");
            assert_eq!(zero, if down.is_sign_negative() { up } else { down }, "{context}");
        }
    }
}

/// The host's arithmetic in `f64` rounds sums and products of `.f16` and `.bf16` once where exponents are close.
#[test]
fn half_precision_is_rounded_double_precision() {
    let mut random = fastrand::Rng::with_seed(8);
    for _ in 0..10_000 {
        // f16 of exponents around 0, exact in f32 and f64.
        let [a, b, c] = std::array::from_fn(|_| u64::from(random.u16(..)) & 0x8fff | 0x3000);
        let [x, y, z] = [a, b, c].map(|bits| f64::from_bits(compute("cvt.f64.f16", &[bits])));
        let rounded = |value: f64| compute("cvt.rn.f16.f64", &[d(value)]);
        assert_eq!(compute("add.f16", &[a, b]), rounded(x + y), "{a:x} {b:x}");
        assert_eq!(compute("mul.f16", &[a, b]), rounded(x * y), "{a:x} {b:x}");
        assert_eq!(compute("fma.rn.f16", &[a, b, c]), rounded(x * y + z), "{a:x} {b:x} {c:x}");
    }
}

/// Flushing and the canonical NaN, over all kinds of numbers.
#[test]
fn results_are_canonical() {
    let mut random = fastrand::Rng::with_seed(9);
    for _ in 0..10_000 {
        let [a, b] = std::array::from_fn(|_| u64::from(number32(&mut random)));
        for mnemonic in ["add.ftz.f32", "mul.rz.ftz.f32", "div.rn.ftz.f32", "min.ftz.f32"] {
            let result = f32::from_bits(compute(mnemonic, &[a, b]) as u32);
            assert!(!result.is_subnormal(), "{mnemonic} {a:x} {b:x}");
            assert!(!result.is_nan() || f(result) == NAN, "{mnemonic} {a:x} {b:x}");
        }
        let result = f32::from_bits(compute("fma.rn.sat.f32", &[a, b, f(0.5)]) as u32);
        assert!((0.0..=1.0).contains(&result) && result.is_sign_positive(), "{a:x} {b:x}");
    }
}

#[test]
fn approximate_functions_at_known_points() {
    for (mnemonic, operands, expected) in [
        ("div.approx.f32", &[f(1.0), f(4.0)][..], f(0.25)),
        ("div.full.f32", &[f(6.0), f(2.0)], f(3.0)),
        ("rcp.approx.ftz.f32", &[1], f(f32::INFINITY)),
        ("rcp.approx.ftz.f64", &[d(3.0)], 0x3fd5_5555_0000_0000),
        ("rcp.approx.ftz.f64", &[d(f64::NAN)], 0x7fff_ffff_0000_0000),
        ("rsqrt.approx.ftz.f64", &[d(-1.0)], 0x7fff_ffff_0000_0000),
        ("rcp.approx.ftz.f64", &[0x8000_0000_0000_0001], d(f64::NEG_INFINITY)),
        ("rsqrt.approx.f64", &[d(4.0)], d(0.5)),
        ("rsqrt.approx.ftz.f64", &[d(4.0)], d(0.5)),
        ("rsqrt.approx.f32", &[f(0.25)], f(2.0)),
        ("sqrt.approx.f32", &[f(9.0)], f(3.0)),
        ("sin.approx.f32", &[f(0.0)], f(0.0)),
        ("cos.approx.f32", &[f(0.0)], f(1.0)),
        ("sin.approx.f32", &[f(f32::INFINITY)], NAN),
        // As an H200: the turns in `.f32` end in 3/4.
        ("sin.approx.f32", &[f(13_400_759.0)], f(-1.0)),
        ("cos.approx.f32", &[1], f(1.0)),
        ("div.approx.f32", &[f(1.0), f(-f32::MAX)], f(-0.0)),
        ("div.approx.f32", &[f(f32::INFINITY), f(f32::MAX)], NAN),
        ("lg2.approx.f32", &[f(8.0)], f(3.0)),
        ("lg2.approx.f32", &[f(0.0)], f(f32::NEG_INFINITY)),
        ("ex2.approx.f32", &[f(-149.0)], 1),
        ("ex2.approx.ftz.f32", &[f(-149.0)], 0),
        ("ex2.approx.f16", &[0x4200], 0x4800),
        ("ex2.approx.ftz.bf16x2", &[0x4040_3f80], 0x4100_4000),
        ("tanh.approx.f32", &[f(100.0)], f(1.0)),
        ("tanh.approx.f16x2", &[0x7c00_0000], 0x3c00_0000),
    ] {
        assert_eq!(compute(mnemonic, operands), expected, "{mnemonic} {operands:x?}");
    }
}
