//! What keeps a kernel from being launched.

use std::fmt;

/// A program that this engine cannot run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// The PTX has no kernel of this name; these are there.
    NoKernel(String, Vec<String>),
    /// An instruction, or a form of one, that is not supported.
    Unsupported {
        /// The function it stands in.
        function: String,
        /// The line of the PTX, from 1.
        line: u32,
        /// The instruction, and what of it.
        what: String,
    },
    /// A function that is called and not defined.
    Undefined {
        /// The function that calls it.
        function: String,
        /// The line of the PTX, from 1.
        line: u32,
        /// Its name.
        name: String,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoKernel(name, there) if there.is_empty() => {
                write!(f, "no kernel `{name}`: the PTX has no .entry at all")
            }
            Self::NoKernel(name, there) => write!(f, "no kernel `{name}`; there is {}", there.join(", ")),
            Self::Unsupported { function, line, what } => {
                write!(f, "line {line} of the PTX, in {function}: {what} is not supported by this engine")
            }
            Self::Undefined { function, line, name } => {
                write!(f, "line {line} of the PTX, in {function}: {name} is called but not defined in this file")
            }
        }
    }
}

impl std::error::Error for LoadError {}
