//! Integer arithmetic.

use super::{carry, compute, operand};

fn s(value: i64, bits: u32) -> u64 {
    value.cast_unsigned() & u64::MAX >> (64 - bits)
}

#[test]
fn known_values() {
    for (mnemonic, operands, expected) in [
        ("add.u16", &[0xffff, 2][..], 1),
        ("add.s64", &[u64::MAX, 2], 1),
        ("add.sat.s32", &[0x7fff_ffff, 1], 0x7fff_ffff),
        ("add.sat.s32", &[0x8000_0000, s(-1, 32)], 0x8000_0000),
        ("sub.sat.s32", &[0x8000_0000, 1], 0x8000_0000),
        ("sub.u32", &[0, 1], 0xffff_ffff),
        ("mul.wide.s16", &[s(-3, 16), 5], s(-15, 32)),
        ("mul.wide.u16", &[0xffff, 0xffff], 0xfffe_0001),
        ("mul.wide.s32", &[s(-3, 32), 5], s(-15, 64)),
        ("mul.wide.u32", &[0xffff_ffff, 0xffff_ffff], 0xffff_fffe_0000_0001),
        ("mul.hi.u64", &[u64::MAX, u64::MAX], u64::MAX - 1),
        ("mul.hi.s64", &[s(-1, 64), s(-1, 64)], 0),
        ("mul.hi.s32", &[s(-1, 32), 1], s(-1, 32)),
        ("mul.lo.s32", &[s(-3, 32), 5], s(-15, 32)),
        ("mad.wide.s32", &[s(-3, 32), 5, 100], 85),
        ("mad.wide.u16", &[0xffff, 0xffff, 0xffff_ffff], 0xfffe_0000),
        ("mad.hi.sat.s32", &[0x7fff_ffff, 0x7fff_ffff, 0x7fff_ffff], 0x7fff_ffff),
        ("mul24.lo.s32", &[0x00ff_ffff, 3], s(-3, 32)),
        ("mul24.hi.u32", &[0x12ff_ffff, 0xffff_ffff], 0xffff_fe00),
        ("mad24.hi.sat.s32", &[0x007f_ffff, 0x007f_ffff, 0x7fff_ffff], 0x7fff_ffff),
        ("sad.s32", &[s(-5, 32), 7, 100], 112),
        ("sad.u32", &[s(-5, 32), 7, 0], 0xffff_fff4),
        ("div.s32", &[s(-7, 32), 2], s(-3, 32)),
        ("rem.s32", &[s(-7, 32), 2], s(-1, 32)),
        ("div.u32", &[s(-7, 32), 2], 0x7fff_fffc),
        ("div.s32", &[0x8000_0000, s(-1, 32)], 0x8000_0000),
        ("rem.s32", &[0x8000_0000, s(-1, 32)], 0),
        ("div.s64", &[1 << 63, u64::MAX], 1 << 63),
        ("div.u32", &[5, 0], 0xffff_ffff),
        ("rem.u32", &[5, 0], 0xffff_ffff),
        ("abs.s16", &[0x8000], 0x8000),
        ("abs.s32", &[s(-9, 32)], 9),
        ("neg.s32", &[1], 0xffff_ffff),
        ("min.s32", &[s(-1, 32), 1], s(-1, 32)),
        ("min.u32", &[s(-1, 32), 1], 1),
        ("max.relu.s32", &[s(-5, 32), s(-1, 32)], 0),
        ("add.u16x2", &[0xffff_ffff, 0x0001_0002], 0x0000_0001),
        ("max.s16x2", &[0xffff_0005, 0x0001_ffff], 0x0001_0005),
        ("min.relu.s16x2", &[0xffff_0005, 0x0001_0007], 0x0000_0005),
        ("dp4a.u32.u32", &[0x0102_0304, 0x0101_0101, 5], 15),
        ("dp4a.s32.u32", &[0xff00_0000, 0xff00_0000, 0], s(-255, 32)),
        ("dp2a.lo.u32.u32", &[0x0002_0003, 0x0909_0705, 1], 2 * 7 + 3 * 5 + 1),
        ("dp2a.hi.s32.s32", &[0xffff_0003, 0xff04_0000, 0], 1 + 12),
        ("addc.u32", &[0xffff_ffff, 0, 1], 0),
        ("subc.u32", &[0, 0, 0], 0xffff_ffff),
        ("subc.u32", &[0, 0, 1], 0),
        ("madc.lo.u32", &[3, 5, 1, 1], 17),
        ("madc.hi.u32", &[1 << 31, 2, 7, 1], 9),
    ] {
        assert_eq!(compute(mnemonic, operands), expected, "{mnemonic} {operands:x?}");
    }
}

