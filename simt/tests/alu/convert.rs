//! Conversions, copies and selections.

use simt::alu;

use super::{compute, instruction, number32, number64, operand};

fn f(value: f32) -> u64 {
    value.to_bits().into()
}

fn d(value: f64) -> u64 {
    value.to_bits()
}

#[test]
fn known_values() {
    for (mnemonic, operands, expected) in [
        ("cvt.u8.u32", &[0x1234][..], 0x34),
        ("cvt.s32.s8", &[0x80], 0xffff_ff80),
        ("cvt.s64.u32", &[0xffff_ffff], 0xffff_ffff),
        ("cvt.u64.s32", &[0xffff_ffff], u64::MAX),
        ("cvt.sat.u8.s32", &[0xffff_fff0], 0),
        ("cvt.sat.s8.u32", &[200], 127),
        ("cvt.sat.s16.s64", &[1 << 63], 0x8000),
        ("cvt.sat.s32.u64", &[u64::MAX], 0x7fff_ffff),
        ("cvt.rn.f32.s32", &[0xffff_ffff], f(-1.0)),
        ("cvt.rn.f32.u32", &[0xffff_ffff], f(4_294_967_296.0)),
        ("cvt.rz.f32.u32", &[0xffff_ffff], f(4_294_967_040.0)),
        ("cvt.rp.f32.u64", &[u64::MAX], f(18_446_744_073_709_551_616.0)),
        ("cvt.rz.f64.u64", &[u64::MAX], d(18_446_744_073_709_549_568.0)),
        ("cvt.rn.f64.s64", &[1 << 63], d(-9_223_372_036_854_775_808.0)),
        ("cvt.rn.f16.u32", &[65_519], 0x7bff),
        ("cvt.rn.f16.u32", &[65_520], 0x7c00),
        ("cvt.rn.f16.s8", &[0xff], 0xbc00),
        ("cvt.rni.s32.f32", &[f(2.5)], 2),
        ("cvt.rni.s32.f32", &[f(3.5)], 4),
        ("cvt.rzi.s32.f32", &[f(-2.7)], 0xffff_fffe),
        ("cvt.rmi.s32.f32", &[f(-2.1)], 0xffff_fffd),
        ("cvt.rpi.s32.f32", &[f(2.1)], 3),
        ("cvt.rzi.s32.f32", &[f(3e9)], 0x7fff_ffff),
        ("cvt.rzi.u32.f32", &[f(-3.0)], 0),
        ("cvt.rzi.u8.f32", &[f(300.0)], 255),
        ("cvt.rzi.s64.f64", &[d(1e300)], 0x7fff_ffff_ffff_ffff),
        ("cvt.rzi.u64.f64", &[d(1e19)], 10_000_000_000_000_000_000),
        ("cvt.rzi.s32.f32", &[0x7fc0_0000], 0),
        ("cvt.rzi.s64.f32", &[0x7fc0_0000], 1 << 63),
        ("cvt.rzi.s32.f64", &[d(f64::NAN)], 0x8000_0000),
        ("cvt.rpi.ftz.s32.f32", &[1], 0),
        ("cvt.rpi.s32.f32", &[1], 1),
        ("cvt.f64.f32", &[f(1.5)], d(1.5)),
        ("cvt.f64.f32", &[1], d(2f64.powi(-149))),
        ("cvt.ftz.f64.f32", &[1], 0),
        ("cvt.rn.f32.f64", &[d(1.0 + 2f64.powi(-25))], f(1.0)),
        ("cvt.rp.f32.f64", &[d(1.0 + 2f64.powi(-25))], 0x3f80_0001),
        ("cvt.rn.ftz.f32.f64", &[d(1e-40)], 0),
        ("cvt.rn.sat.f32.f64", &[d(7.0)], f(1.0)),
        ("cvt.sat.f32.f32", &[f(-7.0)], 0),
        ("cvt.rni.f32.f32", &[f(-0.4)], f(-0.0)),
        ("cvt.rpi.f64.f64", &[d(1.1)], d(2.0)),
        ("cvt.rni.f16.f16", &[0x3e00], 0x4000),
        ("cvt.f32.f16", &[0x0001], f(2f32.powi(-24))),
        ("cvt.f32.bf16", &[0x3f80], f(1.0)),
        ("cvt.rn.f16.f32", &[f(65_520.0)], 0x7c00),
        ("cvt.rz.f16.f32", &[f(65_520.0)], 0x7bff),
        ("cvt.rn.satfinite.f16.f32", &[f(1e9)], 0x7bff),
        ("cvt.rn.relu.bf16.f32", &[f(-1.0)], 0),
        ("cvt.rn.bf16.f32", &[0x3f80_8000], 0x3f80),
        ("cvt.rn.bf16.f32", &[0x3f81_8000], 0x3f82),
        // Halfway but for the last bit of the f64: rounding to f32 first would lose it.
        ("cvt.rn.f16.f64", &[0x3ff0_0200_0000_0001], 0x3c01),
        ("cvt.rn.f16x2.f32", &[f(1.0), f(2.0)], 0x3c00_4000),
        ("cvt.rz.relu.bf16x2.f32", &[f(-1.0), f(2.0)], 0x4000),
        ("cvt.rna.tf32.f32", &[0x3f80_1000], 0x3f80_2000),
        ("cvt.rn.tf32.f32", &[0x3f80_1000], 0x3f80_0000),
        ("cvt.rna.tf32.f32", &[0xbf80_0fff], 0xbf80_0000),
        ("cvt.pack.sat.s16.s32", &[0x7fff_ffff, 0x8000_0000], 0x7fff_8000),
        ("cvt.pack.sat.u8.s32.b32", &[300, 0xffff_ffff, 0x1234_5678], 0x5678_ff00),
        ("cvt.pack.sat.s4.s32.b32", &[100, 0xffff_ff00, 0xab], 0xab78),
        // What becomes of a NaN.
        ("cvt.f64.f32", &[0xff80_0001], 0xfff8_0000_2000_0000),
        ("cvt.ftz.f64.f32", &[0xff80_0001], 0x7fff_ffff_e000_0000),
        ("cvt.sat.f64.f32", &[0xff80_0001], 0),
        ("cvt.rn.f32.f64", &[0xfff0_0000_0000_0001], 0xffc0_0000),
        ("cvt.rn.bf16.f64", &[0xfff0_0000_0000_0001], 0xffc0),
        ("cvt.rz.f16.f64", &[0x7ff8_0000_0000_1234], 0x7e00),
        ("cvt.f64.f16", &[0xff2b], 0xfffc_ac00_0000_0000),
        ("cvt.f32.f16", &[0xff2b], 0x7fff_ffff),
        ("cvt.f32.bf16", &[0xff91], 0xff91_0000),
        ("cvt.rn.bf16.f16", &[0xff2b], 0x7fff),
        ("cvt.rni.f64.f64", &[0xfff0_0000_0000_0001], 0xfff8_0000_0000_0001),
        ("cvt.rna.tf32.f32", &[0x7f80_0001], 0x7f80_0000),
        ("cvt.rn.tf32.f32", &[0xff80_0001], 0x7fff_e000),
        ("mov.pred", &[3], 1),
        ("mov.b16", &[0x1_2345], 0x2345),
        ("selp.f64", &[1, 2, 0], 2),
        ("slct.u32.s32", &[1, 2, 0xffff_ffff], 2),
        ("slct.u32.s32", &[1, 2, 0], 1),
        ("slct.b64.f32", &[1, 2, 0x8000_0000], 1),
        ("slct.b64.f32", &[1, 2, 0x8000_0001], 2),
        ("slct.ftz.b64.f32", &[1, 2, 0x8000_0001], 1),
        ("slct.b64.f32", &[1, 2, 0x7fc0_0000], 2),
    ] {
        assert_eq!(compute(mnemonic, operands), expected, "{mnemonic} {operands:x?}");
    }
}

