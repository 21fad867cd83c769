//! What instructions compute, against values worked out by hand and against wider arithmetic.

mod atomic;
mod bits;
mod compare;
mod convert;
mod float;
mod integer;

use ptx::{Instruction, Operand};
use simt::alu::{self, Alu};

/// The instruction of this mnemonic, with as many operands as `operands` says.
fn instruction(mnemonic: &str, operands: usize) -> Instruction {
    let mut words = mnemonic.split('.').map(str::to_owned);
    Instruction {
        guard: None,
        opcode: words.next().unwrap_or_default(),
        modifiers: words.collect(),
        operands: vec![Operand::Sink; operands],
        line: 1,
        position: None,
    }
}

/// Calls a function of as many operands as these.
#[track_caller]
fn call(function: Option<Alu>, mnemonic: &str, operands: &[u64]) -> u64 {
    match (function, operands) {
        (Some(Alu::One(f)), &[a]) => f(a),
        (Some(Alu::Two(f)), &[a, b]) => f(a, b),
        (Some(Alu::Three(f)), &[a, b, c]) => f(a, b, c),
        (Some(Alu::Four(f)), &[a, b, c, d]) => f(a, b, c, d),
        (function, _) => panic!("{mnemonic} with {} operands is {function:?}", operands.len()),
    }
}

/// What an instruction computes of these operands.
#[track_caller]
fn compute(mnemonic: &str, operands: &[u64]) -> u64 {
    call(alu::scalar(&instruction(mnemonic, operands.len() + 1)), mnemonic, operands)
}

/// The carry flag that it writes.
#[track_caller]
fn carry(mnemonic: &str, operands: &[u64]) -> u64 {
    call(alu::carry(&instruction(mnemonic, operands.len() + 1)), mnemonic, operands)
}

/// Does the comparison of a `setp` hold?
#[track_caller]
fn holds(mnemonic: &str, a: u64, b: u64) -> bool {
    alu::comparison(&instruction(mnemonic, 3)).expect(mnemonic)(a, b)
}

/// Bits among which zeros, ones, signs, small numbers and long runs are frequent.
fn operand(random: &mut fastrand::Rng) -> u64 {
    let bits = random.u64(..);
    match random.u32(..8) {
        0 => 0,
        1 => u64::MAX,
        2 => bits % 67,
        3 => (bits % 67).wrapping_neg(),
        4 => 1 << (bits % 64),
        5 => u64::MAX << (bits % 64),
        6 => u64::MAX >> (bits % 64),
        _ => bits,
    }
}

/// Bits of an `f32` of any kind; numbers near 1 are frequent.
fn number32(random: &mut fastrand::Rng) -> u32 {
    match random.u32(..8) {
        0 => [0, 1 << 31, 0x7f80_0000, 0xff80_0000, 0x7fc0_1234, 1, 0x8000_0001, 0x0080_0000]
            [random.usize(..8)],
        1 => random.u32(..) & 0x807f_ffff,
        2 | 3 => random.u32(..),
        _ => random.u32(..) & 0x81ff_ffff | 0x3e00_0000,
    }
}

/// Bits of an `f64` of any kind; numbers near 1 are frequent.
fn number64(random: &mut fastrand::Rng) -> u64 {
    match random.u32(..8) {
        0 => [0, 1 << 63, 0x7ff0 << 48, 0xfff0 << 48, 0x7ff8_0000_0000_1234, 1, 1 << 52][random.usize(..7)],
        1 => random.u64(..) & 0x800f_ffff_ffff_ffff,
        2 | 3 => random.u64(..),
        _ => random.u64(..) & 0x803f_ffff_ffff_ffff | 0x3fc0_0000_0000_0000,
    }
}

