//! Small kernels over one shared array.

/// Declares kernels over a shared array `S` of 1024 cells, with `t` and `b` at hand; `out` takes results.
macro_rules! shapes {
    ($($(#[$doc:meta])* $name:ident($s:ident, $t:ident, $b:ident, $out:ident $(, $arg:ident)?) $body:block)*) => {$(
        $(#[$doc])*
        #[cuda_std::kernel]
        pub(crate) unsafe fn $name($out: *mut u32 $(, $arg: u32)?) {
            #[cuda_std::address_space(shared)]
            static mut $s: [std::mem::MaybeUninit<u32>; 1024] = [const { std::mem::MaybeUninit::uninit() }; 1024];
            let $t = cuda_std::thread::thread_idx_x() as usize;
            let $b = cuda_std::thread::block_dim_x() as usize;
            // SAFETY: there is none: what these kernels get wrong is what they are for.
            unsafe { $body }
        }
    )*};
}
pub(crate) use shapes;
