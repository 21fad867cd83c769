//! What a panic is on a GPU.

use core::panic::PanicInfo;

/// Ends the launch with an error that the host sees.
#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    // SAFETY: a trap has no preconditions.
    unsafe { core::arch::nvptx::trap() }
}
