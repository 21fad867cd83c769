//! Numbers and constant expressions (PTX ISA, "Constants").

use crate::ast::Symbol;
use crate::cursor::Cursor;
use crate::error::ParseError;
use crate::lexer::Kind;

/// What a constant expression comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Constant {
    /// As 64 bits.
    Integer(u64),
    /// The bits of `0f…`.
    Float32(u32),
    /// The bits of `0d…` or of a decimal number with a point.
    Float64(u64),
    /// The address of a symbol, plus so many bytes.
    Address { symbol: Symbol, offset: i64, generic: bool },
    /// `0xff00(symbol)`: one byte of that address, from 0.
    Byte { symbol: Symbol, offset: i64, generic: bool, byte: u32 },
}

/// What a name stands for.
pub(crate) type Names<'n> = &'n dyn Fn(&str) -> Option<Symbol>;

/// No name is known where only a number may stand.
pub(crate) const NO_NAMES: Names<'static> = &|_| None;

/// An expression of numbers and symbols.
pub(crate) fn expression(cursor: &mut Cursor<'_, '_>, names: Names<'_>) -> Result<Constant, ParseError> {
    binary(cursor, names, 0)
}

/// An expression that comes to an integer.
pub(crate) fn integer(cursor: &mut Cursor<'_, '_>) -> Result<u64, ParseError> {
    let error = cursor.error("an integer");
    match expression(cursor, NO_NAMES)? {
        Constant::Integer(value) => Ok(value),
        _ => Err(error),
    }
}

/// An integer that fits 32 bits.
pub(crate) fn small(cursor: &mut Cursor<'_, '_>) -> Result<u32, ParseError> {
    let error = cursor.error("an integer below 2^32");
    u32::try_from(integer(cursor)?).map_err(|_| error)
}

/// The operator that comes next, how many tokens it has, and how tightly it binds.
fn operator(cursor: &Cursor<'_, '_>) -> Option<(u8, usize, u32)> {
    let Kind::Sign(sign) = cursor.peek().kind else { return None };
    let twice = cursor.ahead(1).kind == Kind::Sign(sign);
    Some(match sign {
        b'|' if !twice => (sign, 1, 1),
        b'^' => (sign, 1, 2),
        b'&' if !twice => (sign, 1, 3),
        b'<' | b'>' if twice => (sign, 2, 4),
        b'+' | b'-' => (sign, 1, 5),
        b'*' | b'/' | b'%' => (sign, 1, 6),
        _ => return None,
    })
}

fn binary(cursor: &mut Cursor<'_, '_>, names: Names<'_>, above: u32) -> Result<Constant, ParseError> {
    let mut left = unary(cursor, names)?;
    while let Some((sign, tokens, tight)) = operator(cursor).filter(|&(.., tight)| tight > above) {
        let error = cursor.error("integers on both sides, or a symbol and an integer with `+` or `-`");
        for _ in 0..tokens {
            cursor.next();
        }
        let right = cursor.nested(|cursor| binary(cursor, names, tight))?;
        left = combined(sign, left, right).ok_or(error)?;
    }
    Ok(left)
}

fn combined(sign: u8, left: Constant, right: Constant) -> Option<Constant> {
    use Constant::{Address, Integer};
    Some(match (left, right) {
        (Integer(a), Integer(b)) => Integer(match sign {
            b'|' => a | b,
            b'^' => a ^ b,
            b'&' => a & b,
            b'<' => a.checked_shl(u32::try_from(b).unwrap_or(u32::MAX)).unwrap_or(0),
            b'>' => a.checked_shr(u32::try_from(b).unwrap_or(u32::MAX)).unwrap_or(0),
            b'+' => a.wrapping_add(b),
            b'-' => a.wrapping_sub(b),
            b'*' => a.wrapping_mul(b),
            b'/' => a.cast_signed().checked_div(b.cast_signed())?.cast_unsigned(),
            _ => a.cast_signed().checked_rem(b.cast_signed())?.cast_unsigned(),
        }),
        (Address { symbol, offset, generic }, Integer(by)) if matches!(sign, b'+' | b'-') => {
            let by = by.cast_signed();
            let offset = if sign == b'+' { offset.wrapping_add(by) } else { offset.wrapping_sub(by) };
            Address { symbol, offset, generic }
        }
        (Integer(by), Address { symbol, offset, generic }) if sign == b'+' => {
            Address { symbol, offset: offset.wrapping_add(by.cast_signed()), generic }
        }
        _ => return None,
    })
}

