use cuda_std::{kernel, thread};

#[kernel]
pub unsafe fn leaves_no_loop(out: *mut f32) {
    if thread::thread_idx_x() > 3 {
        break;
    }
    unsafe { *out = 1.0 };
}

fn main() {}
