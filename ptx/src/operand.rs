//! Operands.

use crate::ast::{Base, Operand, RegId, Type};
use crate::constant::{self, Constant};
use crate::cursor::Cursor;
use crate::error::ParseError;
use crate::lexer::Kind;
use crate::scopes::{Named, Scopes};

/// What may stand as an operand.
const OPERAND: &str = "a declared register, variable, function or label, a number, `[`, or `{`";

/// One operand. `pair` has the types of two destinations `%p|%q`, for `_` among them.
pub(crate) fn operand(
    cursor: &mut Cursor<'_, '_>,
    scopes: &mut Scopes<'_, '_>,
    pair: (Type, Type),
) -> Result<Operand, ParseError> {
    match cursor.peek().kind {
        Kind::Sign(b'{') => {
            cursor.next();
            list(cursor, scopes, b'}')
        }
        Kind::Sign(b'[') => {
            cursor.next();
            address(cursor, scopes)
        }
        Kind::Sign(b'!') => {
            cursor.next();
            Ok(Operand::Negated(register(cursor, scopes)?))
        }
        Kind::Sign(b'-') if cursor.ahead(1).kind == Kind::Word => {
            cursor.next();
            Ok(Operand::Negated(register(cursor, scopes)?))
        }
        Kind::Word => named(cursor, scopes, pair),
        _ => number(cursor, scopes),
    }
}

/// Operands up to the closing sign.
pub(crate) fn list(
    cursor: &mut Cursor<'_, '_>,
    scopes: &mut Scopes<'_, '_>,
    close: u8,
) -> Result<Operand, ParseError> {
    let item = |cursor: &mut Cursor<'_, '_>| operand(cursor, scopes, (Type::B32, Type::B32));
    Ok(Operand::List(cursor.nested(|cursor| cursor.list(close, item))?))
}

/// A register.
pub(crate) fn register(
    cursor: &mut Cursor<'_, '_>,
    scopes: &mut Scopes<'_, '_>,
) -> Result<RegId, ParseError> {
    let error = cursor.error("a declared register");
    match scopes.find(cursor.word("a register")?) {
        Some(Named::Register(register)) => Ok(register),
        _ => Err(error),
    }
}

fn number(cursor: &mut Cursor<'_, '_>, scopes: &Scopes<'_, '_>) -> Result<Operand, ParseError> {
    if !matches!(cursor.peek().kind, Kind::Number | Kind::Word | Kind::Sign(b'-' | b'+' | b'~' | b'(')) {
        return Err(cursor.error(OPERAND));
    }
    let error = cursor.error("a number or an address");
    Ok(match constant::expression(cursor, &|name| scopes.symbol(name))? {
        Constant::Integer(value) => Operand::Integer(value),
        Constant::Float32(bits) => Operand::Float32(bits),
        Constant::Float64(bits) => Operand::Float64(bits),
        Constant::Address { symbol, offset, .. } => Operand::Symbol(symbol, offset),
        Constant::Byte { .. } => return Err(error),
    })
}

