//! A place among the tokens of a text.

use crate::error::ParseError;
use crate::lexer::{Kind, Token};

/// How deep braces and parentheses may nest; no compiler comes near, and the stack holds it.
const DEPTH: u32 = 100;

/// A place among the tokens. Tokens end with a [`Kind::End`], which is never passed.
pub(crate) struct Cursor<'t, 'a> {
    tokens: &'t [Token<'a>],
    at: usize,
    depth: u32,
}

impl<'t, 'a> Cursor<'t, 'a> {
    pub(crate) fn new(tokens: &'t [Token<'a>]) -> Self {
        Self { tokens, at: 0, depth: 0 }
    }

    /// The number of the token that comes next.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Goes to the token of this number.
    pub(crate) fn go(&mut self, at: usize) {
        self.at = at;
    }

    pub(crate) fn peek(&self) -> Token<'a> {
        self.ahead(0)
    }

    /// The token so many behind the next.
    pub(crate) fn ahead(&self, count: usize) -> Token<'a> {
        let last = self.tokens.len() - 1;
        self.tokens[(self.at + count).min(last)]
    }

    pub(crate) fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    pub(crate) fn line(&self) -> u32 {
        self.peek().line
    }

    pub(crate) fn is(&self, sign: u8) -> bool {
        self.peek().kind == Kind::Sign(sign)
    }

    /// Takes the sign if it comes next.
    pub(crate) fn eat(&mut self, sign: u8) -> bool {
        let found = self.is(sign);
        if found {
            self.next();
        }
        found
    }

    pub(crate) fn is_dot(&self, word: &str) -> bool {
        let token = self.peek();
        token.kind == Kind::Dot && token.text == word
    }

    /// Takes the directive or modifier if it comes next.
    pub(crate) fn eat_dot(&mut self, word: &str) -> bool {
        let found = self.is_dot(word);
        if found {
            self.next();
        }
        found
    }

    /// The text of the directive or modifier, if one comes next.
    pub(crate) fn dot(&mut self) -> Option<&'a str> {
        (self.peek().kind == Kind::Dot).then(|| self.next().text)
    }

    pub(crate) fn expect(&mut self, sign: u8) -> Result<(), ParseError> {
        if self.eat(sign) { Ok(()) } else { Err(self.error(&format!("`{}`", char::from(sign)))) }
    }

    /// A word.
    pub(crate) fn word(&mut self, expected: &str) -> Result<&'a str, ParseError> {
        if self.peek().kind == Kind::Word { Ok(self.next().text) } else { Err(self.error(expected)) }
    }

    /// What stands next is not what was expected.
    pub(crate) fn error(&self, expected: &str) -> ParseError {
        let token = self.peek();
        let what = match token.kind {
            Kind::End => "the end of the text".to_owned(),
            Kind::Dot => format!("`.{}`", token.text),
            Kind::Text => format!("\"{}\"", token.text),
            _ => format!("`{}`", token.text),
        };
        ParseError { line: token.line, what, expected: expected.to_owned() }
    }

    /// Something nested, whose parser may call itself by way of this.
    pub(crate) fn nested<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        if self.depth == DEPTH {
            return Err(self.error(&format!("no more than {DEPTH} braces and parentheses in each other")));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// Items with commas between them, up to the closing sign, which is taken; none if it comes at once.
    pub(crate) fn list<T>(
        &mut self,
        close: u8,
        mut item: impl FnMut(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(item(self)?);
            if !self.eat(b',') && !self.is(close) {
                return Err(self.error(&format!("`,` or `{}`", char::from(close))));
            }
        }
        Ok(items)
    }

    /// Passes what stands between the brace that was just taken and the one that closes it.
    pub(crate) fn skip_braces(&mut self) -> Result<(), ParseError> {
        let mut open = 1_u32;
        while open > 0 {
            match self.peek().kind {
                Kind::Sign(b'{') => open += 1,
                Kind::Sign(b'}') => open -= 1,
                Kind::End => return Err(self.error("`}`")),
                _ => {}
            }
            self.next();
        }
        Ok(())
    }
}