#[test]
fn carries() {
    for (mnemonic, operands, expected) in [
        ("add.cc.u32", &[0xffff_ffff, 1][..], 1),
        ("add.cc.u32", &[0xffff_fffe, 1], 0),
        ("addc.cc.u32", &[0xffff_fffe, 1, 1], 1),
        ("add.cc.u64", &[u64::MAX, 1], 1),
        ("addc.cc.u64", &[u64::MAX, u64::MAX, 1], 1),
        // A borrow leaves no carry.
        ("sub.cc.u32", &[0, 1], 0),
        ("sub.cc.u32", &[1, 1], 1),
        ("subc.cc.u32", &[1, 1, 0], 0),
        ("subc.cc.u32", &[1, 1, 1], 1),
        ("subc.cc.u64", &[0, u64::MAX, 0], 0),
        ("mad.lo.cc.u32", &[0x8000_0000, 1, 0x8000_0000], 1),
        ("madc.hi.cc.u32", &[0xffff_ffff, 0xffff_ffff, 1, 0], 0),
        ("madc.hi.cc.u32", &[0xffff_ffff, 0xffff_ffff, 1, 1], 1),
    ] {
        assert_eq!(carry(mnemonic, operands), expected, "{mnemonic} {operands:x?}");
    }
}

/// A chain of three 32-bit words is the arithmetic of 96 bits.
#[test]
fn a_chain_of_carries_is_wide_arithmetic() {
    let mut random = fastrand::Rng::with_seed(2);
    for _ in 0..4_000 {
        let mut wide = || u128::from(operand(&mut random)) << 32 | u128::from(operand(&mut random) as u32);
        let (a, b) = (wide(), wide());
        for (first, next, expected) in [
            ("add.cc.u32", "addc.cc.u32", a.wrapping_add(b)),
            ("sub.cc.u32", "subc.cc.u32", a.wrapping_sub(b)),
        ] {
            let word = |value: u128, at: u32| (value >> (32 * at)) as u64 & 0xffff_ffff;
            let mut result = u128::from(compute(first, &[word(a, 0), word(b, 0)]));
            let mut flag = carry(first, &[word(a, 0), word(b, 0)]);
            for at in 1..3 {
                let operands = [word(a, at), word(b, at), flag];
                result |= u128::from(compute(next, &operands)) << (32 * at);
                flag = carry(next, &operands);
            }
            assert_eq!(result, expected & ((1 << 96) - 1), "{first} {a:x} {b:x}");
        }
    }
}

/// Every operation and width, against the same in 128 bits.
#[test]
fn narrow_arithmetic_is_wide_arithmetic_cut_off() {
    let mut random = fastrand::Rng::with_seed(3);
    for (bits, signed) in [16, 32, 64].into_iter().flat_map(|bits| [(bits, false), (bits, true)]) {
        let ty = format!("{}{bits}", if signed { 's' } else { 'u' });
        let mask = u64::MAX >> (64 - bits);
        let value = |word: u64| -> i128 {
            let above = 128 - bits;
            if signed { i128::from(word) << above >> above } else { i128::from(word & mask) }
        };
        let cut = |value: i128| value as u64 & mask;
        for _ in 0..4_000 {
            let [x, y, z] = std::array::from_fn(|_| operand(&mut random) & mask);
            let (a, b, c) = (value(x), value(y), value(z));
            let check = |mnemonic: &str, operands: &[u64], expected: u64| {
                let mnemonic = format!("{mnemonic}.{ty}");
                assert_eq!(compute(&mnemonic, operands), expected, "{mnemonic} {operands:x?}");
            };
            check("add", &[x, y], cut(a + b));
            check("sub", &[x, y], cut(a - b));
            check("mul.lo", &[x, y], cut(a.wrapping_mul(b)));
            check("mul.hi", &[x, y], cut(a.wrapping_mul(b) >> bits));
            check("mad.lo", &[x, y, z], cut(a.wrapping_mul(b).wrapping_add(c)));
            check("mad.hi", &[x, y, z], cut((a.wrapping_mul(b) >> bits) + c));
            check("sad", &[x, y, z], cut((a - b).abs() + c));
            check("min", &[x, y], cut(a.min(b)));
            check("max", &[x, y], cut(a.max(b)));
            if b != 0 {
                check("div", &[x, y], cut(a / b));
                check("rem", &[x, y], cut(a % b));
            }
            if signed {
                check("abs", &[x], cut(a.abs()));
                check("neg", &[x], cut(-a));
            }
            if bits < 64 {
                let wide = u64::MAX >> (64 - 2 * bits);
                check("mul.wide", &[x, y], (a * b) as u64 & wide);
                check("mad.wide", &[x, y, z], ((a * b) as u64).wrapping_add(z) & wide);
            }
        }
    }
}