#[test]
fn what_extends_as_a_signed_integer() {
    for (mnemonic, expected) in [
        ("cvt.s8.u32", true),
        ("cvt.rzi.s16.f32", true),
        ("cvt.u8.s32", false),
        ("cvt.rn.f32.s32", false),
        ("cvt.pack.sat.s8.s32.b32", false),
        ("ld.global.s8", true),
        ("ld.global.u8", false),
        ("add.s16", false),
    ] {
        assert_eq!(alu::extends_signed(&instruction(mnemonic, 2)), expected, "{mnemonic}");
    }
}

/// Between all integer types, against the same in 128 bits; with the host's `as` to and from numbers.
#[test]
fn conversions_are_those_of_the_host() {
    let mut random = fastrand::Rng::with_seed(10);
    let types = [8, 16, 32, 64].into_iter().flat_map(|bits| [(bits, false), (bits, true)]);
    let name = |(bits, signed)| format!("{}{bits}", if signed { 's' } else { 'u' });
    for from in types.clone() {
        for to in types.clone() {
            let range = match to {
                (bits, true) => -(1i128 << (bits - 1))..=(1 << (bits - 1)) - 1,
                (bits, false) => 0..=(1 << bits) - 1,
            };
            for _ in 0..1_000 {
                let word = operand(&mut random) & u64::MAX >> (64 - from.0);
                let above = 128 - from.0;
                let value = if from.1 { i128::from(word) << above >> above } else { word.into() };
                let cut = |value: i128| value as u64 & u64::MAX >> (64 - to.0);
                let (to, from) = (name(to), name(from));
                assert_eq!(compute(&format!("cvt.{to}.{from}"), &[word]), cut(value), "{to} {from} {word:x}");
                let saturated = value.clamp(*range.start(), *range.end());
                assert_eq!(
                    compute(&format!("cvt.sat.{to}.{from}"), &[word]),
                    cut(saturated),
                    "{to} {from} {word:x}"
                );
            }
        }
    }
    for _ in 0..20_000 {
        let number = f32::from_bits(number32(&mut random));
        if !number.is_nan() {
            let bits = f(number);
            assert_eq!(
                compute("cvt.rzi.s32.f32", &[bits]),
                u64::from((number as i32).cast_unsigned()),
                "{number}"
            );
            assert_eq!(compute("cvt.rzi.u64.f32", &[bits]), number as u64, "{number}");
            assert_eq!(compute("cvt.rni.f32.f32", &[bits]), f(number.round_ties_even()), "{number}");
            assert_eq!(
                compute("cvt.rzi.s8.f32", &[bits]),
                u64::from((number as i8).cast_unsigned()),
                "{number}"
            );
        }
        let number = f64::from_bits(number64(&mut random));
        if !number.is_nan() {
            let bits = d(number);
            assert_eq!(compute("cvt.rzi.s64.f64", &[bits]), (number as i64).cast_unsigned(), "{number}");
            assert_eq!(compute("cvt.rzi.u16.f64", &[bits]), u64::from(number as u16), "{number}");
            assert_eq!(compute("cvt.rn.f32.f64", &[bits]), f(number as f32), "{number}");
        }
    }
}

/// Every number of 16 bits comes back from the wider formats.
#[test]
fn widening_loses_nothing() {
    for half in ["f16", "bf16"] {
        for bits in 0..=0xffff_u64 {
            let wide = compute(&format!("cvt.f32.{half}"), &[bits]);
            let back = compute(&format!("cvt.rn.{half}.f32"), &[wide]);
            let nan = f32::from_bits(wide as u32).is_nan();
            assert_eq!(back, if nan { 0x7fff } else { bits }, "{half} {bits:x}");
        }
    }
}

/// Rounded in each direction, an integer lies between its neighbours.
#[test]
fn integers_round_as_asked() {
    let mut random = fastrand::Rng::with_seed(11);
    for _ in 0..10_000 {
        let word = operand(&mut random);
        for ty in ["f32", "f64"] {
            let [down, nearest, up] = ["rm", "rn", "rp"].map(|rounding| {
                let bits = compute(&format!("cvt.{rounding}.{ty}.u64"), &[word]);
                if ty == "f32" { f32::from_bits(bits as u32).into() } else { f64::from_bits(bits) }
            });
            assert!(down as u128 <= word.into() && up as u128 >= word.into(), "{word:x}");
            assert!(nearest == down || nearest == up, "{word:x}");
        }
    }
}
