//! A kernel's source as lines of HTML.
//!
//! The colours need no more than words, comments, strings and numbers told apart; the lexer knows just
//! enough of Rust for kernels, and whatever it takes for something else is shown all the same.

use maud::{Markup, html};

/// Lines of a source file.
#[derive(Clone, Debug)]
pub struct Source {
    /// The number of the first line kept.
    pub first: u32,
    /// Each line as markup.
    pub lines: Vec<String>,
}

/// The code of a source file: what stands above its first item is for readers of the file.
#[must_use]
pub fn source(text: &str) -> Source {
    let heads = |line: &str| line.is_empty() || line.starts_with("//") || line.starts_with("use ");
    let first = text.lines().position(|line| !heads(line)).unwrap_or(0);
    let lines = text.lines().skip(first).map(|line| markup(line).into_string()).collect();
    Source { first: first as u32 + 1, lines }
}

const KEYWORDS: &[&str] = &[
    "as", "break", "const", "continue", "crate", "else", "false", "fn", "for", "if", "impl", "in", "let",
    "loop", "match", "mod", "mut", "pub", "ref", "return", "self", "Self", "static", "struct", "super",
    "true", "type", "unsafe", "use", "where", "while",
];

fn markup(line: &str) -> Markup {
    let mut rest = line;
    let mut tokens = Vec::new();
    while !rest.is_empty() {
        let (class, len) = token(rest);
        let (text, behind) = rest.split_at(len);
        tokens.push((class, text));
        rest = behind;
    }
    html! {
        @for (class, text) in tokens {
            @if class.is_empty() { (text) } @else { span class=(class) { (text) } }
        }
    }
}

/// The class of the token that `rest` begins with, and its length in bytes.
fn token(rest: &str) -> (&'static str, usize) {
    let whole = |is: fn(char) -> bool| rest.find(|c: char| !is(c)).unwrap_or(rest.len());
    let first = rest.chars().next().unwrap_or(' ');
    if rest.starts_with("//") {
        ("comment", rest.len())
    } else if rest.starts_with("#[") {
        ("attribute", rest.find(']').map_or(rest.len(), |end| end + 1))
    } else if first == '"' {
        ("string", rest[1..].find('"').map_or(rest.len(), |end| end + 2))
    } else if first.is_ascii_digit() {
        ("number", whole(|c| c.is_ascii_alphanumeric() || c == '_'))
    } else if first.is_alphabetic() || first == '_' {
        let len = whole(|c| c.is_alphanumeric() || c == '_');
        let class = match &rest[..len] {
            word if KEYWORDS.contains(&word) => "keyword",
            word if word.starts_with("sync_") => "barrier",
            _ => "",
        };
        (class, len)
    } else {
        let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '"' | '/' | '#');
        ("", rest.char_indices().skip(1).find(|&(_, c)| word(c)).map_or(rest.len(), |(at, _)| at))
    }
}
