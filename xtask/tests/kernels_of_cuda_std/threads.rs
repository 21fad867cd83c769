use core::mem::MaybeUninit;

use cuda_std::glam::UVec3;
use cuda_std::prelude::*;
use cuda_std::{address_space, mem, misc};

#[kernel]
pub unsafe fn vectors(out: *mut u32) {
    let (t, b) = (thread::thread_idx(), thread::block_dim());
    let place = thread::block_idx() * b + t;
    let size: UVec3 = thread::grid_dim() * b;
    let flat = place.x + size.x * (place.y + size.y * place.z);
    unsafe { out.add(flat as usize).write(thread::index() + thread::warp_size()) };
}

#[kernel]
pub unsafe fn indices(out: *mut u32) {
    let (two, three) = (thread::index_2d(), thread::index_3d());
    if !thread::first() {
        unsafe { out.add(thread::index_1d() as usize).write(two.x + two.y + three.z) };
    }
}

#[kernel]
pub unsafe fn voting_barriers(out: *mut u32) {
    let t = thread::thread_idx_x();
    let odd = thread::sync_threads_count(t % 2);
    let all = thread::sync_threads_and(t);
    let any = thread::sync_threads_or(t);
    unsafe { out.add(t as usize).write(odd + all + any) };
}

#[kernel]
pub unsafe fn fences(out: *mut u32) {
    #[address_space(shared)]
    static mut FLAG: [MaybeUninit<u32>; 2] = [const { MaybeUninit::uninit() }; 2];
    unsafe { FLAG[0].write(mem::dynamic_smem_size() + mem::total_smem_size()) };
    thread::grid_fence();
    unsafe { out.write(misc::clock() as u32) };
    thread::device_fence();
    unsafe { out.add(1).write(1) };
    thread::system_fence();
    thread::nanosleep(100);
}
