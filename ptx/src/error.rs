//! What is wrong with a PTX text.

use std::fmt;

/// A text that is not PTX, or names something that it does not declare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line of the PTX, from 1.
    pub line: u32,
    /// What stands there.
    pub what: String,
    /// What could stand there.
    pub expected: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PTX line {}: {}; expected {}", self.line, self.what, self.expected)
    }
}

impl std::error::Error for ParseError {}
