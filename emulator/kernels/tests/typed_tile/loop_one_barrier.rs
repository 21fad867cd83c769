use cuda_std::{kernel, thread};
use kernels::tile::Tile;

#[kernel]
unsafe fn loop_one_barrier(input: &[f32], out: *mut f32) {
    let tid = thread::thread_idx_x() as usize;
    let dim = thread::block_dim_x() as usize;

    let mut tile = unsafe { Tile::new() };
    let mut sum = 0.0;
    for trip in 0..3 {
        let readable = tile.write(tid, input[trip * dim + tid]).sync();
        sum += readable.read(dim - 1 - tid);
        tile = readable;
    }
    unsafe { *out.add(tid) = sum };
}

fn main() {}
