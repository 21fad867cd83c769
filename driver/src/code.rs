//! The driver's result codes, each with what to do about it.

use std::error::Error;
use std::fmt;

/// The driver's compiler rejects the PTX.
pub const INVALID_PTX: u32 = 218;

/// A kernel ran for too long.
pub const LAUNCH_TIMEOUT: u32 = 702;

/// A call to the driver that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverError {
    /// What was being done, such as "copying the input to the card".
    pub doing: String,
    /// The driver's result code.
    pub code: u32,
}

/// A code, its name without `CUDA_ERROR_`, and what it means here.
type Row = (u32, &'static str, &'static str);

const CODES: &[Row] = &[
    (1, "INVALID_VALUE", "the driver refused a number; if this is a launch, it is too large for the card"),
    (
        2,
        "OUT_OF_MEMORY",
        "the card's memory is too small or taken; give a smaller --n, or end what `nvidia-smi` lists",
    ),
    (3, "NOT_INITIALIZED", "the driver did not start; see what `nvidia-smi` says"),
    (34, "STUB_LIBRARY", "this libcuda only serves linking; take its folder out of LD_LIBRARY_PATH"),
    (46, "DEVICE_UNAVAILABLE", "another program holds the card for itself; `nvidia-smi` lists it"),
    (
        100,
        "NO_DEVICE",
        "the driver sees no card; see what `nvidia-smi` says and whether CUDA_VISIBLE_DEVICES hides it",
    ),
    (101, "INVALID_DEVICE", "the driver has no such card"),
    (200, "INVALID_IMAGE", "the file is no PTX; `cargo xtask ptx` makes it anew"),
    (209, "NO_BINARY_FOR_GPU", "the PTX is for a newer card; `cargo xtask ptx --arch` takes an older one"),
    (INVALID_PTX, "INVALID_PTX", "the driver's compiler rejects the PTX; `cargo xtask ptx` makes it anew"),
    (221, "JIT_COMPILER_NOT_FOUND", "the driver's compiler for PTX is missing; install the driver again"),
    (222, "UNSUPPORTED_PTX_VERSION", "the PTX is newer than the driver; install a newer driver"),
    (500, "NOT_FOUND", "the PTX has no kernel of this name; `cargo xtask ptx` makes it anew"),
    (700, "ILLEGAL_ADDRESS", "the kernel touched memory that it does not own"),
    (701, "LAUNCH_OUT_OF_RESOURCES", "the launch is too large for the card; give a smaller block"),
    (LAUNCH_TIMEOUT, "LAUNCH_TIMEOUT", "the kernel ran for too long: does it hang at a barrier?"),
    (710, "ASSERT", "an assertion in the kernel failed"),
    (714, "HARDWARE_STACK_ERROR", "the kernel's call stack is broken"),
    (715, "ILLEGAL_INSTRUCTION", "the kernel ran into an instruction that does not exist, or into a trap"),
    (716, "MISALIGNED_ADDRESS", "the kernel touched memory at an address that is not aligned"),
    (717, "INVALID_ADDRESS_SPACE", "the kernel took memory of one kind for another"),
    (718, "INVALID_PC", "the kernel jumped to where no code is"),
    (719, "LAUNCH_FAILED", "the kernel ended in a fault that the card does not describe"),
    (803, "SYSTEM_DRIVER_MISMATCH", "parts of the driver are of different versions; restart the machine"),
    (804, "COMPAT_NOT_SUPPORTED_ON_DEVICE", "the driver is too old for this libcuda; install a newer one"),
];

/// Whether a card takes no more work from this program after this code.
#[must_use]
pub fn is_sticky(code: u32) -> bool {
    matches!(code, 700 | 702 | 710 | 714..=719)
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { doing, code } = self;
        match CODES.iter().find(|(known, ..)| known == code) {
            Some((_, name, meaning)) => write!(f, "{doing}: {meaning} (CUDA_ERROR_{name})")?,
            None => write!(f, "{doing}: the driver gives result code {code}")?,
        }
        if is_sticky(*code) {
            write!(f, "; after such a fault the card takes no more launches from this program, so it stops")?;
        }
        Ok(())
    }
}

impl Error for DriverError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(code: u32) -> String {
        DriverError { doing: "launching k, 64 threads a block".into(), code }.to_string()
    }

    #[test]
    fn every_code_is_one_line_that_names_what_was_done() {
        assert!(CODES.is_sorted_by(|a, b| a.0 < b.0));
        for code in CODES.iter().map(|row| row.0).chain([12345]) {
            assert!(text(code).starts_with("launching k, 64 threads a block: "), "{}", text(code));
            assert_eq!(text(code).lines().count(), 1);
        }
    }

    #[test]
    fn codes_are_told_apart() {
        assert!(text(2).contains("smaller --n"));
        assert!(text(100).contains("nvidia-smi"));
        assert!(text(12345).contains("12345"));
    }

    #[test]
    fn only_a_kernels_fault_is_sticky() {
        assert!(text(700).contains("no more launches"));
        assert!(!text(2).contains("no more launches"));
        assert!(!text(701).contains("no more launches"));
    }
}
