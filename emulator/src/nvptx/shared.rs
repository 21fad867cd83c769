//! Static shared memory, which rustc has no notion of.

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
}

/// The address, with a promise to LLVM that it is one of shared memory.
///
/// From it the pass `infer-address-spaces` makes `ld.shared` and `st.shared` out of generic loads and
/// stores. The build asks for that pass (`-Cpasses`): LLVM 22 runs it by itself only after it has dropped
/// the promise.
#[inline(always)]
fn address<V: SharedVariable>() -> *mut V::Array {
    let address = V::address();
    // SAFETY: the variable is declared `.shared`.
    unsafe { core::hint::assert_unchecked(is_shared(address)) };
    address.cast()
}
