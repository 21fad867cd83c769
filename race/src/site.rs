//! Places in a kernel's source.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::Location;
use std::ptr;
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::intern::intern;

/// A place in the source: file, line and column.
///
/// Equal if they name the same place, whichever way they were made; the compiler may keep one place at several
/// addresses.
#[derive(Clone, Copy)]
pub struct Site(Origin);

/// What names the place.
#[derive(Clone, Copy)]
enum Origin {
    /// The compiler, in the code of this program.
    Caller(&'static Location<'static>),
    /// Data. There is one of these for each distinct place.
    Named(&'static Named),
}

/// A place that data names: a `.loc` line of a PTX file, or a line of the file itself.
struct Named {
    file: &'static str,
    line: u32,
    column: u32,
}

impl Site {
    /// The caller's place.
    #[track_caller]
    #[inline]
    #[must_use]
    pub fn here() -> Self {
        Self(Origin::Caller(Location::caller()))
    }

    /// A place that data names; line and column count from 1.
    ///
    /// Each distinct place is leaked once and looked up in a table of the process, behind a lock: make sites when a
    /// file is read, and not at each access.
    #[must_use]
    pub fn at(file: &str, line: u32, column: u32) -> Self {
        static PLACES: Mutex<Option<Places>> = Mutex::new(None);
        let file = intern(file);
        // Nothing is half done where this could panic.
        let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
        let places = places.get_or_insert_default();
        let named = places
            .entry((file, line, column))
            .or_insert_with(|| Box::leak(Box::new(Named { file, line, column })));
        Self(Origin::Named(named))
    }

    /// The source file, as the compiler was given it, without detours.
    #[must_use]
    pub fn file(self) -> String {
        direct_path(self.given_file())
    }

    /// The line, from 1.
    #[must_use]
    pub fn line(self) -> u32 {
        match self.0 {
            Origin::Caller(caller) => caller.line(),
            Origin::Named(named) => named.line,
        }
    }

    /// The column, from 1.
    #[must_use]
    pub fn column(self) -> u32 {
        match self.0 {
            Origin::Caller(caller) => caller.column(),
            Origin::Named(named) => named.column,
        }
    }

    /// The file's name without its folders.
    #[must_use]
    pub fn file_name(self) -> &'static str {
        self.given_file().rsplit(['/', '\\']).next().unwrap_or_default()
    }

    /// The same place at the same address: it is equal, but not all that are equal are this.
    #[inline]
    #[must_use]
    pub fn is(self, other: Self) -> bool {
        ptr::eq(self.address(), other.address())
    }

    /// Where this stands within its file: line and column.
    #[must_use]
    pub fn position(self) -> (u32, u32) {
        (self.line(), self.column())
    }

    /// Of what names the place: two of them never share one.
    #[inline]
    fn address(self) -> *const () {
        match self.0 {
            Origin::Caller(caller) => ptr::from_ref(caller).cast(),
            Origin::Named(named) => ptr::from_ref(named).cast(),
        }
    }

    #[inline(never)]
    fn is_copy_of(self, other: Self) -> bool {
        self.position() == other.position() && self.given_file() == other.given_file()
    }

    fn given_file(self) -> &'static str {
        match self.0 {
            Origin::Caller(caller) => caller.file(),
            Origin::Named(named) => named.file,
        }
    }
}

/// The places that data has named so far.
type Places = FxHashMap<(&'static str, u32, u32), &'static Named>;

/// A path without detours: `a/../b` is `b`. A manifest that names a source file above itself makes such.
#[must_use]
pub fn direct_path(path: &str) -> String {
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

impl Eq for Site {}

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
    use std::collections::HashSet;

    use super::{Site, direct_path};

    #[test]
    fn detours_go_and_nothing_else() {
        assert_eq!(direct_path("emulator/kernels/../../kernels-gpu/src/tile.rs"), "kernels-gpu/src/tile.rs");
        assert_eq!(direct_path("/a/b/./c.rs"), "/a/b/c.rs");
        assert_eq!(direct_path("../a/../b.rs"), "../b.rs");
        assert_eq!(direct_path("/../a.rs"), "/../a.rs");
        assert_eq!(direct_path(r"C:\a\..\b.rs"), "C:/b.rs");
        assert_eq!(direct_path("c.rs"), "c.rs");
    }

    #[test]
    fn a_place_is_one_whoever_names_it() {
        let here = Site::here();
        let named = Site::at(&here.file(), here.line(), here.column());
        assert_eq!(here, named);
        assert!(!here.is(named));
        assert_eq!(HashSet::from([here, named]).len(), 1);
        assert_eq!((here.to_string(), here.file_name()), (named.to_string(), named.file_name()));
    }

    #[test]
    fn a_place_that_data_names_is_kept_once() {
        let places = || [Site::at("a/k.ptx", 7, 1), Site::at("a/k.ptx", 7, 2), Site::at("b/k.ptx", 7, 1)];
        for (again, place) in places().into_iter().zip(places()) {
            assert!(again.is(place));
        }
        let [a, column, file] = places();
        assert!(a != column && a != file);
        assert_eq!((a.to_string(), a.file().as_str(), a.position()), ("k.ptx:7:1".into(), "a/k.ptx", (7, 1)));
    }
}
