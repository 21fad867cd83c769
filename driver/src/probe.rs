//! Looking for the driver and a card, without linking the driver.

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::mem;

use libloading::Library;

use crate::code::DriverError;
use crate::library::{Absent, load};
use crate::ptx::Capability;
use crate::version::CudaVersion;

/// The first card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// Its name.
    pub name: String,
    /// What it can do.
    pub capability: Capability,
    /// What the driver serves.
    pub driver: CudaVersion,
    /// How many cards there are.
    pub count: u32,
}

/// The first card of this machine.
///
/// # Errors
///
/// Why there is none.
pub fn probe() -> Result<Card, Absent> {
    let library = load()?;
    let card = ask(&library);
    // The driver may have started threads of its own: their code stays.
    mem::forget(library);
    card
}

fn ask(library: &Library) -> Result<Card, Absent> {
    type Init = unsafe extern "C" fn(c_uint) -> c_uint;
    type GetInt = unsafe extern "C" fn(*mut c_int) -> c_uint;
    type GetDevice = unsafe extern "C" fn(*mut c_int, c_int) -> c_uint;
    type GetName = unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_uint;
    type GetAttribute = unsafe extern "C" fn(*mut c_int, c_int, c_int) -> c_uint;
    /// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR` and `_MINOR`.
    const CAPABILITY: [c_int; 2] = [75, 76];

    // SAFETY: these are the types that NVIDIA's driver API documents for these names.
    let (init, version, count, get, name, attribute) = unsafe {
        (
            library.get::<Init>(b"cuInit\0")?,
            library.get::<GetInt>(b"cuDriverGetVersion\0")?,
            library.get::<GetInt>(b"cuDeviceGetCount\0")?,
            library.get::<GetDevice>(b"cuDeviceGet\0")?,
            library.get::<GetName>(b"cuDeviceGetName\0")?,
            library.get::<GetAttribute>(b"cuDeviceGetAttribute\0")?,
        )
    };
    let int = |doing: &str, call: &dyn Fn(*mut c_int) -> c_uint| {
        let mut value = 0;
        check(doing, call(&mut value)).map(|()| value)
    };

    // SAFETY: for all six: every pointer is to a live local of the type and size that the call is told.
    unsafe {
        check("starting the NVIDIA driver", init(0))?;
        let driver = int("asking for the driver's version", &|out| version(out))?;
        let count = int("counting the cards", &|out| count(out))?;
        let count = u32::try_from(count).unwrap_or(0);
        if count == 0 {
            const NO_DEVICE: u32 = 100;
            check("counting the cards", NO_DEVICE)?;
        }
        let device = int("opening the card", &|out| get(out, 0))?;
        let mut text: [c_char; 256] = [0; 256];
        check("asking for the card's name", name(text.as_mut_ptr(), 255, device))?;
        let [major, minor] = CAPABILITY
            .map(|which| int("asking for the card's capability", &|out| attribute(out, which, device)));
        let number = |value| u32::try_from(value).unwrap_or(0);
        Ok(Card {
            name: CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned(),
            capability: Capability { major: number(major?), minor: number(minor?) },
            driver: CudaVersion::from_driver(driver),
            count,
        })
    }
}

fn check(doing: &str, code: u32) -> Result<(), Absent> {
    match code {
        0 => Ok(()),
        code => Err(Absent::Driver(DriverError { doing: doing.into(), code })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probing_never_fails_in_any_other_way() {
        // With a card or without, on any machine.
        match probe() {
            Ok(card) => assert!(card.count > 0),
            Err(absent) => assert!(!absent.to_string().is_empty()),
        }
    }
}
