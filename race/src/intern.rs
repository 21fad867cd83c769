//! Names that come from data and not from this program's source.

use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashSet;

/// The one copy of this text in the process, kept to its end: equal texts give the same address.
///
/// It is for the names of arrays, buffers and source files that a module read at run time declares. Findings tell
/// arrays apart by the addresses of their names; each distinct name is leaked once, so that the memory is bounded
/// by the names of all modules that a process reads.
#[must_use]
pub fn intern(name: &str) -> &'static str {
    static NAMES: Mutex<Option<FxHashSet<&'static str>>> = Mutex::new(None);
    // Nothing is half done where this could panic.
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = names.get_or_insert_default();
    match names.get(name) {
        Some(known) => known,
        None => {
            let name: &'static str = Box::leak(name.into());
            names.insert(name);
            name
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::intern;

    #[test]
    fn equal_names_have_one_address() {
        let (a, b) = (intern(&String::from("tile")), intern(&String::from("tile")));
        assert_eq!(a, "tile");
        assert!(ptr::eq(a, b));
        assert!(!ptr::eq(a, intern("tile2")));
    }
}
