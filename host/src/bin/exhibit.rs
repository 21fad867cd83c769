//! The exhibits on the emulator: `cargo xtask exhibit`.

use std::process::ExitCode;

fn main() -> ExitCode {
    host::exhibits::main()
}
