use cuda_std::{kernel, thread};
use kernels::tile::Tile;

#[kernel]
unsafe fn missing_barrier(input: &[f32], out: *mut f32) {
    let tid = thread::thread_idx_x() as usize;
    let dim = thread::block_dim_x() as usize;

    let tile = unsafe { Tile::new() };
    let written = tile.write(tid, input[tid]);
    unsafe { *out.add(tid) = written.read(dim - 1 - tid) };
}

fn main() {}