fn named(
    cursor: &mut Cursor<'_, '_>,
    scopes: &mut Scopes<'_, '_>,
    pair: (Type, Type),
) -> Result<Operand, ParseError> {
    let unknown = cursor.error(OPERAND);
    let name = cursor.peek().text;
    if name == "_" {
        cursor.next();
        if !cursor.eat(b'|') {
            return Ok(Operand::Sink);
        }
        let first = scopes.add("_".to_owned(), pair.0);
        return Ok(Operand::Pair(first, register(cursor, scopes)?));
    }
    match scopes.find(name) {
        Some(Named::Register(first)) => {
            cursor.next();
            if let Some(part) = cursor.dot() {
                return Ok(Operand::Part(first, part.to_owned()));
            }
            if !cursor.eat(b'|') {
                return Ok(Operand::Register(first));
            }
            if cursor.peek().text == "_" {
                cursor.next();
                return Ok(Operand::Pair(first, scopes.add("_".to_owned(), pair.1)));
            }
            Ok(Operand::Pair(first, register(cursor, scopes)?))
        }
        Some(Named::Vector(registers)) => {
            cursor.next();
            let Some(part) = cursor.dot() else {
                return Ok(Operand::List(registers.into_iter().map(Operand::Register).collect()));
            };
            let element = ["x", "y", "z", "w"].iter().position(|&name| name == part);
            let element = element.or_else(|| ["r", "g", "b", "a"].iter().position(|&name| name == part));
            let register = element.and_then(|element| registers.get(element));
            register.map(|&register| Operand::Register(register)).ok_or(unknown)
        }
        Some(Named::Symbol) => number(cursor, scopes),
        Some(Named::Label(label)) => {
            cursor.next();
            Ok(Operand::Label(label))
        }
        Some(Named::Table(name)) => {
            cursor.next();
            Ok(Operand::Table(name))
        }
        None if is_special(name) => {
            cursor.next();
            let mut special = name.to_owned();
            if let Some(part) = cursor.dot() {
                special = format!("{special}.{part}");
            }
            Ok(Operand::Special(special))
        }
        None => Err(unknown),
    }
}

/// What stands behind `[`.
fn address(cursor: &mut Cursor<'_, '_>, scopes: &mut Scopes<'_, '_>) -> Result<Operand, ParseError> {
    let name = cursor.peek();
    let found = if name.kind == Kind::Word { scopes.find(name.text) } else { None };
    let error = cursor.error("a register, a variable or a number as an address");
    let first = if let Some(Named::Register(register)) = found {
        cursor.next();
        let offset =
            if cursor.eat(b'+') || cursor.is(b'-') { constant::integer(cursor)?.cast_signed() } else { 0 };
        Operand::Address { base: Base::Register(register), offset }
    } else {
        match number(cursor, scopes)? {
            Operand::Symbol(symbol, offset) => Operand::Address { base: Base::Symbol(symbol), offset },
            Operand::Integer(address) => {
                Operand::Address { base: Base::Absolute, offset: address.cast_signed() }
            }
            _ => return Err(error),
        }
    };
    if cursor.eat(b']') {
        return Ok(first);
    }
    cursor.expect(b',')?;
    let item = |cursor: &mut Cursor<'_, '_>| operand(cursor, scopes, (Type::B32, Type::B32));
    let mut parts = vec![first];
    parts.extend(cursor.nested(|cursor| cursor.list(b']', item))?);
    Ok(Operand::Coordinates(parts))
}

/// Is it a special register (PTX ISA, "Special Registers"), without `.x`?
fn is_special(name: &str) -> bool {
    const NUMBERED: [&str; 2] = ["envreg", "pm"];
    const NAMES: [&str; 37] = [
        "tid",
        "ntid",
        "laneid",
        "warpid",
        "nwarpid",
        "ctaid",
        "nctaid",
        "smid",
        "nsmid",
        "gridid",
        "is_explicit_cluster",
        "clusterid",
        "nclusterid",
        "cluster_ctaid",
        "cluster_nctaid",
        "cluster_ctarank",
        "cluster_nctarank",
        "lanemask_eq",
        "lanemask_le",
        "lanemask_lt",
        "lanemask_ge",
        "lanemask_gt",
        "clock",
        "clock_hi",
        "clock64",
        "globaltimer",
        "globaltimer_lo",
        "globaltimer_hi",
        "reserved_smem_offset_begin",
        "reserved_smem_offset_end",
        "reserved_smem_offset_cap",
        "reserved_smem_offset_0",
        "reserved_smem_offset_1",
        "total_smem_size",
        "aggr_smem_size",
        "dynamic_smem_size",
        "current_graph_exec",
    ];
    if name == "WARP_SZ" {
        return true;
    }
    let Some(name) = name.strip_prefix('%') else { return false };
    let numbered = |prefix: &str| {
        let number = name.strip_prefix(prefix).map(|rest| rest.strip_suffix("_64").unwrap_or(rest));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    NAMES.contains(&name) || NUMBERED.into_iter().any(numbered)
}
