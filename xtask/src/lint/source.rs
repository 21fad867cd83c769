//! What the lint reads: Rust source text, and the places in it.

use std::fmt;

use proc_macro2::Span;
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

/// Parses one source, with the macros whose meaning we know already replaced by it.
pub(crate) fn parse(source: &Source) -> Result<syn::File, ParseError> {
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
