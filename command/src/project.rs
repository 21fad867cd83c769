//! Where this project is: in the folder that a command was called in, which need not be the one that it was
//! compiled in. A checkout may be moved, or copied with all that was built in it.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// What lies in the project's root, and hardly together anywhere else.
const MARKS: [&str; 3] = ["Cargo.toml", "xtask/Cargo.toml", "kernels-gpu/Cargo.toml"];

/// The root of the project.
///
/// # Errors
///
/// If the command was neither started by cargo in the project, nor called in it, nor lies in it.
pub fn root() -> Result<PathBuf> {
    // cargo names the package that it runs.
    let package = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let places = [package, env::current_dir().ok(), env::current_exe().ok()];
    let found = places.iter().flatten().find_map(|place| above(place));
    found.context("cannot find the project: run `cargo xtask` in its folder")
}

fn above(place: &Path) -> Option<PathBuf> {
    let is_root = |folder: &&Path| MARKS.iter().all(|file| folder.join(file).is_file());
    place.ancestors().find(is_root).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_root_is_the_nearest_folder_with_all_of_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("moved");
        for mark in MARKS {
            fs::create_dir_all(root.join(mark).parent().expect("a folder")).expect("a folder");
            fs::write(root.join(mark), "").expect("a file");
        }
        assert_eq!(above(&root.join("xtask/src/main.rs")), Some(root.clone()));
        assert_eq!(above(&root), Some(root));
        assert_eq!(above(folder.path()), None);
    }
}
