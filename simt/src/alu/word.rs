//! Integer types, and their values in the low bits of a `u64`.

/// An integer type.
pub(super) trait Word {
    /// The width.
    const BITS: u32;
    /// Is it two's complement?
    const SIGNED: bool;
    /// All ones of the width.
    const MASK: u64 = u64::MAX >> (64 - Self::BITS);

    /// The value, as the signed or unsigned integer that it is.
    fn wide(bits: u64) -> i128 {
        if Self::SIGNED { Self::signed(bits).into() } else { (bits & Self::MASK).into() }
    }

    /// The value as a signed integer of this width, whatever the type.
    fn signed(bits: u64) -> i64 {
        let above = 64 - Self::BITS;
        (bits << above).cast_signed() >> above
    }

    /// The low bits of a value.
    fn wrap(value: i128) -> u64 {
        value as u64 & Self::MASK
    }

    /// The nearest value of this type.
    fn saturate(value: i128) -> u64 {
        Self::wrap(value.clamp(Self::least(), Self::greatest()))
    }

    /// The least value.
    fn least() -> i128 {
        if Self::SIGNED { -1 << (Self::BITS - 1) } else { 0 }
    }

    /// The greatest value.
    fn greatest() -> i128 {
        (Self::MASK >> u32::from(Self::SIGNED)).into()
    }

    /// `a < b`
    fn less(a: u64, b: u64) -> bool {
        if Self::SIGNED { Self::signed(a) < Self::signed(b) } else { a & Self::MASK < b & Self::MASK }
    }
}

/// The integer type of this width and signedness.
pub(super) struct Int<const BITS: u32, const SIGNED: bool>;

impl<const BITS: u32, const SIGNED: bool> Word for Int<BITS, SIGNED> {
    const BITS: u32 = BITS;
    const SIGNED: bool = SIGNED;
}

/// `Some(expression)` with `T` standing for the [`Word`] of an integer or bit type of 8 to 64 bits; `None` for
/// another type.
macro_rules! with_word {
    ($ty:expr, $T:ident => $e:expr) => {
        match $ty {
            ptx::Type::U8 | ptx::Type::B8 => Some({
                type $T = $crate::alu::word::Int<8, false>;
                $e
            }),
            ptx::Type::U16 | ptx::Type::B16 => Some({
                type $T = $crate::alu::word::Int<16, false>;
                $e
            }),
            ptx::Type::U32 | ptx::Type::B32 => Some({
                type $T = $crate::alu::word::Int<32, false>;
                $e
            }),
            ptx::Type::U64 | ptx::Type::B64 => Some({
                type $T = $crate::alu::word::Int<64, false>;
                $e
            }),
            ptx::Type::S8 => Some({
                type $T = $crate::alu::word::Int<8, true>;
                $e
            }),
            ptx::Type::S16 => Some({
                type $T = $crate::alu::word::Int<16, true>;
                $e
            }),
            ptx::Type::S32 => Some({
                type $T = $crate::alu::word::Int<32, true>;
                $e
            }),
            ptx::Type::S64 => Some({
                type $T = $crate::alu::word::Int<64, true>;
                $e
            }),
            _ => None,
        }
    };
}
pub(super) use with_word;
