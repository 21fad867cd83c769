//! The types that a kernel's slices, buffers and scalars may have.

use std::str::FromStr;

use cuda_std::emulator::CellValue;

/// A type of elements and of scalar parameters.
pub trait Number: CellValue + FromStr {
    /// What element `i` of a slice or buffer holds before the launch.
    fn element(i: usize) -> Self;
}

macro_rules! whole {
    ($($type:ty)*) => {$(
        impl Number for $type {
            fn element(i: usize) -> Self {
                i as Self
            }
        }
    )*};
}

whole! { u8 u16 u32 u64 usize i8 i16 i32 i64 isize }

impl Number for f32 {
    fn element(i: usize) -> Self {
        i as Self + 1.0
    }
}

impl Number for f64 {
    fn element(i: usize) -> Self {
        i as Self + 1.0
    }
}

impl Number for bool {
    fn element(i: usize) -> Self {
        i % 2 == 1
    }
}
