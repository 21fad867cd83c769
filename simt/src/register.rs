//! The registers of one warp.
//!
//! Most of what a kernel computes is affine in the lane: thread indices, addresses, loop counters. So a register
//! holds a base and a stride (lane `l` has `base + l * stride`), or one value a lane, or both. An operation on affine
//! operands is one scalar operation for all 32 lanes.

/// Lanes of a warp.
pub(crate) const LANES: usize = 32;

/// An integer that a lane's register holds.
pub(crate) trait Word: Copy + Eq + Default + Into<u64> {
    /// Its low bits.
    fn low(value: u64) -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
}

macro_rules! word {
    ($($ty:ty)*) => {$(
        impl Word for $ty {
            #[inline(always)]
            fn low(value: u64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
        }
    )*};
}

word! { u32 u64 }

/// Lane `l` has `base + l * stride`, modulo the width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Affine<T> {
    pub(crate) base: T,
    pub(crate) stride: T,
}

impl<T: Word> Affine<T> {
    /// The same in every lane.
    #[inline(always)]
    pub(crate) fn uniform(base: T) -> Self {
        Self { base, stride: T::default() }
    }

    #[inline(always)]
    pub(crate) fn is_uniform(self) -> bool {
        self.stride == T::default()
    }

    #[inline(always)]
    pub(crate) fn lane(self, lane: usize) -> T {
        self.base.plus(self.stride.times(T::low(lane as u64)))
    }

    #[inline]
    pub(crate) fn lanes(self) -> [T; LANES] {
        let mut next = self.base;
        std::array::from_fn(|_| {
            let this = next;
            next = next.plus(self.stride);
            this
        })
    }

    /// The affine form of these values, if they have one.
    #[inline]
    pub(crate) fn of(lanes: &[T; LANES]) -> Option<Self> {
        let form = Self { base: lanes[0], stride: lanes[1].minus(lanes[0]) };
        let expected = form.lanes();
        let mut same = true;
        for (value, expected) in lanes.iter().zip(&expected) {
            same &= value == expected;
        }
        same.then_some(form)
    }
}

const AFFINE: u8 = 1;
const EACH: u8 = 2;

/// One register of a warp.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Register<T> {
    lanes: [T; LANES],
    form: Affine<T>,
    /// Which of the two is valid: `AFFINE`, `EACH`, or both.
    valid: u8,
}

impl<T: Word> Register<T> {
    pub(crate) fn new() -> Self {
        let zero = T::default();
        Self { lanes: [zero; LANES], form: Affine::uniform(zero), valid: AFFINE }
    }

    /// Its affine form, if it is known to have one.
    #[inline(always)]
    pub(crate) fn affine(&self) -> Option<Affine<T>> {
        if self.valid & AFFINE != 0 { Some(self.form) } else { None }
    }

    /// Its value, if it is known to be the same in every lane.
    #[inline(always)]
    pub(crate) fn uniform(&self) -> Option<T> {
        self.affine().filter(|form| form.is_uniform()).map(|form| form.base)
    }

    /// The value of every lane.
    #[inline(always)]
    pub(crate) fn lanes(&mut self) -> &[T; LANES] {
        if self.valid & EACH == 0 {
            self.expand();
        }
        &self.lanes
    }

    /// The value of every lane, of a register that has been asked for them.
    #[inline(always)]
    pub(crate) fn known_lanes(&self) -> &[T; LANES] {
        debug_assert!(self.valid & EACH != 0);
        &self.lanes
    }

    #[inline(never)]
    fn expand(&mut self) {
        self.lanes = self.form.lanes();
        self.valid |= EACH;
    }

    #[inline(always)]
    pub(crate) fn lane(&self, lane: usize) -> T {
        if self.valid & EACH != 0 { self.lanes[lane] } else { self.form.lane(lane) }
    }

    /// Is its affine form known?
    #[inline(always)]
    pub(crate) fn is_affine(&self) -> bool {
        self.valid & AFFINE != 0
    }

    /// The affine form, whether it is valid or not.
    #[inline(always)]
    pub(crate) fn form(&self) -> Affine<T> {
        self.form
    }

    /// Every lane gets a value of this form.
    #[inline(always)]
    pub(crate) fn set_affine(&mut self, form: Affine<T>) {
        self.form = form;
        self.valid = AFFINE;
    }

    /// Every lane gets its value.
    #[inline(always)]
    pub(crate) fn set(&mut self, lanes: &[T; LANES]) {
        self.lanes = *lanes;
        self.valid = EACH;
    }

    /// Every lane gets the value that is put in its place.
    #[inline(always)]
    pub(crate) fn fill(&mut self) -> &mut [T; LANES] {
        self.valid = EACH;
        &mut self.lanes
    }

    /// The lanes of `mask` get their values, the others keep theirs.
    #[inline(never)]
    pub(crate) fn set_some(&mut self, lanes: &[T; LANES], mask: u32) {
        if self.valid & EACH == 0 {
            self.expand();
        }
        for (lane, (own, &new)) in self.lanes.iter_mut().zip(lanes).enumerate() {
            if mask >> lane & 1 != 0 {
                *own = new;
            }
        }
        self.valid = EACH;
    }

    /// Looks whether values of single lanes have an affine form, for the next one who asks.
    #[inline]
    pub(crate) fn find_form(&mut self) -> Option<Affine<T>> {
        if self.valid & AFFINE == 0
            && let Some(form) = Affine::of(&self.lanes)
        {
            self.form = form;
            self.valid |= AFFINE;
        }
        self.affine()
    }
}
