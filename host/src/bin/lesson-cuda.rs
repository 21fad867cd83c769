//! The lesson on a card, its exhibits, and any kernel. It links the driver, so it does not even start without one; `cargo xtask run`
//! looks first.

use std::env;
use std::process::ExitCode;

fn main() -> ExitCode {
    match env::args_os().nth(1) {
        Some(command) if command == "launch" => host::launch::main(),
        Some(command) if command == "exhibit" || command == "exhibits" => host::exhibits::main(),
        _ => host::program::main(),
    }
}
