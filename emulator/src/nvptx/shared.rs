//! Shared memory, static and dynamic, which rustc has no notion of.

#[cfg(not(feature = "verdict"))]
use core::hint::assert_unchecked as assume;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::{Deref, DerefMut};

/// What shared memory may hold: it starts with unspecified contents.
///
/// # Safety
///
/// Any bytes must be a value of the type.
pub unsafe trait Uninit {}

// SAFETY: that is what it is for.
unsafe impl<T> Uninit for MaybeUninit<T> {}

// SAFETY: an array is its elements, and nothing else.
unsafe impl<T: Uninit, const N: usize> Uninit for [T; N] {}

/// A variable declared in shared memory; `#[address_space(shared)]` implements it.
///
/// # Safety
///
/// `address` must be that of a `.shared` variable with the size and the alignment of `Array`.
pub unsafe trait SharedVariable {
    /// What the variable holds.
    type Array: Uninit;

    /// Where it lies, as a generic address.
    fn address() -> *mut u8;
}

/// What a shared static is made into: it has no bytes of its own, and whatever is done to it is done to
/// the variable in shared memory.
///
/// One thing it cannot do: `&raw mut TILE` is the address of the stand-in. `TILE.as_mut_ptr()` is the
/// address of the array.
pub struct SharedArray<V>(PhantomData<V>);

impl<V: SharedVariable> SharedArray<V> {
    /// The stand-in for `V`.
    pub const fn stand_in() -> Self {
        Self(PhantomData)
    }
}

impl<V: SharedVariable> Deref for SharedArray<V> {
    type Target = V::Array;

    #[inline(always)]
    fn deref(&self) -> &V::Array {
        // SAFETY: the variable lives as long as its block, and any bytes are a `MaybeUninit`.
        unsafe { &*address::<V>() }
    }
}

impl<V: SharedVariable> DerefMut for SharedArray<V> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut V::Array {
        // SAFETY: as above; keeping the threads of a block apart is what the barrier is for.
        unsafe { &mut *address::<V>() }
    }
}

unsafe extern "C" {
    #[link_name = "llvm.nvvm.isspacep.shared"]
    fn is_shared(address: *const u8) -> bool;
    #[cfg(feature = "verdict")]
    #[link_name = "llvm.assume"]
    fn assume(condition: bool);
}

/// The address, with a promise to LLVM that it is one of shared memory.
///
/// From it the pass `infer-address-spaces` makes `ld.shared` and `st.shared` out of generic loads and
/// stores. The build asks for that pass (`-Cpasses`): LLVM 22 runs it by itself only after it has dropped
/// the promise.
///
/// For a verdict the promise is made by LLVM's own intrinsic: at opt-level 0 `assert_unchecked` makes none.
#[inline(always)]
fn address<V: SharedVariable>() -> *mut V::Array {
    let address = V::address();
    // SAFETY: the variable is declared `.shared`.
    unsafe { assume(is_shared(address)) };
    address.cast()
}

/// The shared memory that the launch asked for, for each block: one array, whatever type it is taken for.
///
/// It starts with unspecified contents. [`mem::dynamic_smem_size`](super::mem::dynamic_smem_size) tells how
/// many bytes it has.
///
/// The array is [`declare_dynamic_shared!`](crate::declare_dynamic_shared)'s; `cargo xtask` puts that beside
/// each file it compiles.
#[inline(always)]
pub fn dynamic_shared_mem<T>() -> *mut T {
    let address: *mut u8;
    // SAFETY: it takes an address, and touches no memory; the array is in shared memory.
    unsafe {
        core::arch::asm!(
            "cvta.shared.u64 {}, cuda_std_dynamic_shared;",
            out(reg64) address,
            options(pure, nomem, nostack)
        );
        assume(is_shared(address));
    }
    address.cast()
}

/// Declares the array of `dynamic_shared_mem`, once in a crate of kernels: assembly of a library does not
/// reach the PTX of the crate that uses it. 16 bytes is nvcc's alignment.
#[doc(hidden)]
#[macro_export]
macro_rules! declare_dynamic_shared {
    () => {
        ::core::arch::global_asm!(".extern .shared .align 16 .b8 cuda_std_dynamic_shared[];");
    };
}
