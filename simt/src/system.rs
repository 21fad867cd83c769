//! Functions that the driver provides: `vprintf` and `__assertfail` (CUDA Programming Guide, "Formatted Output",
//! "Assertion").

use race::FaultKind;
use race::schedule;

use crate::access::Fault;
use crate::address::{WINDOW, Window, window};
use crate::code::{Call, System};
use crate::memory::Buffer;
use crate::warp::{Group, Warp};

/// Longer texts are cut.
const MAX_TEXT: usize = 4096;

/// Calls a function for the lanes of a group.
pub(crate) fn call(
    system: System,
    buffers: &[Buffer],
    warp: &mut Warp,
    group: &Group,
    call: &Call,
    printed: &mut Vec<u8>,
) -> Result<(), Fault> {
    for lane in schedule::lanes(group.mask) {
        let argument = |number: usize, size: u32| {
            let at = call.arguments.get(number).map_or(0, |&(offset, _)| group.frame.local + offset);
            local(warp, at, size, lane)
        };
        match system {
            System::Vprintf => {
                let format = text(buffers, warp, argument(0, 8), lane);
                let text = formatted(&format, argument(1, 8), buffers, warp, lane);
                let length = text.len() as u32;
                printed.extend_from_slice(&text);
                if let Some(&(offset, _)) = call.results.first() {
                    let at = (group.frame.local + offset) / 4;
                    warp.local[at as usize][lane as usize] = length;
                }
            }
            System::AssertFail => {
                let said = |number: usize| {
                    String::from_utf8_lossy(&text(buffers, warp, argument(number, 8), lane)).into_owned()
                };
                let (message, file, line) = (said(0), said(1), argument(2, 4));
                let text = if file.is_empty() { message } else { format!("{message} ({file}:{line})") };
                return Err((lane, FaultKind::Assert(text)));
            }
            System::Panic(symbol) => {
                let arguments: Vec<u64> = (0..call.arguments.len())
                    .map(|number| argument(number, call.arguments[number].1.min(8)))
                    .collect();
                return Err((lane, FaultKind::Panic(panic_message(symbol, &arguments, buffers, warp, lane))));
            }
        }
    }
    Ok(())
}

/// What Rust's library would say, as far as the arguments tell, and where: the last one is a `&Location`, of a name, its
/// length, line and column.
fn panic_message(symbol: &str, arguments: &[u64], buffers: &[Buffer], warp: &Warp, lane: u32) -> String {
    let text = |address: u64, length: u64| {
        let bytes = (0..length.min(MAX_TEXT as u64)).map_while(|n| load(buffers, warp, address + n, 1, lane));
        String::from_utf8_lossy(&bytes.map(|byte| byte as u8).collect::<Vec<_>>()).into_owned()
    };
    let message = match arguments {
        [index, len, _] if symbol.ends_with("panic_bounds_check") => {
            format!("index out of bounds: the len is {len} but the index is {index}")
        }
        [message, length, _] if symbol.ends_with("panicking5panic") => text(*message, *length),
        // A message without arguments: its length, doubled, plus one.
        [message, length, _] if symbol.ends_with("panic_fmt") && length & 1 == 1 => {
            text(*message, length >> 1)
        }
        _ => symbol
            .rsplit_once("panic_const_")
            .map_or_else(|| "panicked".into(), |(_, what)| format!("panicked: {}", what.replace('_', " "))),
    };
    let Some(&location) = arguments.last() else { return message };
    let field = |offset: u64, size: u32| load(buffers, warp, location + offset, size, lane);
    match (field(0, 8), field(8, 8), field(16, 4), field(20, 4)) {
        (Some(file), Some(length), Some(line), Some(column)) => {
            let file = text(file, length);
            format!("{message} ({}:{line}:{column})", race::direct_path(&file))
        }
        _ => message,
    }
}

fn local(warp: &Warp, at: u32, size: u32, lane: u32) -> u64 {
    let byte = |at: u32| {
        let word = warp.local.get((at / 4) as usize).map_or(0, |word| word[lane as usize]);
        u64::from(word >> (8 * (at % 4)) & 0xff)
    };
    (0..size).fold(0, |value, n| value | byte(at + n) << (8 * n))
}

