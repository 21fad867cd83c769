//! How many operands a computation takes.

/// How one lane computes: each operand and the result sit zero-extended in the low bits of a `u64`.
#[derive(Clone, Copy, Debug)]
pub enum Alu {
    /// Of one operand.
    One(fn(u64) -> u64),
    /// Of two.
    Two(fn(u64, u64) -> u64),
    /// Of three.
    Three(fn(u64, u64, u64) -> u64),
    /// Of four.
    Four(fn(u64, u64, u64, u64) -> u64),
}

/// Computes each 16-bit half of one packed operand.
pub(super) fn halves1(a: u64, half: impl Fn(u64) -> u64) -> u64 {
    half(a & 0xffff) | half(a >> 16 & 0xffff) << 16
}

/// Computes each 16-bit half of two packed operands.
pub(super) fn halves2(a: u64, b: u64, half: impl Fn(u64, u64) -> u64) -> u64 {
    half(a & 0xffff, b & 0xffff) | half(a >> 16 & 0xffff, b >> 16 & 0xffff) << 16
}

/// Computes each 16-bit half of three packed operands.
pub(super) fn halves3(a: u64, b: u64, c: u64, half: impl Fn(u64, u64, u64) -> u64) -> u64 {
    half(a & 0xffff, b & 0xffff, c & 0xffff)
        | half(a >> 16 & 0xffff, b >> 16 & 0xffff, c >> 16 & 0xffff) << 16
}
