//! The lesson on a card. It links the driver, so it does not even start without one; `cargo xtask run`
//! looks first.

use std::process::ExitCode;

fn main() -> ExitCode {
    host::program::main()
}
