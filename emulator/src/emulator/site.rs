//! Places in a kernel's source.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::Location;

/// A place in the source: file, line and column.
///
/// Equal if they name the same place; the compiler may keep one place at several addresses.
#[derive(Clone, Copy, Eq)]
pub struct Site(&'static Location<'static>);

impl Site {
    /// The caller's place.
    #[track_caller]
    #[inline]
    #[must_use]
    pub fn here() -> Self {
        Self(Location::caller())
    }

    /// The source file, as the compiler was given it, without detours.
    #[must_use]
    pub fn file(self) -> String {
        direct(self.0.file())
    }

    /// The line, from 1.
    #[must_use]
    pub fn line(self) -> u32 {
        self.0.line()
    }

    /// The column, from 1.
    #[must_use]
    pub fn column(self) -> u32 {
        self.0.column()
    }

    /// The file's name without its folders.
    #[must_use]
    pub fn file_name(self) -> &'static str {
        self.0.file().rsplit(['/', '\\']).next().unwrap_or_default()
    }

    /// The same place at the same address: it is equal, but not all that are equal are this.
    #[inline]
    pub(crate) fn is(self, other: Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }

    #[inline(never)]
    fn is_copy_of(self, other: Self) -> bool {
        self.position() == other.position() && self.0.file() == other.0.file()
    }

    /// Where this stands within its file.
    pub(crate) fn position(self) -> (u32, u32) {
        (self.line(), self.column())
    }
}

/// A path without detours: `a/../b` is `b`. A manifest that names a source file above itself makes such.
pub(crate) fn direct(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(['/', '\\']) {
        match (part, parts.last()) {
            ("..", Some(&last)) if last != ".." && !last.is_empty() => drop(parts.pop()),
            (".", Some(_)) => {}
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

impl PartialEq for Site {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.is(*other) || self.is_copy_of(*other)
    }
}

impl Hash for Site {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.position().hash(state);
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file_name(), self.line(), self.column())
    }
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::direct;

    #[test]
    fn detours_go_and_nothing_else() {
        assert_eq!(direct("emulator/kernels/../../kernels-gpu/src/tile.rs"), "kernels-gpu/src/tile.rs");
        assert_eq!(direct("/a/b/./c.rs"), "/a/b/c.rs");
        assert_eq!(direct("../a/../b.rs"), "../b.rs");
        assert_eq!(direct("/../a.rs"), "/../a.rs");
        assert_eq!(direct(r"C:\a\..\b.rs"), "C:/b.rs");
        assert_eq!(direct("c.rs"), "c.rs");
    }
}
