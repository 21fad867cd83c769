//! What a launch may ask for: CUDA's limits (Programming Guide, "Compute Capabilities").

use std::fmt;

/// Three extents or three indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim3 {
    /// Extent or index along x.
    pub x: u32,
    /// Along y.
    pub y: u32,
    /// Along z.
    pub z: u32,
}

impl Dim3 {
    /// How many points an extent has.
    #[must_use]
    pub fn count(self) -> u64 {
        u64::from(self.x) * u64::from(self.y) * u64::from(self.z)
    }

    /// The point with this linear index, x fastest; the extent must not be empty.
    #[inline]
    #[must_use]
    pub fn point(self, linear: u64) -> Self {
        let (x, y) = (u64::from(self.x), u64::from(self.y));
        Self { x: (linear % x) as u32, y: (linear / x % y) as u32, z: (linear / x / y) as u32 }
    }
}

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Self { x, y: 1, z: 1 }
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Self {
        Self { x, y, z: 1 }
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self { x, y, z }
    }
}

/// Lanes in a warp, on every NVIDIA GPU so far.
pub const WARP: usize = 32;
/// The most threads a block may have.
pub const MAX_BLOCK_THREADS: u32 = 1024;
/// The most threads along each side of a block.
pub const MAX_BLOCK: Dim3 = Dim3 { x: 1024, y: 1024, z: 64 };
/// The most blocks along each side of a grid.
pub const MAX_GRID: Dim3 = Dim3 { x: (1 << 31) - 1, y: 65_535, z: 65_535 };
/// The most static shared memory of a block, in bytes.
pub const MAX_STATIC_SHARED: usize = 48 * 1024;

/// The most threads that a block may have to be explored exhaustively: one digit a decision of a schedule.
pub const MAX_EXHAUSTIVE_BLOCK: u32 = 36;

/// A launch that CUDA would refuse, or that cannot be explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchError {
    /// An extent of the block is 0 or above [`MAX_BLOCK`].
    BlockExtent(Dim3),
    /// The block has more than [`MAX_BLOCK_THREADS`] threads.
    BlockThreads(u64),
    /// An extent of the grid is 0 or above [`MAX_GRID`].
    GridExtent(Dim3),
    /// The block has too many threads to try every order of them: more than [`MAX_EXHAUSTIVE_BLOCK`].
    ExhaustiveThreads(u64),
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let within = |f: &mut fmt::Formatter<'_>, what, Dim3 { x, y, z }: Dim3, max: Dim3| {
            write!(
                f,
                "a {what} of {x} x {y} x {z} is not within 1 x 1 x 1 and {} x {} x {}",
                max.x, max.y, max.z
            )
        };
        match *self {
            Self::BlockExtent(dim) => within(f, "block", dim, MAX_BLOCK),
            Self::GridExtent(dim) => within(f, "grid", dim, MAX_GRID),
            Self::BlockThreads(threads) => {
                write!(f, "a block of {threads} threads is above the limit of {MAX_BLOCK_THREADS}")
            }
            Self::ExhaustiveThreads(threads) => write!(
                f,
                "a block of {threads} threads has too many orders to try; at most {MAX_EXHAUSTIVE_BLOCK} threads"
            ),
        }
    }
}

impl std::error::Error for LaunchError {}

/// Checks a launch against the limits.
///
/// # Errors
///
/// If an extent of the grid or of the block is none that CUDA launches.
pub fn check(grid: Dim3, block: Dim3) -> Result<(), LaunchError> {
    let outside = |dim: Dim3, max: Dim3| {
        !(1..=max.x).contains(&dim.x) || !(1..=max.y).contains(&dim.y) || !(1..=max.z).contains(&dim.z)
    };
    if outside(block, MAX_BLOCK) {
        return Err(LaunchError::BlockExtent(block));
    }
    if block.count() > u64::from(MAX_BLOCK_THREADS) {
        return Err(LaunchError::BlockThreads(block.count()));
    }
    if outside(grid, MAX_GRID) {
        return Err(LaunchError::GridExtent(grid));
    }
    Ok(())
}
