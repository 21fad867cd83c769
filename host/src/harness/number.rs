//! The types that a kernel's slices, buffers and scalars may have.

use cuda_std::emulator::CellValue;

use crate::data::Element;

/// A type of elements and of scalar parameters.
pub trait Number: CellValue {
    /// What it is called where data are made.
    const ELEMENT: Element;

    /// The value of these bytes, as many as it has; zero of fewer.
    fn from_bytes(bytes: &[u8]) -> Self;
}

macro_rules! numbers {
    ($($type:ident $element:ident,)*) => {$(
        impl Number for $type {
            const ELEMENT: Element = Element::$element;

            fn from_bytes(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().unwrap_or_default())
            }
        }
    )*};
}

numbers! {
    u8 U8, u16 U16, u32 U32, u64 U64, usize Usize, i8 I8, i16 I16, i32 I32, i64 I64, isize Isize, f32 F32, f64 F64,
}

impl Number for bool {
    const ELEMENT: Element = Element::Bool;

    fn from_bytes(bytes: &[u8]) -> Self {
        bytes.first() == Some(&1)
    }
}
