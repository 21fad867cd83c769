//! The address space of a launch.
//!
//! Generic addresses are those of global memory, except for windows in which shared memory, a thread's local memory
//! and a kernel's parameters appear (PTX ISA, "Generic Addressing"). Nothing here is an address of the host.

/// The window of the generic address space in which a state space appears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Window {
    Global,
    Shared,
    Local,
    Const,
    Param,
}

/// Below it nothing lies, so that a null pointer with an index is found.
pub(crate) const STATICS: u64 = 0x1000_0000;
/// Between two variables of the module.
pub(crate) const STATIC_GAP: u64 = 256;
/// Functions whose address is taken.
const FUNCTIONS: u64 = 0x0800_0000;
/// Buffers of the host's launch begin here.
pub(crate) const BUFFERS: u64 = 0x7f00_0000_0000;
/// Between two buffers.
pub(crate) const BUFFER_GAP: u64 = 64 * 1024;

const SHARED: u64 = 0x6000_0000_0000;
const LOCAL: u64 = 0x6100_0000_0000;
const PARAM: u64 = 0x6200_0000_0000;
/// Of each window.
pub(crate) const WINDOW: u64 = 1 << 32;

/// Where a window begins; global and constant memory lie at their generic addresses.
pub(crate) fn base(window: Window) -> u64 {
    match window {
        Window::Global | Window::Const => 0,
        Window::Shared => SHARED,
        Window::Local => LOCAL,
        Window::Param => PARAM,
    }
}

/// The window that a generic address lies in.
#[inline]
pub(crate) fn window(address: u64) -> Window {
    match address & !(WINDOW - 1) {
        SHARED => Window::Shared,
        LOCAL => Window::Local,
        PARAM => Window::Param,
        _ => Window::Global,
    }
}

/// The generic address of an offset in shared memory.
pub(crate) fn generic_shared(offset: u64) -> u64 {
    SHARED + offset
}

/// The address of a function, by its number.
pub(crate) fn function_address(number: usize) -> u64 {
    FUNCTIONS + 16 * number as u64
}

/// The number of the function at this address.
pub(crate) fn function_at(address: u64) -> Option<usize> {
    let distance = address.checked_sub(FUNCTIONS)?;
    (distance % 16 == 0).then_some((distance / 16) as usize)
}
