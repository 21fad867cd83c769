use cuda_std::{kernel, thread};
use kernels::tile::Tile;

#[kernel]
unsafe fn barrier_below_the_read(input: &[f32], out: *mut f32) {
    let tid = thread::thread_idx_x() as usize;
    let dim = thread::block_dim_x() as usize;

    let tile = unsafe { Tile::new() };
    let written = tile.write(tid, input[tid]);
    let x = written.read(dim - 1 - tid);
    written.sync();
    unsafe { *out.add(tid) = x };
}

fn main() {}