fn unary(cursor: &mut Cursor<'_, '_>, names: Names<'_>) -> Result<Constant, ParseError> {
    let token = cursor.peek();
    match token.kind {
        Kind::Sign(sign @ (b'-' | b'+' | b'~' | b'!')) => {
            cursor.next();
            let value = cursor.nested(|cursor| unary(cursor, names))?;
            Ok(match (sign, value) {
                (b'+', value) => value,
                (b'-', Constant::Integer(value)) => Constant::Integer(value.wrapping_neg()),
                (b'-', Constant::Float32(bits)) => Constant::Float32(bits ^ 1 << 31),
                (b'-', Constant::Float64(bits)) => Constant::Float64(bits ^ 1 << 63),
                (b'~', Constant::Integer(value)) => Constant::Integer(!value),
                (b'!', Constant::Integer(value)) => Constant::Integer(u64::from(value == 0)),
                _ => return Err(cursor.error("a number behind a sign")),
            })
        }
        Kind::Sign(b'(') => {
            cursor.next();
            // `(.s64)` and `(.u64)` tell how the integer is to be taken; its bits stay.
            if cursor.dot().is_some() {
                cursor.expect(b')')?;
                return cursor.nested(|cursor| unary(cursor, names));
            }
            let value = cursor.nested(|cursor| binary(cursor, names, 0))?;
            cursor.expect(b')')?;
            Ok(value)
        }
        Kind::Number => {
            let Some(value) = number(token.text) else { return Err(cursor.error("a number")) };
            cursor.next();
            match value {
                Constant::Integer(mask) if cursor.is(b'(') => masked(cursor, names, mask),
                value => Ok(value),
            }
        }
        Kind::Word if token.text == "generic" && cursor.ahead(1).kind == Kind::Sign(b'(') => {
            cursor.next();
            let error = cursor.error("a variable in parentheses");
            match unary(cursor, names)? {
                Constant::Address { symbol, offset, .. } => {
                    Ok(Constant::Address { symbol, offset, generic: true })
                }
                _ => Err(error),
            }
        }
        Kind::Word if token.text == "WARP_SZ" => {
            cursor.next();
            Ok(Constant::Integer(32))
        }
        Kind::Word => {
            let Some(symbol) = names(token.text) else {
                return Err(cursor.error("a number or the name of a variable or function"));
            };
            cursor.next();
            Ok(Constant::Address { symbol, offset: 0, generic: false })
        }
        _ => Err(cursor.error("a number")),
    }
}

/// `0xff00(symbol)`, with the cursor at the parenthesis.
fn masked(cursor: &mut Cursor<'_, '_>, names: Names<'_>, mask: u64) -> Result<Constant, ParseError> {
    let byte = (0..8_u32).find(|byte| mask == 0xff << (8 * byte));
    let error = cursor.error("a mask of one byte, such as 0xff00, before a variable in parentheses");
    match (byte, unary(cursor, names)?) {
        (Some(byte), Constant::Address { symbol, offset, generic }) => {
            Ok(Constant::Byte { symbol, offset, generic, byte })
        }
        _ => Err(error),
    }
}

/// An integer without a sign.
pub(crate) fn unsigned(text: &str) -> Option<u64> {
    match number(text)? {
        Constant::Integer(value) => Some(value),
        _ => None,
    }
}

/// A number without a sign.
fn number(text: &str) -> Option<Constant> {
    let lower = text.to_ascii_lowercase();
    if let Some(digits) = lower.strip_prefix("0f") {
        return (digits.len() == 8).then(|| u32::from_str_radix(digits, 16).ok())?.map(Constant::Float32);
    }
    if let Some(digits) = lower.strip_prefix("0d") {
        return (digits.len() == 16).then(|| u64::from_str_radix(digits, 16).ok())?.map(Constant::Float64);
    }
    let digits = lower.strip_suffix('u').unwrap_or(&lower);
    let integer = if let Some(digits) = digits.strip_prefix("0x") {
        u64::from_str_radix(digits, 16)
    } else if let Some(digits) = digits.strip_prefix("0b") {
        u64::from_str_radix(digits, 2)
    } else if digits.len() > 1 && digits.starts_with('0') && !digits.contains(['.', 'e']) {
        u64::from_str_radix(digits, 8)
    } else {
        digits.parse()
    };
    match integer {
        Ok(value) => Some(Constant::Integer(value)),
        Err(_) if lower.contains(['.', 'e']) => Some(Constant::Float64(lower.parse::<f64>().ok()?.to_bits())),
        Err(_) => None,
    }
}
