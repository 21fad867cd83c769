//! What stands before a function's body.

use crate::ast::{Function, Param, RegId};
use crate::constant;
use crate::cursor::Cursor;
use crate::error::ParseError;
use crate::lexer::Kind;
use crate::variable::{self, Declarator, Qualifiers};

/// Performance directives (PTX ISA, "Performance-Tuning Directives", "Cluster Dimension Directives") and what else
/// stands behind the parameters.
const DIRECTIVES: [&str; 14] = [
    "maxnreg",
    "maxntid",
    "reqntid",
    "minnctapersm",
    "maxnctapersm",
    "noreturn",
    "reqnctapercluster",
    "explicitcluster",
    "maxclusterrank",
    "blocksareclusters",
    "abi_preserve",
    "abi_preserve_control",
    "language",
    "unified",
];

/// A header from `.entry` or `.func` to its `;` or before its `{`. The body is left to the caller.
pub(crate) fn header<'a>(cursor: &mut Cursor<'_, 'a>) -> Result<(&'a str, Function), ParseError> {
    let line = cursor.line();
    let entry = cursor.next().text == "entry";
    let mut directives = directives(cursor)?;
    let mut numbers = 0;
    let returns = if cursor.eat(b'(') { parameters(cursor, &mut numbers)? } else { Vec::new() };
    let name = cursor.word("the name of a function")?;
    let params = if cursor.eat(b'(') { parameters(cursor, &mut numbers)? } else { Vec::new() };
    directives.extend(self::directives(cursor)?);
    if !cursor.is(b'{') && !cursor.eat(b';') {
        return Err(cursor.error("a directive that is known behind a function's parameters, `{` or `;`"));
    }
    Ok((name, Function { name: name.to_owned(), entry, params, returns, directives, body: None, line }))
}

fn directives(cursor: &mut Cursor<'_, '_>) -> Result<Vec<(String, Vec<u64>)>, ParseError> {
    let mut directives = Vec::new();
    while cursor.peek().kind == Kind::Dot {
        let word = cursor.peek().text;
        if word == "pragma" {
            cursor.next();
            pragma(cursor)?;
        } else if word == "attribute" {
            cursor.next();
            variable::skip_parentheses(cursor)?;
        } else if DIRECTIVES.contains(&word) {
            cursor.next();
            let mut numbers = Vec::new();
            while cursor.peek().kind == Kind::Number {
                numbers.push(constant::integer(cursor)?);
                if !cursor.eat(b',') {
                    break;
                }
            }
            directives.push((word.to_owned(), numbers));
        } else {
            return Err(cursor.error("a directive that is known in a function's header"));
        }
    }
    Ok(directives)
}

/// What stands behind `.pragma`.
pub(crate) fn pragma(cursor: &mut Cursor<'_, '_>) -> Result<(), ParseError> {
    loop {
        if cursor.peek().kind != Kind::Text {
            return Err(cursor.error("a string"));
        }
        cursor.next();
        if !cursor.eat(b',') {
            return cursor.expect(b';');
        }
    }
}

/// Parameters up to the closing parenthesis. `numbers` counts those in registers.
fn parameters(cursor: &mut Cursor<'_, '_>, numbers: &mut u32) -> Result<Vec<Param>, ParseError> {
    let mut end = 0_u64;
    cursor.list(b')', |cursor| {
        let in_register = cursor.is_dot("reg");
        let qualifiers = Qualifiers::parse(cursor)?;
        let declarator = Declarator::parse(cursor)?;
        let too_large = || declarator.too_large();
        let size = qualifiers.size(&declarator).ok_or_else(too_large)?;
        let align = qualifiers.alignment();
        let offset = end.checked_next_multiple_of(u64::from(align)).ok_or_else(too_large)?;
        end = offset.checked_add(size).ok_or_else(too_large)?;
        let register = in_register.then(|| {
            *numbers += 1;
            RegId(*numbers - 1)
        });
        Ok(Param {
            name: declarator.name.to_owned(),
            ty: qualifiers.element(),
            align,
            size,
            offset,
            pointer: qualifiers.pointer,
            register,
        })
    })
}

/// What stands behind `.callprototype`: the sizes of returned values and parameters, and whether it is `.noreturn`.
pub(crate) fn prototype(cursor: &mut Cursor<'_, '_>) -> Result<(Vec<u64>, Vec<u64>, bool), ParseError> {
    let mut numbers = 0;
    let mut sizes = |cursor: &mut Cursor<'_, '_>| -> Result<Vec<u64>, ParseError> {
        let params = if cursor.eat(b'(') { parameters(cursor, &mut numbers)? } else { Vec::new() };
        Ok(params.iter().map(|param| param.size).collect())
    };
    let returns = sizes(cursor)?;
    cursor.word("`_`")?;
    let params = sizes(cursor)?;
    let directives = directives(cursor)?;
    cursor.expect(b';')?;
    Ok((returns, params, directives.iter().any(|(name, _)| name == "noreturn")))
}
