//! PTX text to words, numbers and signs.

use crate::error::ParseError;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `ld`, `%r1`, `$L_2`, `_`.
    Word,
    /// `.shared`, `.L1::evict_last`, `.2d`; the text has no dot.
    Dot,
    /// `42`, `0x2aU`, `0f3F800000`, `1.5`, `7.8`.
    Number,
    /// `"…"`; the text has no quotes.
    Text,
    /// Any other sign.
    Sign(u8),
    /// Behind the last.
    End,
}

/// A piece of the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    /// From 1.
    pub(crate) line: u32,
}

const SIGNS: &[u8] = b"{}()[],;:+-*/%&|^~!<>=?@";

/// The tokens of the text; the last is a [`Kind::End`].
pub(crate) fn tokens(text: &str) -> Result<Vec<Token<'_>>, ParseError> {
    let mut lexer = Lexer { text, bytes: text.as_bytes(), at: 0, line: 1 };
    let mut tokens = Vec::with_capacity(text.len() / 4);
    loop {
        lexer.skip_blanks()?;
        let token = lexer.token()?;
        tokens.push(token);
        if token.kind == Kind::End {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    line: u32,
}

impl<'a> Lexer<'a> {
    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Steps over the bytes up to `end`, and counts their lines.
    fn advance(&mut self, end: usize) -> &'a str {
        let start = self.at;
        self.at = end.min(self.bytes.len());
        let lines = self.bytes[start..self.at].iter().filter(|&&byte| byte == b'\n').count();
        self.line = self.line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
        &self.text[start..self.at]
    }

    fn skip_blanks(&mut self) -> Result<(), ParseError> {
        loop {
            let rest = &self.text[self.at..];
            match (self.byte(0), self.byte(1)) {
                (b' ' | b'\t' | b'\r' | b'\n' | 0x0c, _) => {
                    self.advance(self.at + 1);
                }
                // `#` starts a line that a preprocessor left.
                (b'/', b'/') | (b'#', _) => {
                    self.advance(self.at + rest.find('\n').unwrap_or(rest.len()));
                }
                (b'/', b'*') => match rest[2..].find("*/") {
                    Some(end) => {
                        self.advance(self.at + end + 4);
                    }
                    None => return Err(self.error("a comment without an end".to_owned(), "`*/`")),
                },
                _ => return Ok(()),
            }
        }
    }

    fn token(&mut self) -> Result<Token<'a>, ParseError> {
        let line = self.line;
        let first = self.byte(0);
        let (kind, text) = match first {
            0 if self.at >= self.bytes.len() => (Kind::End, ""),
            b'.' if is_part(self.byte(1)) => {
                let mut end = self.run(self.at + 1);
                while self.text[end..].starts_with("::")
                    && self.bytes.get(end + 2).is_some_and(|&b| is_part(b))
                {
                    end = self.run(end + 2);
                }
                (Kind::Dot, &self.advance(end)[1..])
            }
            b'0'..=b'9' => {
                let end = self.number();
                (Kind::Number, self.advance(end))
            }
            b'%' if is_part(self.byte(1)) => {
                let end = self.run(self.at + 1);
                (Kind::Word, self.advance(end))
            }
            _ if is_part(first) => {
                let end = self.run(self.at);
                (Kind::Word, self.advance(end))
            }
            b'"' => {
                let rest = &self.text[self.at + 1..];
                let Some(length) = rest.find('"') else {
                    return Err(self.error("a string without an end".to_owned(), "`\"`"));
                };
                let text = self.advance(self.at + length + 2);
                (Kind::Text, &text[1..=length])
            }
            _ if SIGNS.contains(&first) => (Kind::Sign(first), self.advance(self.at + 1)),
            _ => {
                let found = self.text[self.at..].chars().next().unwrap_or_default();
                return Err(self.error(format!("the character {found:?}"), "PTX"));
            }
        };
        Ok(Token { kind, text, line })
    }

    /// Where the run of letters, digits, `_` and `$` ends.
    fn run(&self, start: usize) -> usize {
        self.bytes[start..]
            .iter()
            .position(|&byte| !is_part(byte))
            .map_or(self.bytes.len(), |len| start + len)
    }

    /// Where the number ends: `0f3F800000`, `12`, `1.5e-3`.
    fn number(&self) -> usize {
        let mut end = self.run(self.at);
        let is_decimal =
            self.bytes[self.at..end].iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'e' | b'E'));
        if !is_decimal {
            return end;
        }
        if self.bytes.get(end) == Some(&b'.') && self.bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
            end = self.run(end + 1);
        }
        let ends_in_e = matches!(self.bytes[end - 1], b'e' | b'E');
        if ends_in_e && matches!(self.bytes.get(end), Some(b'+' | b'-')) {
            end = self.run(end + 1);
        }
        end
    }

    fn error(&self, what: String, expected: &str) -> ParseError {
        ParseError { line: self.line, what, expected: expected.to_owned() }
    }
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}