/// Operands above the width of a type are ignored, results have nothing above theirs, and nothing panics.
#[test]
fn every_function_ignores_what_is_above_its_operands() {
    let mut random = fastrand::Rng::with_seed(1);
    let mnemonics = [
        "add.s32",
        "add.u16",
        "sub.s16",
        "mul.lo.u32",
        "mul.hi.s32",
        "mul.wide.s16",
        "mul.wide.u32",
        "mad.lo.s32",
        "mad.hi.u32",
        "div.s32",
        "div.u16",
        "rem.s32",
        "rem.u32",
        "abs.s32",
        "neg.s16",
        "min.s32",
        "max.u16",
        "min.s16x2",
        "sad.s32",
        "mul24.lo.s32",
        "mul24.hi.u32",
        "mad24.lo.u32",
        "and.b32",
        "or.b16",
        "xor.pred",
        "not.b32",
        "cnot.b16",
        "lop3.b32",
        "shl.b32",
        "shl.b16",
        "shr.s32",
        "shr.u16",
        "shf.l.wrap.b32",
        "shf.r.clamp.b32",
        "popc.b32",
        "clz.b32",
        "brev.b32",
        "bfind.s32",
        "fns.b32",
        "bfe.s32",
        "bfe.u32",
        "bfi.b32",
        "szext.wrap.s32",
        "bmsk.clamp.b32",
        "prmt.b32",
        "dp4a.s32.u32",
        "dp2a.hi.u32.s32",
        "mov.b32",
        "mov.pred",
        "selp.b16",
        "slct.u16.s32",
        "slct.u32.f32",
        "add.rn.f32",
        "add.rz.f32",
        "mul.ftz.sat.f32",
        "fma.rp.f32",
        "div.rn.f32",
        "rcp.rm.f32",
        "sqrt.rz.f32",
        "neg.f32",
        "abs.ftz.f32",
        "min.NaN.f32",
        "copysign.f32",
        "testp.normal.f32",
        "add.f16",
        "mul.bf16",
        "fma.rn.f16x2",
        "fma.rn.relu.bf16x2",
        "sin.approx.f32",
        "ex2.approx.ftz.bf16x2",
        "tanh.approx.f16",
        "cvt.s8.u16",
        "cvt.sat.u8.s32",
        "cvt.rn.f32.s32",
        "cvt.rn.f16.u16",
        "cvt.rni.s32.f32",
        "cvt.rzi.u8.f16",
        "cvt.rn.bf16.f32",
        "cvt.rni.f32.f32",
        "cvt.rna.tf32.f32",
        "cvt.rn.f16x2.f32",
        "cvt.pack.sat.s8.s32.b32",
        "cvt.pack.sat.u16.s32",
        "set.lt.f16x2.f16x2",
        "addc.u32",
        "subc.cc.s32",
        "madc.hi.u32",
    ];
    let widths = |mnemonic: &str| -> u32 {
        let last = mnemonic.rsplit('.').next().unwrap_or_default();
        match last {
            "pred" => 1,
            "f16" | "bf16" => 16,
            word if word.ends_with("16") => 16,
            _ => 32,
        }
    };
    for mnemonic in mnemonics {
        let function =
            (1..=5).find_map(|operands| alu::scalar(&instruction(mnemonic, operands))).expect(mnemonic);
        let count = match function {
            Alu::One(_) => 1,
            Alu::Two(_) => 2,
            Alu::Three(_) => 3,
            Alu::Four(_) => 4,
        };
        for _ in 0..1_000 {
            let clean: Vec<u64> = (0..count).map(|_| operand(&mut random)).collect();
            let width = widths(mnemonic);
            // The operands after the first have other widths in some instructions; 32 bits are the most of any here.
            let dirt = |index: usize| if index == 0 { u64::MAX << width } else { u64::MAX << 32 };
            if mnemonic.starts_with("slct") || mnemonic.starts_with("selp") || mnemonic.starts_with("cvt.s8")
            {
                continue;
            }
            let dirty: Vec<u64> = clean
                .iter()
                .enumerate()
                .map(|(at, bits)| bits & !dirt(at) | random.u64(..) & dirt(at))
                .collect();
            let clean: Vec<u64> = clean.iter().enumerate().map(|(at, bits)| bits & !dirt(at)).collect();
            let result = call(Some(function), mnemonic, &clean);
            assert_eq!(
                result,
                call(Some(function), mnemonic, &dirty),
                "{mnemonic} of {clean:x?} and {dirty:x?}"
            );
            let wide = mnemonic.contains("wide") || mnemonic.ends_with("64");
            assert!(wide || result >> 32 == 0, "{mnemonic} of {clean:x?}: {result:x}");
        }
    }
}

#[test]
fn what_is_not_computed_here_is_none() {
    for mnemonic in [
        "ld.global.u32",
        "bar.sync",
        "setp.lt.s32",
        "shfl.sync.idx.b32",
        "vabsdiff4.u32.u32.u32",
        "mov.b128",
        "add.f32.f16",
        "cvt.rn.satfinite.e4m3x2.f32",
        "cvt.rs.f16x2.f32",
        "sqrt.rn.f16",
        "div.rn.f16x2",
        "add.pred",
        "mul.s32",
        "cvt.f32",
        "add",
        "",
    ] {
        assert!(alu::scalar(&instruction(mnemonic, 3)).is_none(), "{mnemonic}");
    }
}
