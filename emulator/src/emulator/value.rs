//! What a cell may hold.

use std::fmt::Display;
use std::ptr;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// A type that a tracked cell may hold: the number types and `bool`.
///
/// The emulator compares values (two writes of the same value are only an info) and shows a cell that
/// nothing wrote as [`POISON`](Self::POISON).
#[diagnostic::on_unimplemented(
    message = "the emulator cannot track cells of type `{Self}`",
    note = "shared arrays and buffers hold numbers or `bool`; split a struct into one array per field"
)]
pub trait CellValue: Copy + PartialEq + Display + Send + Sync + 'static {
    /// What a cell holds before anything wrote it: not a value that a kernel computes by accident.
    const POISON: Self;

    /// The value as bits: its bytes, with zeros before them.
    fn bits(self) -> u64;

    /// Reads a cell of global memory, which another block may be writing.
    ///
    /// # Safety
    ///
    /// `at` must be valid for reads and aligned.
    unsafe fn load(at: *mut Self) -> Self;

    /// Writes a cell of global memory, which another block may be reading or writing.
    ///
    /// # Safety
    ///
    /// `at` must be valid for writes and aligned.
    unsafe fn store(at: *mut Self, value: Self);
}

macro_rules! cell_values {
    ($($type:ty as $atomic:ident by $word:ty: $poison:expr, $to:expr, $from:expr;)*) => {$(
        impl CellValue for $type {
            const POISON: Self = $poison;

            #[inline]
            fn bits(self) -> u64 {
                let word: $word = $to(self);
                u64::from(word)
            }

            #[inline]
            unsafe fn load(at: *mut Self) -> Self {
                // SAFETY: the caller vouches for `at`; the atomic has the size of the value, and every
                // number type here is aligned to its size on the targets that have this atomic.
                let word = unsafe { $atomic::from_ptr(at.cast()) }.load(Ordering::Relaxed);
                $from(word)
            }

            #[inline]
            unsafe fn store(at: *mut Self, value: Self) {
                // SAFETY: as for `load`.
                unsafe { $atomic::from_ptr(at.cast()) }.store($to(value), Ordering::Relaxed);
            }
        }
    )*};
}

cell_values! {
    f32 as AtomicU32 by u32: Self::from_bits(0x7fc0_dead), f32::to_bits, f32::from_bits;
    f64 as AtomicU64 by u64: Self::from_bits(0x7ff8_dead_dead_dead), f64::to_bits, f64::from_bits;
    u8 as AtomicU8 by u8: 0xdd, |v| v, |w| w;
    u16 as AtomicU16 by u16: 0xdead, |v| v, |w| w;
    u32 as AtomicU32 by u32: 0xdead_dead, |v| v, |w| w;
    u64 as AtomicU64 by u64: 0xdead_dead_dead_dead, |v| v, |w| w;
    i8 as AtomicU8 by u8: -0x23, |v: i8| v as u8, |w: u8| w as i8;
    i16 as AtomicU16 by u16: -0x2153, |v: i16| v as u16, |w: u16| w as i16;
    i32 as AtomicU32 by u32: -0x2152_2153, |v: i32| v as u32, |w: u32| w as i32;
    i64 as AtomicU64 by u64: -0x2152_2152_2152_2153, |v: i64| v as u64, |w: u64| w as i64;
    bool as AtomicU8 by u8: true, u8::from, |w| w != 0;
}

#[cfg(target_pointer_width = "64")]
cell_values! {
    usize as AtomicU64 by u64: 0xdead_dead_dead_dead, |v: usize| v as u64, |w: u64| w as usize;
    isize as AtomicU64 by u64: -0x2152_2152_2152_2153, |v: isize| v as u64, |w: u64| w as isize;
}

/// The [`bits`](CellValue::bits) of the value at an address.
///
/// # Safety
///
/// A value of this size must lie there, one of the types above, in memory whose provenance is exposed.
#[inline]
pub(crate) unsafe fn bits_at(address: usize, size: usize) -> u64 {
    // SAFETY: the caller vouches for the value, and with it for its alignment.
    unsafe {
        match size {
            1 => u64::from(u8::load(ptr::with_exposed_provenance_mut(address))),
            2 => u64::from(u16::load(ptr::with_exposed_provenance_mut(address))),
            4 => u64::from(u32::load(ptr::with_exposed_provenance_mut(address))),
            _ => u64::load(ptr::with_exposed_provenance_mut(address)),
        }
    }
}
