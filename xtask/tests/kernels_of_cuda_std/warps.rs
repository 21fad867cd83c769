use cuda_std::{kernel, thread, warp};

const FULL: u32 = u32::MAX;

#[kernel]
pub unsafe fn shuffles(input: &[f32], out: *mut f64) {
    let t = thread::thread_idx_x() as usize;
    unsafe {
        let (down, within) = warp::warp_shuffle_down(FULL, input[t], 1, 32);
        let (up, _) = warp::warp_shuffle_up(FULL, down as i8, 2, 16);
        let (wide, _) = warp::warp_shuffle_idx(FULL, f64::from(up), 0, 8);
        let (xor, _) = warp::warp_shuffle_xor(FULL, t as u64, 1, 32);
        out.add(t).write(if within { wide } else { xor as f64 });
    }
}

#[kernel]
pub unsafe fn votes(out: *mut u32) {
    let t = thread::thread_idx_x();
    unsafe {
        let all = warp::warp_vote_all(FULL, t < 5);
        let any = warp::warp_vote_any(FULL, t < 5);
        let ballot = warp::warp_vote_ballot(FULL, t < 5);
        warp::sync_warp(FULL);
        out.add(t as usize).write(u32::from(all) + u32::from(any) + ballot + warp::activemask() + warp::lane_id());
    }
}

#[kernel]
pub unsafe fn matches(input: &[i64], out: *mut u32) {
    let t = thread::thread_idx_x() as usize;
    unsafe {
        let same = warp::warp_match_any(FULL, input[t]);
        let all = warp::warp_match_all(FULL, t as f32);
        out.add(t).write(same + all.unwrap_or(0));
    }
}

#[kernel]
pub unsafe fn reductions(input: &[i32], out: *mut i32) {
    let t = thread::thread_idx_x() as usize;
    unsafe {
        let sum = warp::warp_reduce(FULL, input[t], warp::WarpReductionOp::Add);
        let least = warp::warp_reduce(FULL, input[t], warp::WarpReductionOp::Min);
        let bits = warp::warp_reduce(FULL, t as u32, warp::WarpReductionOp::Xor);
        out.add(t).write(sum + least + bits as i32);
    }
}
