//! The product of two square matrices, tile by tile, with the second barrier missing.
//!
//! The loop of `loop_one_barrier` where it is met in earnest. Each trip loads a tile of both factors,
//! waits, and adds up their product; then a fast warp loads the next tiles over what a slow one is
//! still adding up.

use core::mem::MaybeUninit;

use cuda_std::{address_space, kernel, thread};

/// The most threads that a block may have along each side.
const SIDE: usize = 32;

/// Writes the product of `a` and `b`, matrices of `n` rows and columns, to `out`.
///
/// # Safety
///
/// Blocks must be squares whose side divides `n`, with a thread for every element of `out`; `a`, `b` and
/// `out` must have `n * n` elements.
/// The kernel has a data race if there is more than one tile; that is its lesson.
#[kernel]
pub unsafe fn tiled_multiply(a: &[f32], b: &[f32], out: *mut f32, n: u32) {
    #[address_space(shared)]
    static mut A: [[MaybeUninit<f32>; SIDE]; SIDE] =
        [const { [const { MaybeUninit::uninit() }; SIDE] }; SIDE];
    #[address_space(shared)]
    static mut B: [[MaybeUninit<f32>; SIDE]; SIDE] =
        [const { [const { MaybeUninit::uninit() }; SIDE] }; SIDE];

    let n = n as usize;
    let side = thread::block_dim_x() as usize;
    let (tx, ty) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let row = thread::block_idx_y() as usize * side + ty;
    let column = thread::block_idx_x() as usize * side + tx;

    let mut sum = 0.0;
    for tile in 0..n / side {
        unsafe { A[ty][tx].write(*a.get_unchecked(row * n + tile * side + tx)) };
        unsafe { B[ty][tx].write(*b.get_unchecked((tile * side + ty) * n + column)) };
        thread::sync_threads();
        for k in 0..side {
            sum += unsafe { A[ty][k].assume_init() * B[k][tx].assume_init() };
        }
        // The missing `thread::sync_threads();` belongs on this line.
    }
    unsafe { *out.add(row * n + column) = sum };
}
