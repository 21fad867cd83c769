//! What fits nowhere else.

use core::arch::asm;

/// Stops the thread for a debugger.
#[inline(always)]
pub fn breakpoint() {
    // SAFETY: it touches no memory.
    unsafe { asm!("brkpt;", options(nomem, nostack)) }
}

/// The clock of the multiprocessor, in its cycles.
#[inline(always)]
pub fn clock() -> u64 {
    let cycles;
    // SAFETY: it reads a register that every thread has.
    unsafe { asm!("mov.u64 {}, %clock64;", out(reg64) cycles, options(nomem, nostack)) }
    cycles
}
