//! Atomics.

use simt::alu;

use super::instruction;

#[test]
fn known_values() {
    for (mnemonic, old, b, c, expected) in [
        ("atom.global.add.u32", 0xffff_ffff, 2, 0, 1),
        ("atom.global.min.s32", 0xffff_ffff, 2, 0, 0xffff_ffff),
        ("red.shared.max.u64", u64::MAX, 2, 0, u64::MAX),
        ("atom.global.inc.u32", 5, 5, 0, 0),
        ("atom.global.inc.u32", 4, 5, 0, 5),
        ("atom.global.dec.u32", 0, 5, 0, 5),
        ("atom.global.dec.u32", 6, 5, 0, 5),
        ("atom.global.dec.u32", 3, 5, 0, 2),
        ("atom.global.exch.b64", 3, 5, 0, 5),
        ("atom.acq_rel.gpu.global.cas.b32", 3, 3, 9, 9),
        ("atom.global.cas.b16", 3, 4, 9, 3),
        ("red.and.b32", 0b1100, 0b1010, 0, 0b1000),
        ("red.or.b32", 0b1100, 0b1010, 0, 0b1110),
        ("red.xor.b64", 0b1100, 0b1010, 0, 0b0110),
        ("atom.global.add.f32", 0x3f80_0000, 0x3f80_0000, 0, 0x4000_0000),
        ("atom.global.add.f32", 1, 1, 0, 0),
        ("atom.shared.add.f32", 1, 1, 0, 2),
        ("atom.global.add.f64", 1f64.to_bits(), 2f64.to_bits(), 0, 3f64.to_bits()),
        // Global memory leaves a NaN as it is; shared memory makes it quiet.
        ("atom.global.add.f64", 0x7ff0_0000_0000_0001, 0xfff0_0000_0000_0002, 0, 0xfff0_0000_0000_0002),
        ("atom.shared.add.f64", 0x7ff0_0000_0000_0001, 0xfff0_0000_0000_0002, 0, 0x7ff8_0000_0000_0001),
        ("atom.global.add.noftz.f16", 1, 1, 0, 2),
        ("atom.global.add.noftz.bf16x2", 0x3f80_4000, 0x3f80_3f80, 0, 0x4000_4040),
        ("redux.sync.add.s32", 3, 0xffff_ffff, 0, 2),
        ("redux.sync.max.u32", 3, 0xffff_ffff, 0, 0xffff_ffff),
    ] {
        let function = alu::atomic(&instruction(mnemonic, 4)).expect(mnemonic);
        assert_eq!(function(old, b, c), expected, "{mnemonic} {old:x} {b:x} {c:x}");
    }
    for mnemonic in ["atom.global.add.b128", "ld.global.u32", "atom.global.min.f32"] {
        assert!(alu::atomic(&instruction(mnemonic, 4)).is_none(), "{mnemonic}");
    }
}
