//! Loading the driver's library, and telling why it cannot be loaded.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fmt};

use libloading::Library;

use crate::code::DriverError;

/// The driver's library, as the loader knows it.
pub const LIBRARY: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };

/// Where the Windows Subsystem for Linux has Windows' driver.
const WSL: &str = "/usr/lib/wsl/lib";

/// The variable that adds to the loader's folders.
const FOLDERS: &str = if cfg!(windows) { "PATH" } else { "LD_LIBRARY_PATH" };

/// Why no card can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Absent {
    /// The loader does not find the driver's library.
    NoDriver,
    /// The library is none that this program can use.
    Broken(String),
    /// The library lies in this folder, in which the loader does not look.
    NotSearched(PathBuf),
    /// The driver does not start, or has no card.
    Driver(DriverError),
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDriver => write!(f, "no NVIDIA driver: the loader finds no {LIBRARY}"),
            Self::Broken(why) => write!(f, "the NVIDIA driver cannot be used: {why}; install it again"),
            Self::NotSearched(folder) => write!(
                f,
                "the loader does not look for {LIBRARY} where it is; run `export LD_LIBRARY_PATH={}` first",
                folder.display()
            ),
            Self::Driver(error) => error.fmt(f),
        }
    }
}

impl Error for Absent {}

impl From<libloading::Error> for Absent {
    fn from(error: libloading::Error) -> Self {
        // A function that the library lacks; the message names it.
        Self::Broken(in_words(&error))
    }
}

/// Loads it.
pub(crate) fn load() -> Result<Library, Absent> {
    // SAFETY: loading runs the library's initialisers; the driver's are made for any process.
    let loaded = unsafe { Library::new(LIBRARY) };
    loaded.map_err(|error| why(&in_words(&error), &folders(), Path::new(WSL)))
}

/// What went wrong, and what the loader says of it.
fn in_words(error: &libloading::Error) -> String {
    let said = error.source().map_or_else(String::new, |said| format!(": {said}"));
    format!("{error}{said}")
}

/// The loader says the same of a library that is not there and of one for another kind of machine, so what it said
/// is held against the files there are.
fn why(said: &str, folders: &[PathBuf], wsl: &Path) -> Absent {
    let there = folders.iter().map(|folder| folder.join(LIBRARY)).find(|file| file.exists());
    // On Linux this is in the loader's own English in every locale.
    let missing = said.contains("No such file");
    let said = said.lines().collect::<Vec<_>>().join(" ");
    match there {
        // One for another machine is passed over in silence.
        Some(file) if missing && said.contains(LIBRARY) => Absent::Broken(format!(
            "{} is no library for this machine ({})",
            file.display(),
            env::consts::ARCH
        )),
        Some(file) => Absent::Broken(format!("{}: {said}", file.display())),
        None if wsl.join(LIBRARY).is_file() => Absent::NotSearched(wsl.to_owned()),
        None if missing || cfg!(windows) => Absent::NoDriver,
        None => Absent::Broken(said),
    }
}

/// The folders that the loader searches, as far as they are known.
fn folders() -> Vec<PathBuf> {
    let named = env::var_os(FOLDERS).unwrap_or_default();
    let mut folders: Vec<_> =
        env::split_paths(&named).filter(|folder| !folder.as_os_str().is_empty()).collect();
    if let Some(root) = env::var_os("SystemRoot").filter(|_| cfg!(windows)) {
        folders.push(Path::new(&root).join("System32"));
    } else {
        let multiarch = format!("{}-linux-gnu", env::consts::ARCH);
        let usual = ["lib64", "lib"].map(|name| Path::new("/usr").join(name));
        folders.extend(usual.iter().map(|folder| folder.join(&multiarch)));
        folders.extend(usual);
    }
    folders
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn each_reason_is_one_line_of_its_own() {
        let driver = Absent::Driver(DriverError { doing: "starting the NVIDIA driver".into(), code: 100 });
        let texts = [Absent::NoDriver, Absent::Broken("no cuInit".into()), driver].map(|a| a.to_string());
        assert!(texts.iter().all(|text| text.lines().count() == 1));
        assert!(texts[0].contains(LIBRARY) && texts[1].contains("cuInit") && texts[2].contains("nvidia-smi"));
    }

    const MISSING: &str = "libcuda.so.1: cannot open shared object file: No such file or directory";

    /// A folder with a file of the library's name.
    fn folder(name: &str) -> PathBuf {
        let folder = env::temp_dir().join(format!("driver-library-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join(LIBRARY), "").expect("a file");
        folder
    }

    #[test]
    fn what_is_missing_is_told_from_what_is_broken() {
        let [nowhere, folder] = [PathBuf::from("no/such/folder"), folder("broken")];
        assert_eq!(why(MISSING, std::slice::from_ref(&nowhere), &nowhere), Absent::NoDriver);
        for said in [MISSING, "libcuda.so.1: file too short", "libother.so: No such file or directory"] {
            let told = why(said, &[nowhere.clone(), folder.clone()], &nowhere);
            assert!(
                matches!(&told, Absent::Broken(why) if why.contains("driver-library")),
                "{said}: {told:?}"
            );
        }
        fs::remove_dir_all(folder).expect("it is there");
    }

    #[test]
    fn the_folder_of_wsl_is_named_where_nothing_else_has_the_library() {
        let wsl = folder("wsl");
        let told = why(MISSING, &[], &wsl);
        assert_eq!(told, Absent::NotSearched(wsl.clone()));
        assert!(told.to_string().contains("LD_LIBRARY_PATH="), "{told}");
        fs::remove_dir_all(wsl).expect("it is there");
    }
}
