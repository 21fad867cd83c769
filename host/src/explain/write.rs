//! Files that are there as a whole or not at all.

use std::ffi::OsString;
use std::path::Path;
use std::{fs, process};

use anyhow::{Context, Result, bail};

/// Writes a file: under another name first, so that nobody sees half of it. A link is followed.
///
/// # Errors
///
/// If it cannot be written, or if something that is no file stands there. Then nothing has changed.
pub fn write(path: &Path, text: &str) -> Result<()> {
    let what = || format!("cannot write {}", path.display());
    let target = fs::canonicalize(path);
    let path = target.as_deref().unwrap_or(path);
    if path.exists() && !path.is_file() {
        bail!("{} is no file", path.display());
    }
    let name = path.file_name().with_context(|| format!("{} is not the name of a file", path.display()))?;
    let mut beside = OsString::from(".");
    beside.push(name);
    beside.push(format!(".{}", process::id()));
    let beside = path.with_file_name(beside);
    let written = fs::write(&beside, text).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // Not there, or there for nothing; the error that counts is the first one.
        let _ = fs::remove_file(&beside);
    }
    written.with_context(what)
}
