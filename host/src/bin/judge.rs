//! Kernels in PTX on the engine that executes PTX: `cargo xtask check`.

use std::process::ExitCode;

fn main() -> ExitCode {
    host::judge::main()
}
