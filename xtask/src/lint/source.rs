//! What the lint reads: Rust source text, and the places in it.

use std::path::Path;
use std::{fmt, fs};

use anyhow::{Context, Result, bail};
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::visit_mut::VisitMut;

use super::macros::Unfold;

/// One Rust file: the name it is reported under, and its text.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// A source that is not Rust.
#[derive(Debug)]
pub(crate) struct ParseError {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, message } = self;
        write!(f, "{file}:{line}:{column}: this does not parse as Rust: {message}")
    }
}

impl std::error::Error for ParseError {}

/// A place in the sources. No two identifiers share one, so it also tells variables apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Site {
    /// Index of the source.
    pub(super) file: usize,
    pub(super) line: usize,
    pub(super) column: usize,
}

impl Site {
    pub(super) fn new(file: usize, span: Span) -> Self {
        let start = span.start();
        Self { file, line: start.line, column: start.column + 1 }
    }
}

/// The largest file that is read, in bytes. A kernel's is a thousandth of it.
const LARGEST: u64 = 1 << 20;

/// How deep brackets may stand in each other. The parser and all that reads its tree go as deep as they do.
const DEEPEST: usize = 4000;

/// How many tokens may stand in a row, in the same brackets, before a statement, a block or an element ends: for
/// those too are parsed one in the other.
const LONGEST: usize = 45_000;

/// How many of them may be such as types are nested by, each of which takes the parser's stack ten times as deep.
const MOST_OF_TYPES: usize = 4000;

/// Reads a file that may hold Rust: not one that has no end, nor one that waits for somebody to write it.
pub(crate) fn read(path: &Path) -> Result<String> {
    let what = || format!("cannot read {}", path.display());
    let file = fs::metadata(path).with_context(what)?;
    if !file.is_file() {
        bail!("cannot read {}: it is no file", path.display());
    }
    if file.len() > LARGEST {
        bail!("cannot read {}: it has more than {LARGEST} bytes", path.display());
    }
    fs::read_to_string(path).with_context(what)
}

/// Refuses what is nested so deep that parsing it would end the program, and not in an error.
fn check_nesting(source: &Source) -> Result<(), ParseError> {
    // What are no tokens, the parser says.
    let Ok(tokens) = source.text.parse::<TokenStream>() else { return Ok(()) };
    let mut open = vec![(tokens.into_iter().peekable(), 0, 0)];
    while let Some((stream, run, types)) = open.last_mut() {
        let Some(token) = stream.next() else {
            open.pop();
            continue;
        };
        *run += 1;
        *types += usize::from(matches!(&token, TokenTree::Punct(punct) if "&*<".contains(punct.as_char())));
        let too = (*run > LONGEST || *types > MOST_OF_TYPES).then_some("too long");
        let start = token.span().start();
        match token {
            TokenTree::Punct(punct) if matches!(punct.as_char(), ';' | ',') => (*run, *types) = (0, 0),
            TokenTree::Group(group) => {
                let chained = matches!(stream.peek(), Some(TokenTree::Ident(next)) if next == "else");
                if group.delimiter() == Delimiter::Brace && !chained {
                    (*run, *types) = (0, 0);
                }
                open.push((group.stream().into_iter().peekable(), 0, 0));
            }
            _ => {}
        }
        if let Some(too) = too.or((open.len() > DEEPEST).then_some("nested too deep")) {
            return Err(ParseError {
                file: source.name.clone(),
                line: start.line,
                column: start.column + 1,
                message: format!("{too} for this reader"),
            });
        }
    }
    Ok(())
}

/// Parses one source, with the macros whose meaning we know already replaced by it.
pub(crate) fn parse(source: &Source) -> Result<syn::File, ParseError> {
    check_nesting(source)?;
    let mut file = syn::parse_file(&source.text).map_err(|error| {
        let start = error.span().start();
        ParseError {
            file: source.name.clone(),
            line: start.line,
            column: start.column + 1,
            message: error.to_string().lines().next().unwrap_or_default().to_owned(),
        }
    })?;
    Unfold.visit_file_mut(&mut file);
    Ok(file)
}
