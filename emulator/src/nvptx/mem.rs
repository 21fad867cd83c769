//! How much shared memory a block has.

macro_rules! register {
    ($($(#[$doc:meta])* $name:ident = $register:literal;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name() -> u32 {
            let value;
            // SAFETY: it reads a register that every thread has.
            unsafe {
                core::arch::asm!(
                    concat!("mov.u32 {}, %", $register, ";"),
                    out(reg32) value,
                    options(pure, nomem, nostack)
                );
            }
            value
        }
    )*};
}

register! {
    /// The bytes of shared memory that the launch asked for, for each block.
    dynamic_smem_size = "dynamic_smem_size";
    /// The bytes of shared memory that a block has, static and dynamic, rounded up as the card does.
    total_smem_size = "total_smem_size";
}
