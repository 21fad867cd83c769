//! Printing from a kernel.
//!
//! The text goes through CUDA's `vprintf`: the driver keeps it in a buffer and prints it when the host waits
//! for the device. One [`print!`](crate::print) is one call, so the lines of two threads do not mix.

use core::ffi::{CStr, c_void};

unsafe extern "C" {
    /// CUDA's own: prints by a format of C, with the arguments laid out as in a `struct`.
    #[doc(hidden)]
    pub fn vprintf(format: *const u8, valist: *const c_void) -> i32;

    /// CUDA's own: prints that an assertion failed, and ends the launch with an error.
    #[doc(hidden)]
    pub fn __assertfail(
        message: *const u8,
        file: *const u8,
        line: u32,
        function: *const u8,
        char_size: usize,
    );
}

/// The longest format, with its end.
const LONGEST: usize = 512;

/// A part of what is printed.
#[doc(hidden)]
pub enum Piece {
    /// As it is, but with `%` twice.
    Text(&'static str),
    /// The next argument, with C's flags, width and precision.
    Argument {
        /// Between `%` and the conversion.
        flags: &'static str,
        /// In hexadecimal.
        hex: bool,
        /// A precision was given, which for a float counts its decimals.
        fixed: bool,
    },
}

/// What is printed, as a type: so the format is made when the kernel is compiled.
#[doc(hidden)]
pub trait Text {
    /// The parts in order.
    const PIECES: &'static [Piece];
}

/// How C prints a type.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Conversion {
    plain: &'static str,
    hex: &'static str,
    fixed: &'static str,
}

/// What can be printed: numbers, `bool`, pointers and C strings.
pub trait Argument: Copy {
    /// How C prints it.
    #[doc(hidden)]
    const CONVERSION: Conversion;

    /// Its eight bytes among the arguments.
    #[doc(hidden)]
    fn bits(self) -> u64;
}

macro_rules! argument {
    ($($ty:ty, $plain:literal, $hex:literal, $fixed:literal, $bits:expr;)*) => {$(
        impl Argument for $ty {
            const CONVERSION: Conversion = Conversion { plain: $plain, hex: $hex, fixed: $fixed };

            #[inline(always)]
            fn bits(self) -> u64 {
                $bits(self)
            }
        }
    )*};
}

argument! {
    u8, "llu", "llx", "llu", u64::from;
    u16, "llu", "llx", "llu", u64::from;
    u32, "llu", "llx", "llu", u64::from;
    u64, "llu", "llx", "llu", |value| value;
    usize, "llu", "llx", "llu", |value| value as u64;
    i8, "lld", "llx", "lld", |value| i64::from(value).cast_unsigned();
    i16, "lld", "llx", "lld", |value| i64::from(value).cast_unsigned();
    i32, "lld", "llx", "lld", |value| i64::from(value).cast_unsigned();
    i64, "lld", "llx", "lld", i64::cast_unsigned;
    isize, "lld", "llx", "lld", |value| value as u64;
    f32, "g", "a", "f", |value| f64::from(value).to_bits();
    f64, "g", "a", "f", f64::to_bits;
    bool, "s", "s", "s", |value| (if value { c"true" } else { c"false" }).bits();
    &CStr, "s", "s", "s", |value: &CStr| value.as_ptr() as u64;
}

impl<T> Argument for *const T {
    const CONVERSION: Conversion = Conversion { plain: "p", hex: "p", fixed: "p" };

    #[inline(always)]
    fn bits(self) -> u64 {
        self as u64
    }
}

impl<T> Argument for *mut T {
    const CONVERSION: Conversion = <*const T>::CONVERSION;

    #[inline(always)]
    fn bits(self) -> u64 {
        self as u64
    }
}

/// The arguments of one `print!`.
#[doc(hidden)]
pub trait Arguments {
    /// How C prints each.
    const CONVERSIONS: &'static [Conversion];
    /// Eight bytes for each.
    type Packed;

    /// As `vprintf` wants them.
    fn pack(self) -> Self::Packed;
}

macro_rules! arguments {
    ($($count:literal: $($name:ident)*;)*) => {$(
        #[allow(non_snake_case)]
        impl<$($name: Argument),*> Arguments for ($($name,)*) {
            const CONVERSIONS: &'static [Conversion] = &[$($name::CONVERSION),*];
            type Packed = [u64; $count];

            #[inline(always)]
            fn pack(self) -> [u64; $count] {
                let ($($name,)*) = self;
                [$($name.bits()),*]
            }
        }
    )*};
}

arguments! {
    0: ;
    1: A;
    2: A B;
    3: A B C;
    4: A B C D;
    5: A B C D E;
    6: A B C D E F;
    7: A B C D E F G;
    8: A B C D E F G H;
}

/// The format of C for a text and the types of its arguments.
struct Format<T, A>(core::marker::PhantomData<(T, A)>);

impl<T: Text, A: Arguments> Format<T, A> {
    const BYTES: [u8; LONGEST] = {
        let mut format = [0; LONGEST];
        let (mut end, mut piece, mut argument) = (0, 0, 0);
        while piece < T::PIECES.len() {
            match T::PIECES[piece] {
                Piece::Text(text) => {
                    let mut at = 0;
                    while at < text.len() {
                        let byte = text.as_bytes()[at];
                        end = append(&mut format, end, if byte == b'%' { "%" } else { "" });
                        assert!(end + 1 < LONGEST, "too long for one `print!`: at most 511 bytes");
                        format[end] = byte;
                        end += 1;
                        at += 1;
                    }
                }
                Piece::Argument { flags, hex, fixed } => {
                    let conversion = A::CONVERSIONS[argument];
                    argument += 1;
                    end = append(&mut format, end, "%");
                    end = append(&mut format, end, flags);
                    let conversion = match (hex, fixed) {
                        (true, _) => conversion.hex,
                        (_, true) => conversion.fixed,
                        _ => conversion.plain,
                    };
                    end = append(&mut format, end, conversion);
                }
            }
            piece += 1;
        }
        format
    };
}

/// Adds `text` to what ends at `end`, and returns where it ends then.
const fn append(format: &mut [u8; LONGEST], end: usize, text: &str) -> usize {
    let mut at = 0;
    while at < text.len() {
        assert!(end + at + 1 < LONGEST, "too long for one `print!`: at most 511 bytes");
        format[end + at] = text.as_bytes()[at];
        at += 1;
    }
    end + at
}

/// What `print!` expands to.
#[doc(hidden)]
#[inline(always)]
pub fn print<T: Text, A: Arguments>(_: T, arguments: A) {
    let packed = arguments.pack();
    // SAFETY: the format ends with 0, and asks for as many arguments of eight bytes as there are.
    unsafe {
        vprintf(const { &Format::<T, A>::BYTES }.as_ptr(), (&raw const packed).cast());
    }
}
