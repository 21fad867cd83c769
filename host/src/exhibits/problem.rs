//! How much an exhibit has to do, at a block size.

use kernels::exhibits::TRIPS;

use crate::reference::input;

/// How the output lies on the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One element for each thread.
    Whole,
    /// The last block is not full.
    Partial,
    /// One element for each thread, and several inputs for each.
    Trips,
    /// Square matrices on a square grid of square blocks.
    Square,
}

/// What a kernel works on.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Threads a block.
    pub block: u32,
    /// Blocks along x, and along y.
    pub grid: (u32, u32),
    /// Threads of a block along x, and along y.
    pub sides: (u32, u32),
    /// How many elements the output has.
    pub len: usize,
    /// The input, or the first factor of a product.
    pub input: Vec<f32>,
    /// The second factor of a product.
    pub second: Vec<f32>,
}

/// Blocks of a launch: enough for one block to differ from the next.
const BLOCKS: u32 = 3;
/// Tiles along each side of a matrix.
const TILES: u32 = 2;

impl Problem {
    /// The work for blocks of this size.
    #[must_use]
    pub fn new(shape: Shape, block: u32) -> Self {
        let threads = (BLOCKS * block) as usize;
        let flat = |len: usize, inputs: usize| Self {
            block,
            grid: (BLOCKS, 1),
            sides: (block, 1),
            len,
            input: input(inputs),
            second: Vec::new(),
        };
        match shape {
            Shape::Whole => flat(threads, threads),
            Shape::Trips => flat(threads, TRIPS * threads),
            // Half of the last block, and a little more or less: not a whole number of warps.
            Shape::Partial => {
                let len = threads - block as usize / 2 + 3;
                flat(len, len)
            }
            Shape::Square => {
                let side = block.isqrt();
                let n = (TILES * side) as usize;
                // Small numbers: every sum of products is exact.
                let matrix = |period: usize| (0..n * n).map(|i| (i % period) as f32).collect();
                Self {
                    block,
                    grid: (TILES, TILES),
                    sides: (side, side),
                    len: n * n,
                    input: matrix(7),
                    second: matrix(5),
                }
            }
        }
    }

    /// How many threads of a block go on to the barrier, where not all do: as in the lesson, 96 of 256.
    #[must_use]
    pub fn keep(&self) -> u32 {
        self.block * 3 / 8
    }

    /// Rows and columns of a matrix.
    #[must_use]
    pub fn n(&self) -> usize {
        (self.grid.0 * self.sides.0) as usize
    }
}
