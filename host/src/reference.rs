//! What the kernels should compute, written without looking at them: whole tiles, not threads.

/// What every output element holds before a launch: no input value, and not what a kernel computes.
pub const POISON: f32 = f32::from_bits(0x7fc0_beef);

/// The input: every element is different, and none is 0, which out-of-range lanes store.
///
/// Up to 2^24 elements, whole numbers from 1; beyond, other bit patterns of finite numbers.
#[must_use]
pub fn input(n: usize) -> Vec<f32> {
    const EXACT: usize = 1 << 24;
    (1..=n)
        .map(|i| if i <= EXACT { i as f32 } else { f32::from_bits(0x4b80_0000 + (i - EXACT) as u32) })
        .collect()
}

/// Each tile of `block` elements, reversed. A last tile that is not full holds 0.0 behind its end, as
/// the tile in shared memory does, and only its elements within `input` come out.
#[must_use]
pub fn reversed_tiles(input: &[f32], block: usize) -> Vec<f32> {
    each_tile(input, block, <[f32]>::reverse)
}

/// The first `keep` elements of each tile, reversed among themselves; the rest keeps its poison.
#[must_use]
pub fn reversed_prefixes(input: &[f32], block: usize, keep: usize) -> Vec<f32> {
    each_tile(input, block, |tile| {
        tile[..keep].reverse();
        tile[keep..].fill(POISON);
    })
}

fn each_tile(input: &[f32], block: usize, change: impl Fn(&mut [f32])) -> Vec<f32> {
    let mut out = Vec::with_capacity(input.len());
    for tile in input.chunks(block) {
        let mut padded = tile.to_vec();
        padded.resize(block, 0.0);
        change(&mut padded);
        out.extend(&padded[..tile.len()]);
    }
    out
}
