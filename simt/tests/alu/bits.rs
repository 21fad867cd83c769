//! Logic, shifts and bit fields.

use super::{compute, operand};

#[test]
fn known_values() {
    for (mnemonic, operands, expected) in [
        ("not.pred", &[1][..], 0),
        ("not.b16", &[0], 0xffff),
        ("cnot.b32", &[0], 1),
        ("cnot.b32", &[7], 0),
        ("lop3.b32", &[0b1100, 0b1010, 0b1110, 0x80], 0b1000),
        ("lop3.b32", &[0xf0, 0xcc, 0xaa, 0x1a], 0x1a),
        ("shl.b32", &[1, 31], 0x8000_0000),
        ("shl.b32", &[1, 32], 0),
        ("shl.b64", &[1, 0xffff_ffff], 0),
        ("shr.u32", &[0x8000_0000, 31], 1),
        ("shr.u32", &[0x8000_0000, 32], 0),
        ("shr.s32", &[0x8000_0000, 99], 0xffff_ffff),
        ("shr.s16", &[0x8000, 4], 0xf800),
        ("shr.s64", &[1 << 63, 64], u64::MAX),
        ("shr.u64", &[1 << 63, 64], 0),
        ("shf.l.wrap.b32", &[0x8000_0000, 1, 33], 3),
        ("shf.l.clamp.b32", &[0x1234, 1, 33], 0x1234),
        ("shf.r.clamp.b32", &[0x1234, 0xabcd, 40], 0xabcd),
        ("shf.r.wrap.b32", &[0x1234, 0xabcd, 4], 0xd000_0123),
        ("popc.b64", &[u64::MAX], 64),
        ("clz.b32", &[0], 32),
        ("clz.b64", &[1], 63),
        ("brev.b32", &[1], 0x8000_0000),
        ("brev.b64", &[2], 1 << 62),
        ("bfind.u32", &[0], 0xffff_ffff),
        ("bfind.u32", &[0x10], 4),
        ("bfind.s32", &[0xffff_ffff], 0xffff_ffff),
        ("bfind.s32", &[0xffff_fff0], 3),
        ("bfind.shiftamt.u32", &[0x10], 27),
        ("bfind.shiftamt.s64", &[0x10], 59),
        ("bfind.shiftamt.s64", &[0], 0xffff_ffff),
        ("fns.b32", &[0xffff_ffff, 5, 0x8000_0000], 0),
        ("fns.b32", &[0xaaaa_aaaa, 3, 1], 3),
        ("fns.b32", &[0xaaaa_aaaa, 3, 0xffff_ffff], 3),
        ("fns.b32", &[0xaaaa_aaaa, 2, 1], 3),
        ("fns.b32", &[0xaaaa_aaaa, 2, 0xffff_ffff], 1),
        ("fns.b32", &[0xaaaa_aaaa, 2, 0], 0xffff_ffff),
        ("bfe.u32", &[0x1234_5678, 8, 8], 0x56),
        ("bfe.s32", &[0x0000_8000, 8, 8], 0xffff_ff80),
        ("bfe.s32", &[0x8000_0000, 40, 4], 0xffff_ffff),
        ("bfe.s64", &[1 << 63, 60, 200], 0xffff_ffff_ffff_fff8),
        ("bfe.u32", &[0xffff_ffff, 0, 0], 0),
        ("bfi.b32", &[0xf, 0, 28, 8], 0xf000_0000),
        ("bfi.b32", &[0xf, 0x1234_5678, 32, 8], 0x1234_5678),
        ("bfi.b64", &[0xff, 0, 60, 4], 0xf << 60),
        ("szext.clamp.s32", &[0x8000_0001, 32], 0x8000_0001),
        ("szext.wrap.u32", &[0xffff_ffff, 0], 0),
        ("szext.wrap.s32", &[0x80, 8], 0xffff_ff80),
        ("bmsk.wrap.b32", &[1, 2], 6),
        ("bmsk.clamp.b32", &[4, 40], 0xffff_fff0),
        ("bmsk.clamp.b32", &[32, 4], 0),
        ("prmt.b32", &[0x3322_1100, 0x7766_5544, 0x7531], 0x7755_3311),
        ("prmt.b32", &[0x80, 0x7f00_0000, 0x00f8], 0x8080_00ff),
        ("prmt.b32.f4e", &[0x3322_1100, 0x7766_5544, 1], 0x4433_2211),
        ("prmt.b32.b4e", &[0x3322_1100, 0x7766_5544, 1], 0x6677_0011),
        ("prmt.b32.rc8", &[0x3322_1100, 0x7766_5544, 2], 0x2222_2222),
        ("prmt.b32.ecl", &[0x3322_1100, 0x7766_5544, 1], 0x3322_1111),
        ("prmt.b32.ecr", &[0x3322_1100, 0x7766_5544, 1], 0x1111_1100),
        ("prmt.b32.rc16", &[0x3322_1100, 0x7766_5544, 3], 0x3322_3322),
    ] {
        assert_eq!(compute(mnemonic, operands), expected, "{mnemonic} {operands:x?}");
    }
}

/// `bfe` bit by bit, as the PTX ISA writes it down.
fn bfe(a: u64, b: u64, c: u64, bits: u64, signed: bool) -> u64 {
    let (position, length) = (b & 255, c & 255);
    let sign = signed && length > 0 && a >> (position + length - 1).min(bits - 1) & 1 == 1;
    (0..bits).fold(0, |d, i| {
        let bit = if i < length && position + i < bits { a >> (position + i) & 1 } else { sign.into() };
        d | bit << i
    })
}

/// `bfi` likewise.
fn bfi(a: u64, b: u64, c: u64, d: u64, bits: u64) -> u64 {
    let (position, length) = (c & 255, d & 255);
    (0..length)
        .take_while(|i| position + i < bits)
        .fold(b & u64::MAX >> (64 - bits), |f, i| f & !(1 << (position + i)) | (a >> i & 1) << (position + i))
}

#[test]
fn bit_fields_are_what_the_loops_of_the_isa_give() {
    let mut random = fastrand::Rng::with_seed(4);
    for _ in 0..10_000 {
        let [a, b] = std::array::from_fn(|_| operand(&mut random));
        let [c, d] = std::array::from_fn(|_| random.u64(..80));
        for (ty, bits, signed) in
            [("u32", 32, false), ("s32", 32, true), ("u64", 64, false), ("s64", 64, true)]
        {
            let word = a & u64::MAX >> (64 - bits);
            assert_eq!(
                compute(&format!("bfe.{ty}"), &[word, c, d]),
                bfe(word, c, d, bits, signed),
                "{a:x} {c} {d}"
            );
        }
        assert_eq!(compute("bfi.b32", &[a, b, c, d]), bfi(a, b, c, d, 32), "{a:x} {b:x} {c} {d}");
        assert_eq!(compute("bfi.b64", &[a, b, c, d]), bfi(a, b, c, d, 64), "{a:x} {b:x} {c} {d}");
    }
}

#[test]
fn every_table_of_lop3() {
    let mut random = fastrand::Rng::with_seed(5);
    let [a, b, c] = std::array::from_fn(|_| u64::from(random.u32(..)));
    for table in 0..256 {
        let expected = (0..32).fold(0, |d, bit| {
            let entry = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | c >> bit & 1;
            d | (table >> entry & 1) << bit
        });
        assert_eq!(compute("lop3.b32", &[a, b, c, table]), expected, "{table:x}");
    }
}
