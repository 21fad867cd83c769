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
                write!(
                    f,
                    "line {line} of the PTX, in {function}: {name} is called but not defined in this file"
                )
            }
        }
    }
}

impl std::error::Error for LoadError {}

/// A launch that is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaunchError {
    /// CUDA would refuse its extents, or they are too large to be explored exhaustively.
    Limit(race::limits::LaunchError),
    /// So many bytes of shared memory a block are more than any card has.
    Shared(u32),
    /// The number of arguments is not that of the kernel's parameters.
    Arguments {
        /// How many there are.
        given: usize,
        /// How many the kernel takes.
        wanted: usize,
    },
    /// An argument does not have the size of its parameter.
    Argument {
        /// The parameter.
        name: String,
        /// Bytes of the argument.
        given: usize,
        /// Bytes of the parameter.
        wanted: u32,
    },
}

impl From<race::limits::LaunchError> for LaunchError {
    fn from(limit: race::limits::LaunchError) -> Self {
        Self::Limit(limit)
    }
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit(limit) => limit.fmt(f),
            Self::Shared(bytes) => {
                write!(
                    f,
                    "{bytes} bytes of shared memory a block are more than the 232448 that a card has at most"
                )
            }
            Self::Arguments { given, wanted } => {
                write!(f, "{given} arguments for a kernel with {wanted} parameters")
            }
            Self::Argument { name, given, wanted } => {
                write!(f, "an argument of {given} bytes for the parameter {name} of {wanted}")
            }
        }
    }
}

impl std::error::Error for LaunchError {}
