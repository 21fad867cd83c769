//! Files that are there as a whole or not at all.

use std::io::Write;
use std::path::Path;
use std::time::Duration;
use std::{fs, io, thread};

use anyhow::{Context, Result, bail};
use tempfile::{Builder, NamedTempFile};

/// Writes a file: under another name first, so that nobody sees half of it, nor one half of one program and
/// the other of another. A link is followed.
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
    if path.file_name().is_none() {
        bail!("{} is not the name of a file", path.display());
    }
    let mut beside = beside(path).with_context(what)?;
    beside.write_all(text.as_bytes()).with_context(what)?;
    persist(beside, path).with_context(what)
}

/// How often to try where somebody has the file, and how long to wait between.
const TRIES: usize = 200;
const PAUSE: Duration = Duration::from_millis(5);

/// Puts the file in its place. Windows refuses that for the moment in which another does the same, or reads it.
fn persist(mut file: NamedTempFile, path: &Path) -> io::Result<()> {
    for _ in 0..TRIES {
        match file.persist(path) {
            Ok(_) => return Ok(()),
            Err(refused) if cfg!(windows) && refused.error.kind() == io::ErrorKind::PermissionDenied => {
                file = refused.file;
                thread::sleep(PAUSE);
            }
            Err(refused) => return Err(refused.error),
        }
    }
    file.persist(path).map(drop).map_err(|refused| refused.error)
}

/// A file in the same folder, under a name that nobody has.
fn beside(path: &Path) -> std::io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    new_file(&mut Builder::new()).tempfile_in(folder)
}

/// As any file is made; what is temporary would be readable to its owner only.
#[cfg(unix)]
fn new_file<'a>(builder: &'a mut Builder<'static, 'static>) -> &'a mut Builder<'static, 'static> {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn new_file<'a>(builder: &'a mut Builder<'static, 'static>) -> &'a mut Builder<'static, 'static> {
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_at_once_leave_one_whole_file_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let texts = ["a", "b", "c", "d"].map(|letter| letter.repeat(1 << 16));
        thread::scope(|scope| {
            for text in &texts {
                scope.spawn(|| (0..50).for_each(|_| write(&path, text).expect("it is written")));
            }
        });
        assert!(texts.contains(&fs::read_to_string(&path).expect("it is there")));
        assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 1);
    }

    #[test]
    fn what_is_no_file_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(write(folder.path(), "text").expect_err("a folder").to_string().ends_with("is no file"));
        assert!(write(&folder.path().join("none/file"), "text").is_err());
        assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 0);
    }

    #[test]
    #[cfg(unix)]
    fn others_may_read_it_as_any_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let [ours, usual] = ["ours", "usual"].map(|name| folder.path().join(name));
        write(&ours, "text").expect("it is written");
        fs::write(&usual, "text").expect("it is written");
        let mode = |path| fs::metadata(path).expect("it is there").permissions().mode();
        assert_eq!(mode(&ours), mode(&usual));
    }
}
