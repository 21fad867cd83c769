//! Waiting for a launch, but not for ever.

use std::thread;
use std::time::Duration;

use anyhow::Result;
use cust::event::{Event, EventStatus};
use driver::{DriverError, LAUNCH_TIMEOUT};

use super::Doing;

/// Between two looks. They are counted: no clock is read.
const PAUSE: Duration = Duration::from_millis(1);

/// Waits until the launch before `ended` has ended. If it hangs for `seconds`, this ends the program.
pub(super) fn until(ended: &Event, seconds: u32, what: &str) -> Result<()> {
    for _ in 0..u64::from(seconds) * 1000 {
        if ended.query().doing(|| what.to_owned())? == EventStatus::Ready {
            return Ok(());
        }
        thread::sleep(PAUSE);
    }
    let hang = DriverError { doing: what.to_owned(), code: LAUNCH_TIMEOUT };
    command::note(format_args!("error: {hang}"));
    leave()
}

/// Ends the program, whatever the card does.
pub(crate) fn leave() -> ! {
    // Every call that frees something on the card would wait for the kernel, and so might the driver's own
    // exit handlers: leave without them. The operating system takes the kernel off the card.
    unsafe extern "C" {
        fn _exit(code: i32) -> !;
    }
    // SAFETY: the C library's `_exit` has this signature; what was printed has been written line by line.
    unsafe { _exit(command::CANNOT_RUN.into()) }
}
