//! The threads that run side by side: 32 of a block.

unsafe extern "C" {
    #[link_name = "llvm.nvvm.bar.warp.sync"]
    fn bar_warp_sync(mask: u32);
    #[link_name = "llvm.nvvm.read.ptx.sreg.laneid"]
    safe fn read_lane_id() -> u32;
    #[link_name = "llvm.nvvm.activemask"]
    safe fn read_activemask() -> u32;
    #[link_name = "llvm.nvvm.vote.all.sync"]
    fn vote_all(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.any.sync"]
    fn vote_any(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    fn vote_ballot(mask: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.match.any.sync.i32"]
    fn match_any_32(mask: u32, value: u32) -> u32;
    #[link_name = "llvm.nvvm.match.any.sync.i64"]
    fn match_any_64(mask: u32, value: u64) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    fn shuffle_idx(mask: u32, value: u32, lane: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
    fn shuffle_up(mask: u32, value: u32, lane: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
    fn shuffle_down(mask: u32, value: u32, lane: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
    fn shuffle_xor(mask: u32, value: u32, lane: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.add"]
    fn redux_add(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.and"]
    fn redux_and(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.or"]
    fn redux_or(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.xor"]
    fn redux_xor(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.umin"]
    fn redux_umin(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.umax"]
    fn redux_umax(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.min"]
    fn redux_min(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.max"]
    fn redux_max(value: u32, mask: u32) -> u32;
}

/// Waits for the lanes of the warp that `mask` names, and orders their memory accesses.
///
/// # Safety
///
/// The calling lane must be in `mask`, and every lane in it that has not exited must call with the same
/// mask.
#[inline(always)]
pub unsafe fn sync_warp(mask: u32) {
    // SAFETY: as above.
    unsafe { bar_warp_sync(mask) }
}

/// The thread's index in its warp, from 0 to 31.
#[inline(always)]
pub fn lane_id() -> u32 {
    read_lane_id()
}

/// The lanes that run this instruction together with this one, a bit each. It says nothing of those that
/// come later.
#[inline(always)]
pub fn activemask() -> u32 {
    read_activemask()
}

/// Whether `predicate` holds in every lane of `mask`.
///
/// # Safety
///
/// As for [`sync_warp`].
#[inline(always)]
pub unsafe fn warp_vote_all(mask: u32, predicate: bool) -> bool {
    // SAFETY: as above.
    unsafe { vote_all(mask, predicate) }
}

/// Whether `predicate` holds in any lane of `mask`.
///
/// # Safety
///
/// As for [`sync_warp`].
#[inline(always)]
pub unsafe fn warp_vote_any(mask: u32, predicate: bool) -> bool {
    // SAFETY: as above.
    unsafe { vote_any(mask, predicate) }
}

/// The lanes of `mask` in which `predicate` holds, a bit each.
///
/// # Safety
///
/// As for [`sync_warp`].
#[inline(always)]
pub unsafe fn warp_vote_ballot(mask: u32, predicate: bool) -> u32 {
    // SAFETY: as above.
    unsafe { vote_ballot(mask, predicate) }
}

/// The lanes of `mask` that have the same value as this one, a bit each.
///
/// # Safety
///
/// As for [`sync_warp`].
#[inline(always)]
pub unsafe fn warp_match_any<T: WarpMatchValue>(mask: u32, value: T) -> u32 {
    // SAFETY: as above.
    unsafe { T::match_any(mask, value) }
}

/// `mask` if every lane of it has the same value, else nothing.
///
/// # Safety
///
/// As for [`sync_warp`].
#[inline(always)]
pub unsafe fn warp_match_all<T: WarpMatchValue>(mask: u32, value: T) -> Option<u32> {
    // SAFETY: as above.
    unsafe { T::match_all(mask, value) }
}

/// What lanes can compare: bit by bit, floats too.
pub trait WarpMatchValue: Sized {
    /// [`warp_match_any`].
    ///
    /// # Safety
    ///
    /// As there.
    unsafe fn match_any(mask: u32, value: Self) -> u32;

    /// [`warp_match_all`].
    ///
    /// # Safety
    ///
    /// As there.
    #[inline(always)]
    unsafe fn match_all(mask: u32, value: Self) -> Option<u32> {
        // Where all have one value, each lane matches all others. (`match.all.sync` says the same in two
        // results, which a Rust function cannot take from an intrinsic.)
        // SAFETY: as above.
        (unsafe { Self::match_any(mask, value) } == mask).then_some(mask)
    }
}

macro_rules! match_value {
    ($($ty:ty, $bits:expr, $intrinsic:ident;)*) => {$(
        impl WarpMatchValue for $ty {
            #[inline(always)]
            unsafe fn match_any(mask: u32, value: Self) -> u32 {
                // SAFETY: the caller's promise.
                unsafe { $intrinsic(mask, $bits(value)) }
            }
        }
    )*};
}

match_value! {
    u32, |value| value, match_any_32;
    i32, i32::cast_unsigned, match_any_32;
    f32, f32::to_bits, match_any_32;
    u64, |value| value, match_any_64;
    i64, i64::cast_unsigned, match_any_64;
    f64, f64::to_bits, match_any_64;
}

/// What [`warp_reduce`] does with the values.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarpReductionOp {
    /// Their sum.
    Add,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The bits that all have.
    And,
    /// The bits that any has.
    Or,
    /// The bits that an odd number of them has.
    Xor,
}

/// One value made of those of all lanes of `mask`, given to each of them. It needs compute capability 8.0.
///
/// # Safety
///
/// As for [`sync_warp`].
#[inline(always)]
pub unsafe fn warp_reduce<T: WarpReduceValue>(mask: u32, value: T, op: WarpReductionOp) -> T {
    // SAFETY: as above.
    unsafe { T::reduce(mask, value, op) }
}

/// What [`warp_reduce`] takes.
pub trait WarpReduceValue: Sized {
    /// [`warp_reduce`].
    ///
    /// # Safety
    ///
    /// As there.
    unsafe fn reduce(mask: u32, value: Self, op: WarpReductionOp) -> Self;
}

impl WarpReduceValue for u32 {
    #[inline(always)]
    unsafe fn reduce(mask: u32, value: Self, op: WarpReductionOp) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            match op {
                WarpReductionOp::Add => redux_add(value, mask),
                WarpReductionOp::Min => redux_umin(value, mask),
                WarpReductionOp::Max => redux_umax(value, mask),
                WarpReductionOp::And => redux_and(value, mask),
                WarpReductionOp::Or => redux_or(value, mask),
                WarpReductionOp::Xor => redux_xor(value, mask),
            }
        }
    }
}

impl WarpReduceValue for i32 {
    #[inline(always)]
    unsafe fn reduce(mask: u32, value: Self, op: WarpReductionOp) -> Self {
        let bits = value.cast_unsigned();
        // SAFETY: the caller's promise.
        let reduced = unsafe {
            match op {
                WarpReductionOp::Min => redux_min(bits, mask),
                WarpReductionOp::Max => redux_max(bits, mask),
                _ => u32::reduce(mask, bits, op),
            }
        };
        reduced.cast_signed()
    }
}

macro_rules! shuffle {
    ($($(#[$doc:meta])* $name:ident, $mode:ident, $lane:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// A group is `width` neighbouring lanes: a power of two, at most 32. The second result tells whether
        /// that lane is in this lane's group; otherwise the value is this lane's own. A value of more than
        /// 32 bits takes several shuffles.
        ///
        /// # Panics
        ///
        /// If `width` is not such a number.
        ///
        /// # Safety
        ///
        /// As for [`sync_warp`]; and the value is unspecified if the lane asked is not in `mask`.
        #[inline(always)]
        pub unsafe fn $name<T: WarpShuffleValue>(mask: u32, value: T, $lane: u32, width: u32) -> (T, bool) {
            // SAFETY: as above.
            unsafe { T::shuffle(WarpShuffleMode::$mode, mask, value, $lane, width) }
        }
    )*};
}

shuffle! {
    /// The value of the lane that is `delta` above this one in its group.
    warp_shuffle_down, Down, delta;
    /// The value of the lane that is `delta` below this one in its group.
    warp_shuffle_up, Up, delta;
    /// The value of lane `idx` of this lane's group.
    warp_shuffle_idx, Idx, idx;
    /// The value of the lane whose number differs from this one's in the bits of `lane_mask`.
    warp_shuffle_xor, Xor, lane_mask;
}

/// How a lane names the one that it asks.
#[doc(hidden)]
#[repr(u32)]
#[derive(Clone, Copy)]
pub enum WarpShuffleMode {
    /// By its number.
    Idx = 0,
    /// By how far below it is.
    Up = 1,
    /// By how far above it is.
    Down = 2,
    /// By the bits in which the numbers differ.
    Xor = 3,
}

/// What lanes can hand to each other.
pub trait WarpShuffleValue: Sized {
    /// The four shuffles.
    ///
    /// # Safety
    ///
    /// As there.
    unsafe fn shuffle(mode: WarpShuffleMode, mask: u32, value: Self, b: u32, width: u32) -> (Self, bool);
}

impl WarpShuffleValue for u32 {
    #[inline(always)]
    #[track_caller]
    unsafe fn shuffle(mode: WarpShuffleMode, mask: u32, value: Self, b: u32, width: u32) -> (Self, bool) {
        assert!(width.is_power_of_two() && width <= 32, "width must be a power of two, at most 32");
        let outside = (32 - width) << 8;
        let lane = lane_id();
        let first = lane & !(width - 1);
        // The intrinsics hand back the value alone; PTX ISA, "shfl.sync", says how the predicate is found.
        // SAFETY: the caller's promise.
        let (value, from) = unsafe {
            match mode {
                WarpShuffleMode::Idx => {
                    (shuffle_idx(mask, value, b, outside | 31), first | (b & (width - 1)))
                }
                WarpShuffleMode::Up => (shuffle_up(mask, value, b, outside), lane.wrapping_sub(b & 31)),
                WarpShuffleMode::Down => (shuffle_down(mask, value, b, outside | 31), lane + (b & 31)),
                WarpShuffleMode::Xor => (shuffle_xor(mask, value, b, outside | 31), lane ^ (b & 31)),
            }
        };
        // A butterfly reaches the groups below its own.
        let within = match mode {
            WarpShuffleMode::Xor => from < first + width,
            _ => from.wrapping_sub(first) < width,
        };
        (value, within)
    }
}

macro_rules! narrow {
    ($($ty:ty, $to:expr, $from:expr;)*) => {$(
        impl WarpShuffleValue for $ty {
            #[inline(always)]
            #[track_caller]
            unsafe fn shuffle(
                mode: WarpShuffleMode,
                mask: u32,
                value: Self,
                b: u32,
                width: u32,
            ) -> (Self, bool) {
                // SAFETY: the caller's promise.
                let (value, within) = unsafe { u32::shuffle(mode, mask, $to(value), b, width) };
                ($from(value), within)
            }
        }
    )*};
}

narrow! {
    u8, u32::from, |bits| bits as u8;
    u16, u32::from, |bits| bits as u16;
    i8, |value: i8| u32::from(value.cast_unsigned()), |bits| bits as u8 as i8;
    i16, |value: i16| u32::from(value.cast_unsigned()), |bits| bits as u16 as i16;
    i32, i32::cast_unsigned, u32::cast_signed;
    f32, f32::to_bits, f32::from_bits;
}

macro_rules! wide {
    ($($ty:ty, $half:ty, $bits:ty, $to:expr, $from:expr;)*) => {$(
        impl WarpShuffleValue for $ty {
            #[inline(always)]
            #[track_caller]
            unsafe fn shuffle(
                mode: WarpShuffleMode,
                mask: u32,
                value: Self,
                b: u32,
                width: u32,
            ) -> (Self, bool) {
                let bits: $bits = $to(value);
                // SAFETY: the caller's promise.
                let (low, within) = unsafe { <$half>::shuffle(mode, mask, bits as $half, b, width) };
                let high = (bits >> <$half>::BITS) as $half;
                // SAFETY: as above.
                let (high, _) = unsafe { <$half>::shuffle(mode, mask, high, b, width) };
                ($from((<$bits>::from(high) << <$half>::BITS) | <$bits>::from(low)), within)
            }
        }
    )*};
}

wide! {
    u64, u32, u64, |value| value, |bits| bits;
    i64, u32, u64, i64::cast_unsigned, u64::cast_signed;
    f64, u32, u64, f64::to_bits, f64::from_bits;
    u128, u64, u128, |value| value, |bits| bits;
    i128, u64, u128, i128::cast_unsigned, u128::cast_signed;
}
