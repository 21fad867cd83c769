//! Floats that several threads may change at once.
//!
//! Integers are [`core::sync::atomic`]'s, which work here and are of the whole system (`.sys`); but LLVM gives
//! their read-modify-write operations no order, whatever is asked: `fetch_add(1, AcqRel)` is a relaxed `atom.add`
//! (loads, stores, `compare_exchange` and `fence` keep theirs; seen with LLVM 22). These floats add the
//! scopes of CUDA to addition and subtraction; what else they do is of the whole system too, which is more
//! than was asked, never less. There is no atomic instruction for `and`, `or` and `xor` of floats: they are
//! those of the bits.

use core::arch::asm;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

macro_rules! add {
    ($address:expr, $value:expr, $sem:literal, $scope:literal, $width:literal, $reg:ident) => {{
        let old;
        // SAFETY: the address is that of the float behind the shared reference, which is in an `UnsafeCell`.
        unsafe {
            asm!(
                concat!("atom.", $sem, ".", $scope, ".add.", $width, " {}, [{}], {};"),
                out($reg) old,
                in(reg64) $address,
                in($reg) $value,
                options(nostack)
            );
        }
        old
    }};
}

macro_rules! atomic_float {
    ($($(#[$doc:meta])* $name:ident, $float:ty, $atomic:ty, $align:literal, $scope:literal, $width:literal,
        $reg:ident $(, $unsafe:ident)?;)*) => {$(
        $(#[$doc])*
        #[repr(C, align($align))]
        pub struct $name {
            value: UnsafeCell<$float>,
        }

        // SAFETY: every access through a shared reference is atomic.
        unsafe impl Sync for $name {}

        impl $name {
            /// One with this value.
            pub const fn new(value: $float) -> Self {
                Self { value: UnsafeCell::new(value) }
            }

            /// Its value.
            pub fn into_inner(self) -> $float {
                self.value.into_inner()
            }

            #[inline(always)]
            fn bits(&self) -> &$atomic {
                // SAFETY: both are a cell of the same size and alignment, for which any bits are valid.
                unsafe { &*self.value.get().cast() }
            }

            atomic_float! {
                @methods $float, $scope, $width, $reg, ($($unsafe)?);
                /// Adds a value, and returns what was there.
                fetch_add |this, value, order| {
                    let address = this.value.get();
                    match order {
                        Ordering::Relaxed => add!(address, value, "relaxed", $scope, $width, $reg),
                        Ordering::Acquire => add!(address, value, "acquire", $scope, $width, $reg),
                        Ordering::Release => add!(address, value, "release", $scope, $width, $reg),
                        Ordering::AcqRel => add!(address, value, "acq_rel", $scope, $width, $reg),
                        _ => {
                            fence(Ordering::SeqCst);
                            add!(address, value, "acq_rel", $scope, $width, $reg)
                        }
                    }
                };
                /// Subtracts a value, and returns what was there.
                fetch_sub |this, value, order| {
                    #[allow(unused_unsafe)]
                    // SAFETY: the caller's promise, where there is one.
                    unsafe { this.fetch_add(-value, order) }
                };
                /// Keeps the bits that a value has too, and returns what was there.
                fetch_and |this, value, order| <$float>::from_bits(this.bits().fetch_and(value.to_bits(), order));
                /// Adds the bits of a value, and returns what was there.
                fetch_or |this, value, order| <$float>::from_bits(this.bits().fetch_or(value.to_bits(), order));
                /// Turns the bits that a value has, and returns what was there.
                fetch_xor |this, value, order| <$float>::from_bits(this.bits().fetch_xor(value.to_bits(), order));
            }

            /// Its value.
            ///
            /// # Panics
            ///
            /// If the order is one of a store.
            ///
            /// # Safety
            ///
            /// Where it is unsafe: threads outside of the scope must not change it.
            #[inline(always)]
            pub $($unsafe)? fn load(&self, order: Ordering) -> $float {
                <$float>::from_bits(self.bits().load(order))
            }

            /// Gives it a value.
            ///
            /// # Panics
            ///
            /// If the order is one of a load.
            ///
            /// # Safety
            ///
            /// Where it is unsafe: threads outside of the scope must not use it.
            #[inline(always)]
            pub $($unsafe)? fn store(&self, value: $float, order: Ordering) {
                self.bits().store(value.to_bits(), order);
            }
        }
    )*};
    (@methods $float:ty, $scope:literal, $width:literal, $reg:ident, $unsafe:tt;
        $($(#[$doc:meta])* $method:ident |$this:ident, $value:ident, $order:ident| $body:expr;)*) => {$(
        atomic_float! { @method $float, $unsafe; $(#[$doc])* $method |$this, $value, $order| $body }
    )*};
    (@method $float:ty, ($($unsafe:ident)?); $(#[$doc:meta])* $method:ident |$this:ident, $value:ident, $order:ident|
        $body:expr) => {
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// Where it is unsafe: threads outside of the scope must not use it.
        #[inline(always)]
        pub $($unsafe)? fn $method(&self, $value: $float, $order: Ordering) -> $float {
            let $this = self;
            $body
        }
    };
}

atomic_float! {
    /// An `f32` for all threads of the device.
    AtomicF32, f32, AtomicU32, 4, "gpu", "f32", reg32;
    /// An `f64` for all threads of the device.
    AtomicF64, f64, AtomicU64, 8, "gpu", "f64", reg64;
    /// An `f32` for the threads of a block.
    BlockAtomicF32, f32, AtomicU32, 4, "cta", "f32", reg32, unsafe;
    /// An `f64` for the threads of a block.
    BlockAtomicF64, f64, AtomicU64, 8, "cta", "f64", reg64, unsafe;
    /// An `f32` for all devices and the host.
    SystemAtomicF32, f32, AtomicU32, 4, "sys", "f32", reg32;
    /// An `f64` for all devices and the host.
    SystemAtomicF64, f64, AtomicU64, 8, "sys", "f64", reg64;
}
