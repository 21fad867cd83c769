use cuda_std::prelude::*;

#[kernel]
pub unsafe fn prints(x: f32, out: *mut u32) {
    let t = thread::thread_idx_x();
    print!("100% {{");
    println!("{t:3} {:.2} {x:?} {} {:#x}}}", x, t > 3, t);
    println!("{}", out);
    println!();
}

#[kernel]
pub unsafe fn panics(input: &[u32], out: *mut u32) {
    let t = thread::thread_idx_x() as usize;
    core::assert!(t < 900, "thread {t}");
    assert_eq!(input[t], 5);
    if input[0] == 6 {
        panic!("six");
    }
    unsafe { out.add(t).write(input[t] / input[1]) };
}