/// So many bytes at a generic address.
fn load(buffers: &[Buffer], warp: &Warp, address: u64, size: u32, lane: u32) -> Option<u64> {
    if window(address) == Window::Local {
        return Some(local(warp, (address & (WINDOW - 1)) as u32, size, lane));
    }
    let buffer = buffers.iter().find(|buffer| buffer.holds(address, size.into()))?;
    let byte = |n: u32| buffer.load(address - buffer.address + u64::from(n), 1) << (8 * n);
    Some((0..size).fold(0, |value, n| value | byte(n)))
}

/// The text that ends with a zero.
fn text(buffers: &[Buffer], warp: &Warp, address: u64, lane: u32) -> Vec<u8> {
    let bytes = (0..MAX_TEXT as u64).map_while(|n| load(buffers, warp, address + n, 1, lane));
    bytes.take_while(|&byte| byte != 0).map(|byte| byte as u8).collect()
}

/// C's `printf` for the conversions that CUDA has. Arguments lie behind each other, each aligned to its size.
fn formatted(format: &[u8], arguments: u64, buffers: &[Buffer], warp: &Warp, lane: u32) -> Vec<u8> {
    let mut out = Vec::new();
    let mut next = arguments;
    let mut take = |size: u32| {
        next = next.next_multiple_of(size.into());
        let value = load(buffers, warp, next, size, lane).unwrap_or(0);
        next += u64::from(size);
        value
    };
    let mut rest = format.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut flags = String::new();
        let mut long = false;
        let conversion = loop {
            match rest.next() {
                Some(byte @ (b'-' | b'+' | b' ' | b'#' | b'.' | b'0'..=b'9')) => flags.push(byte as char),
                Some(b'l' | b'z' | b'j' | b't') => long = true,
                Some(b'h') => {}
                Some(b'*') => flags += &(take(4) as i32).to_string(),
                Some(byte) => break byte,
                None => break b'%',
            }
        };
        let spec = Spec::parse(&flags);
        let size = if long { 8 } else { 4 };
        let shown = match conversion {
            b'%' => "%".into(),
            b'd' | b'i' if long => spec.number(take(8).cast_signed().to_string()),
            b'd' | b'i' => spec.number((take(4) as i32).to_string()),
            b'u' => spec.number(take(size).to_string()),
            b'x' => spec.number(format!("{:x}", take(size))),
            b'X' => spec.number(format!("{:X}", take(size))),
            b'o' => spec.number(format!("{:o}", take(size))),
            b'p' => spec.number(format!("{:#x}", take(8))),
            b'c' => spec.padded((take(4) as u8 as char).to_string()),
            b's' => {
                let address = take(8);
                spec.padded(String::from_utf8_lossy(&text(buffers, warp, address, lane)).into_owned())
            }
            b'f' | b'F' | b'g' | b'G' | b'e' | b'E' | b'a' | b'A' => {
                let value = f64::from_bits(take(8));
                let precision = spec.precision.unwrap_or(6);
                spec.number(match conversion.to_ascii_lowercase() {
                    b'e' => format!("{value:.precision$e}"),
                    b'g' => format!("{value}"),
                    _ => format!("{value:.precision$}"),
                })
            }
            other => format!("%{}", other as char),
        };
        out.extend_from_slice(shown.as_bytes());
    }
    out
}

/// Width, precision and flags of a conversion.
struct Spec {
    left: bool,
    zero: bool,
    plus: bool,
    width: usize,
    precision: Option<usize>,
}

impl Spec {
    fn parse(flags: &str) -> Self {
        let (width, precision) = match flags.split_once('.') {
            Some((width, precision)) => (width, Some(precision.parse().unwrap_or(0))),
            None => (flags, None),
        };
        let marks = width.len() - width.trim_start_matches(['-', '+', ' ', '#', '0']).len();
        let (marks, width) = width.split_at(marks);
        Self {
            left: marks.contains('-'),
            zero: marks.contains('0'),
            plus: marks.contains('+'),
            width: width.parse().unwrap_or(0).min(MAX_TEXT),
            precision: precision.map(|precision: usize| precision.min(64)),
        }
    }

    fn number(&self, mut digits: String) -> String {
        if self.plus && !digits.starts_with('-') {
            digits.insert(0, '+');
        }
        if self.zero && !self.left {
            let sign = usize::from(digits.starts_with(['-', '+']));
            let missing = self.width.saturating_sub(digits.len());
            digits.insert_str(sign, &"0".repeat(missing));
        }
        self.padded(digits)
    }

    fn padded(&self, text: String) -> String {
        let width = self.width;
        if self.left { format!("{text:<width$}") } else { format!("{text:>width$}") }
    }
}
