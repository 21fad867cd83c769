//! Copies of slots, and pointers into shared memory.

use super::{expect_marked, kernel};
use crate::lint::report::Rule;

#[test]
fn writes_to_a_copy() {
    let body = "unsafe { S[t] }.write(1.0); // copy
        let _ = unsafe { S }[t].write(1.0); // copy
        ({ S[t] }).write(1.0); // copy
        unsafe { S[t].write(1.0) };
        unsafe { &mut S[t] }.write(1.0);
        let mut own = MaybeUninit::uninit(); { own }.write(1.0);";
    expect_marked("copies", &kernel(body, ""), Rule::WriteToCopy, "// copy");
}

#[test]
fn raw_pointers() {
    let body = "let p = &raw mut S; // pointer
        let p = unsafe { &raw const S[t] }; // pointer
        let p = core::ptr::addr_of_mut!(S[t]); // pointer
        let p = unsafe { S.as_mut_ptr() }; // pointer
        let p = unsafe { S[t].as_ptr() }; // pointer
        let p = unsafe { &mut S as *mut _ }; // pointer
        let p = input.as_ptr(); let q = HALF_TABLE.as_ptr(); let r = &raw const n;";
    let items = "const HALF_TABLE: [u32; 2] = [1, 2];";
    expect_marked("pointers", &kernel(body, items), Rule::UntrackedPointer, "// pointer");
}

#[test]
fn what_no_gpu_has() {
    let body = "let home = std::env::var(\"HOME\"); // host
        let text = include_str!(\"/etc/passwd\"); // host
        assert!(n > 0, \"{}\", std::process::id()); // host
        std::println!(); // host
        let size: ::std::primitive::usize = 3; // host
        let own = my::std::size(); own!(my::std::size());
        let std = 3; let cuda = cuda_std::thread::thread_idx_x(); core::mem::drop(std);";
    let items = "use std::fs; // host
        use {core::mem, std as s}; // host
        extern crate std; // host
        use my::std::size;
        #[cfg(test)] mod tests { use std::fs; fn f() { std::process::exit(0); } }";
    expect_marked("host", &kernel(body, items), Rule::HostOnly, "// host");
}
