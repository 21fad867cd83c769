//! Inputs: bits among which the cases that need care are frequent.

use fastrand::Rng;

use crate::cases::Class;
use crate::kernel::INPUTS;

/// A 64-bit word; narrower operands take its low bits.
pub(crate) fn word(class: Class, random: &mut Rng) -> u64 {
    match class {
        Class::Integer => integer(random),
        Class::Single => u64::from(random.u32(..)) << 32 | u64::from(single(random)),
        Class::Double => double(random),
        Class::Half => (0..4).fold(0, |word, _| word << 16 | u64::from(half(random, 0x7c00))),
        Class::Brain => (0..4).fold(0, |word, _| word << 16 | u64::from(half(random, 0x7f80))),
    }
}

/// The words of a thread. Now and then the second is the first, or the first with another sign or a bit more.
pub(crate) fn thread(class: Class, random: &mut Rng) -> [u64; INPUTS] {
    let mut words = std::array::from_fn(|_| word(class, random));
    words[1] = match random.u32(..16) {
        0 | 1 => words[0],
        2 => words[0] ^ 0x8000_8000_8000_8000,
        3 => words[0].wrapping_add(0x0001_0001_0001_0001),
        _ => words[1],
    };
    words
}

fn integer(random: &mut Rng) -> u64 {
    let bits = random.u64(..);
    match random.u32(..8) {
        0 => [0, 1, u64::MAX, 1 << 31, (1 << 31) - 1, 1 << 63, 1 << 15, 1 << 32][random.usize(..8)],
        1 => bits % 67,
        2 => (bits % 67).wrapping_neg(),
        3 => 1 << (bits % 64),
        4 => u64::MAX << (bits % 64),
        5 => u64::MAX >> (bits % 64),
        _ => bits,
    }
}

fn single(random: &mut Rng) -> u32 {
    let sign = random.u32(..) & 1 << 31;
    match random.u32(..8) {
        0 => {
            sign | [0, 0x7f80_0000, 0x7fc0_1234, 0x7f80_0001, 1, 0x0080_0000, 0x3f80_0000, 0x7f7f_ffff]
                [random.usize(..8)]
        }
        1 => random.u32(..) & 0x807f_ffff,
        2 => random.u32(..),
        // Integers and halves of them, around the limits of integer types.
        3 => (random.i32(-600..600) as f32 / 2.0).to_bits(),
        4 => sign | (125 + random.u32(..70)) << 23 | random.u32(..) & 0x007f_ffff,
        _ => sign | random.u32(..) & 0x01ff_ffff | 0x3e00_0000,
    }
}

fn double(random: &mut Rng) -> u64 {
    let sign = random.u64(..) & 1 << 63;
    match random.u32(..8) {
        0 => {
            let special = [
                0,
                0x7ff0 << 48,
                0x7ff8_0000_0000_1234,
                0x7ff0_0000_0000_0001,
                0x7ff5_a5a5_a5a5_a5a5,
                1,
                1 << 52,
                0x3ff0 << 48,
            ];
            sign | special[random.usize(..special.len())]
        }
        1 => random.u64(..) & 0x800f_ffff_ffff_ffff,
        2 => random.u64(..),
        3 => (f64::from(random.i32(-600..600)) / 2.0).to_bits(),
        4 => sign | (1020 + random.u64(..72)) << 52 | random.u64(..) & 0x000f_ffff_ffff_ffff,
        // What `.f32` holds subnormal, or hardly.
        5 => sign | (1023 - 160 + random.u64(..50)) << 52 | random.u64(..) & 0x000f_ffff_ffff_ffff,
        _ => sign | random.u64(..) & 0x003f_ffff_ffff_ffff | 0x3fc0_0000_0000_0000,
    }
}

fn half(random: &mut Rng, infinity: u16) -> u16 {
    let sign = random.u16(..) & 0x8000;
    match random.u32(..8) {
        0 => sign | [0, infinity, infinity | 0x11, 1, infinity - 1, 0x7fff][random.usize(..6)],
        1 => sign | random.u16(..) & 0x00ff,
        _ => random.u16(..),
    }
}
