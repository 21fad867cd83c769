//! What the exhibits mean to compute, written without looking at their kernels: whole tiles, not threads.

use kernels::exhibits::TRIPS;

use super::Problem;
use crate::reference::{POISON, reversed_prefixes, reversed_tiles};

/// Each tile reversed.
pub(super) fn reversed(problem: &Problem) -> Vec<f32> {
    reversed_tiles(&problem.input, problem.block as usize)
}

/// The first elements of each tile reversed among themselves.
pub(super) fn prefixes(problem: &Problem) -> Vec<f32> {
    reversed_prefixes(&problem.input, problem.block as usize, problem.keep() as usize)
}

/// Changes each tile of the input, given its number.
fn by_tile(problem: &Problem, mut change: impl FnMut(usize, &mut [f32])) -> Vec<f32> {
    let mut out = problem.input.clone();
    out.chunks_mut(problem.block as usize).enumerate().for_each(|(number, tile)| change(number, tile));
    out
}

/// The upper half of each tile in its lower half, reversed; the other half is not written.
pub(super) fn lower_halves(problem: &Problem) -> Vec<f32> {
    by_tile(problem, |_, tile| {
        tile.reverse();
        let half = tile.len() / 2;
        tile[half..].fill(POISON);
    })
}

/// The upper half of each tile in its lower half, reversed; the other half as it was.
pub(super) fn mirrored(problem: &Problem) -> Vec<f32> {
    by_tile(problem, |_, tile| {
        let half = tile.len() / 2;
        let (lower, upper) = tile.split_at_mut(half);
        lower.iter_mut().zip(upper.iter().rev()).for_each(|(low, &up)| *low = up);
    })
}

/// Every second tile reversed.
pub(super) fn every_second(problem: &Problem) -> Vec<f32> {
    by_tile(problem, |number, tile| {
        if number % 2 == 0 {
            tile.reverse();
        }
    })
}

/// The elements of each pair swapped.
pub(super) fn swapped(problem: &Problem) -> Vec<f32> {
    by_tile(problem, |_, tile| tile.chunks_mut(2).for_each(<[f32]>::reverse))
}

/// The first element of each tile, everywhere in it.
pub(super) fn first_of_tile(problem: &Problem) -> Vec<f32> {
    by_tile(problem, |_, tile| tile.fill(tile[0]))
}

/// Running sums in each tile.
pub(super) fn running_sums(problem: &Problem) -> Vec<f32> {
    by_tile(problem, |_, tile| {
        let mut sum = 0.0;
        for x in tile {
            sum += *x;
            *x = sum;
        }
    })
}

/// The whole input reversed.
pub(super) fn all_reversed(problem: &Problem) -> Vec<f32> {
    problem.input.iter().rev().copied().collect()
}

/// As many parts of the input as there are trips, their tiles reversed, added up.
pub(super) fn summed(problem: &Problem) -> Vec<f32> {
    let reversed = reversed(problem);
    (0..problem.len).map(|i| (0..TRIPS).map(|trip| reversed[trip * problem.len + i]).sum()).collect()
}

/// The product of the two matrices.
pub(super) fn product(problem: &Problem) -> Vec<f32> {
    let n = problem.n();
    let (a, b) = (&problem.input, &problem.second);
    (0..n * n).map(|i| (0..n).map(|k| a[i / n * n + k] * b[k * n + i % n]).sum()).collect()
}
