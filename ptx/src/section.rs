//! The debug sections of a text, as bytes.

use std::collections::HashMap;

use crate::constant;
use crate::cursor::Cursor;
use crate::error::ParseError;
use crate::lexer::Kind;

/// By name without its dot, the bytes of each section whose `{` is one of these tokens. Labels of functions stand for
/// these `addresses`.
pub(crate) fn sections<'a>(
    cursor: &mut Cursor<'_, 'a>,
    braces: &[(&'a str, usize)],
    addresses: &HashMap<&str, u64>,
) -> Result<HashMap<&'a str, Vec<u8>>, ParseError> {
    let mut assembler = Assembler { labels: HashMap::new(), addresses, bytes: Vec::new() };
    // Labels may be named before they stand there, so the first time is for them alone.
    for &(_, brace) in braces {
        cursor.go(brace + 1);
        assembler.section(cursor)?;
    }
    let mut sections = HashMap::new();
    for &(name, brace) in braces {
        cursor.go(brace + 1);
        assembler.section(cursor)?;
        sections.insert(name, std::mem::take(&mut assembler.bytes));
    }
    Ok(sections)
}

struct Assembler<'a, 'l> {
    /// Places in sections, in bytes from the start of each.
    labels: HashMap<&'a str, u64>,
    addresses: &'l HashMap<&'l str, u64>,
    bytes: Vec<u8>,
}

impl<'a> Assembler<'a, '_> {
    /// Up to the closing brace.
    fn section(&mut self, cursor: &mut Cursor<'_, 'a>) -> Result<(), ParseError> {
        self.bytes.clear();
        while !cursor.eat(b'}') {
            if cursor.peek().kind == Kind::Word {
                let label = cursor.next().text;
                cursor.expect(b':')?;
                self.labels.insert(label, self.bytes.len() as u64);
                continue;
            }
            let size = match cursor.dot() {
                Some("b8") => 1,
                Some("b16") => 2,
                Some("b32") => 4,
                Some("b64") => 8,
                _ => return Err(cursor.error("`.b8`, `.b16`, `.b32`, `.b64` or a label")),
            };
            loop {
                let value = self.value(cursor)?;
                self.bytes.extend(&value.to_le_bytes()[..size]);
                if !cursor.eat(b',') {
                    break;
                }
            }
        }
        Ok(())
    }

    /// A sum of numbers, labels, and names of sections, which start at 0.
    fn value(&self, cursor: &mut Cursor<'_, '_>) -> Result<u64, ParseError> {
        let mut sum = 0_u64;
        let mut negative = cursor.eat(b'-');
        loop {
            let token = cursor.peek();
            let term = match token.kind {
                Kind::Number => constant::unsigned(token.text).ok_or_else(|| cursor.error("an integer"))?,
                Kind::Dot => 0,
                Kind::Word => {
                    let label = self.labels.get(token.text).or_else(|| self.addresses.get(token.text));
                    // The first time, some are not known yet.
                    label.copied().unwrap_or(0)
                }
                _ => return Err(cursor.error("a number, a label or a section")),
            };
            cursor.next();
            sum = if negative { sum.wrapping_sub(term) } else { sum.wrapping_add(term) };
            negative = cursor.is(b'-');
            if !cursor.eat(b'+') && !cursor.eat(b'-') {
                return Ok(sum);
            }
        }
    }
}
