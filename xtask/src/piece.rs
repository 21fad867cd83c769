//! A piece of software that something here needs: is it on this machine, and if not, how does it get there?

use std::error::Error;
use std::fmt;

/// One piece: what it is for, and what of it was found.
pub(crate) struct Piece {
    pub(crate) name: &'static str,
    pub(crate) enables: &'static str,
    /// Where or what it is.
    pub(crate) found: Result<String, Missing>,
}

/// A piece is not there, or what is there will not do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Missing {
    pub(crate) why: String,
    pub(crate) fix: &'static str,
}

impl Piece {
    /// A piece that is there or not, and nothing between.
    pub(crate) fn new(
        name: &'static str,
        enables: &'static str,
        found: Option<String>,
        fix: &'static str,
    ) -> Self {
        Self { name, enables, found: found.ok_or_else(|| Missing { why: format!("no {name}"), fix }) }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.why, self.fix)
    }
}

impl Error for Missing {}
