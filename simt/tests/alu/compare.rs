//! Comparisons.

use simt::alu;

use super::{compute, holds, instruction, number32};

const COMPARISONS: [&str; 18] = [
    "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu",
    "num", "nan",
];

#[test]
fn known_values() {
    for (mnemonic, a, b, expected) in [
        ("setp.lt.s32", 0xffff_ffff, 0, true),
        ("setp.lt.u32", 0xffff_ffff, 0, false),
        ("setp.hi.u32", 0xffff_ffff, 0, true),
        ("setp.ls.u16", 0x1_0000, 0, true),
        ("setp.eq.b64", 1 << 63, 1 << 63, true),
        ("setp.ne.b16", 1, 0x1_0001, false),
        ("setp.eq.f32", 0, 0x8000_0000, true),
        ("setp.eq.f32", 0, 1, false),
        ("setp.eq.ftz.f32", 0, 0x8000_0001, true),
        ("setp.ne.f32", 0x7fc0_0000, 0, false),
        ("setp.neu.f32", 0x7fc0_0000, 0, true),
        ("setp.num.f64", 0, f64::NAN.to_bits(), false),
        ("setp.nan.f64", 0, f64::NAN.to_bits(), true),
        ("setp.gt.f16", 0x3c00, 0xbc00, true),
        ("setp.lt.and.bf16", 0xff80, 0x7f80, true),
        ("set.ge.or.u32.s32", 5, 5, true),
    ] {
        assert_eq!(holds(mnemonic, a, b), expected, "{mnemonic} {a:x} {b:x}");
    }
    assert!(alu::comparison(&instruction("setp.equ.s32", 3)).is_none());
    assert!(alu::comparison(&instruction("min.s32", 3)).is_none());
}

#[test]
fn what_set_writes() {
    for (mnemonic, expected) in [
        ("set.lt.u32.s32", Some(0xffff_ffff)),
        ("set.lt.s32.f64", Some(0xffff_ffff)),
        ("set.lt.and.f32.s32", Some(0x3f80_0000)),
        ("set.lt.f16.f16", Some(0x3c00)),
        ("set.lt.u16.f16", Some(0xffff)),
        ("set.lt.bf16.bf16", Some(0x3f80)),
        ("setp.lt.s32", None),
    ] {
        assert_eq!(alu::set_value(&instruction(mnemonic, 3)), expected, "{mnemonic}");
    }
    assert_eq!(compute("set.gt.f16x2.f16x2", &[0x3c00_0000, 0x0000_3c00]), 0x3c00_0000);
}

#[test]
fn comparisons_of_numbers_are_those_of_the_host() {
    let mut random = fastrand::Rng::with_seed(12);
    for _ in 0..10_000 {
        let (x, y) = (number32(&mut random), number32(&mut random));
        let (a, b) = (f32::from_bits(x), f32::from_bits(y));
        let unordered = a.is_nan() || b.is_nan();
        for word in COMPARISONS {
            let ordered = match word.trim_end_matches('u') {
                "eq" => a == b,
                "ne" => a != b && !unordered,
                "lt" | "lo" => a < b,
                "le" | "ls" => a <= b,
                "gt" | "hi" => a > b,
                "ge" | "hs" => a >= b,
                "nan" => unordered,
                _ => !unordered,
            };
            let expected = ordered || unordered && word.ends_with('u');
            assert_eq!(holds(&format!("setp.{word}.f32"), x.into(), y.into()), expected, "{word} {a} {b}");
        }
    }
}
