//! The lesson on the emulator: `cargo xtask run`.

use std::process::ExitCode;

fn main() -> ExitCode {
    host::program::main()
}
