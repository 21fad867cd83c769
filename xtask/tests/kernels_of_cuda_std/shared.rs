use core::mem::MaybeUninit;

use cuda_std::shared::dynamic_shared_mem;
use cuda_std::{address_space, kernel, thread};

#[address_space(shared)]
static mut GRID: [[MaybeUninit<u16>; 8]; 4] = [[const { MaybeUninit::uninit() }; 8]; 4];

fn partner(t: usize) -> u16 {
    thread::sync_threads();
    unsafe { GRID[t % 4][t / 4].assume_init() }
}

pub mod inner {
    use super::*;

    #[kernel]
    pub unsafe fn helper_called_twice(out: *mut u16) {
        let t = thread::thread_idx_x() as usize;
        unsafe {
            GRID[t / 8][t % 8].write(t as u16);
            out.add(t).write(partner(t) + partner(t ^ 1));
        }
    }
}

#[kernel]
pub unsafe fn dynamic(input: &[f32], out: *mut f32) {
    let t = thread::thread_idx_x() as usize;
    let tile = dynamic_shared_mem::<f32>();
    unsafe {
        tile.add(t).write(input[t]);
        thread::sync_threads();
        out.add(t).write(tile.add(t ^ 1).read());
    }
}

#[kernel]
pub unsafe fn three_trips(out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; 64] = [const { MaybeUninit::uninit() }; 64];
    let t = thread::thread_idx_x() as usize;
    for round in 0..3 {
        unsafe { TILE[t].write(round as f32) };
        thread::sync_threads();
        unsafe { *out.add(t) += TILE[63 - t].assume_init() };
        thread::sync_threads();
    }
}

#[kernel]
pub unsafe fn read_twice(out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; 64] = [const { MaybeUninit::uninit() }; 64];
    let t = thread::thread_idx_x() as usize;
    unsafe {
        TILE[t].write(1.0);
        let mine = TILE[t].assume_init();
        TILE[t].write(2.0);
        TILE[t].write(3.0);
        out.add(t).write(mine);
    }
}

#[kernel]
pub unsafe fn write_to_a_copy(out: *mut f32) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<f32>; 64] = [const { MaybeUninit::uninit() }; 64];
    let t = thread::thread_idx_x() as usize;
    unsafe {
        { TILE[t] }.write(1.0);
        out.add(t).write(2.0);
    }
}
