//! What cargo says of what it built: where a program is, and where the libraries are that a rustc of our own links.
//!
//! Nothing of this is guessed from the names of folders: a target folder, a target and a folder for
//! intermediate files may each be named in an environment variable or in any of cargo's configuration files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

/// What was built, as `cargo build --message-format=json` says.
pub(crate) struct Built {
    artifacts: Vec<Artifact>,
    /// The search paths of build scripts, as rustc's `-L` takes them.
    pub(crate) searched: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Artifact {
    target: Target,
    filenames: Vec<PathBuf>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Script {
    linked_paths: Vec<String>,
}

impl Built {
    /// Reads cargo's messages, one a line; those about other things read as neither.
    pub(crate) fn read(messages: &[u8]) -> Self {
        let mut built = Self { artifacts: Vec::new(), searched: BTreeSet::new() };
        for line in messages.split(|&byte| byte == b'\n') {
            if let Ok(artifact) = serde_json::from_slice(line) {
                built.artifacts.push(artifact);
            } else if let Ok(Script { linked_paths }) = serde_json::from_slice(line) {
                built.searched.extend(linked_paths);
            }
        }
        built
    }

    /// The program of this name.
    pub(crate) fn program(&self, name: &str) -> Result<PathBuf> {
        let mut programs = self.artifacts.iter().filter(|artifact| artifact.target.name == name);
        let program = programs.find_map(|artifact| artifact.executable.clone());
        program.with_context(|| format!("cargo does not say where it built the program {name}"))
    }

    /// The library of this name.
    pub(crate) fn library(&self, name: &str) -> Result<PathBuf> {
        let named = self.artifacts.iter().filter(|artifact| artifact.target.name == name);
        let mut files = named.flat_map(|artifact| &artifact.filenames);
        let library = files.find(|file| file.extension().is_some_and(|extension| extension == "rlib"));
        library.cloned().with_context(|| format!("cargo does not say where it built {name}"))
    }

    /// The folders with everything that was built: macros lie in another one than libraries where a target is named.
    pub(crate) fn folders(&self) -> BTreeSet<&Path> {
        let files = self.artifacts.iter().flat_map(|artifact| &artifact.filenames);
        files.filter_map(|file| file.parent()).collect()
    }

    /// The target that cargo was told to build for, if it was told; it then has a folder of its name.
    pub(crate) fn target(&self, target_dir: &Path) -> Result<Option<String>> {
        let library = self.library("host")?;
        let below = library.strip_prefix(target_dir).ok();
        let first = below.and_then(|below| below.components().next());
        let first = first.map(|first| first.as_os_str().to_string_lossy().into_owned());
        Ok(first.filter(|first| first != "release"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGES: &str = r#"
{"reason":"compiler-artifact","target":{"name":"macros"},"filenames":["/t/release/deps/libmacros-1.so"],"executable":null}
{"reason":"build-script-executed","linked_libs":[],"linked_paths":["native=/registry/windows_x86_64_gnu/lib"],"cfgs":[]}
{"reason":"build-script-executed","linked_libs":[],"linked_paths":[],"cfgs":[]}
{"reason":"compiler-message","message":{}}
not a message
{"reason":"compiler-artifact","target":{"name":"host"},"filenames":["/t/TRIPLErelease/libhost.rlib","/t/TRIPLErelease/deps/libhost-2.rmeta"],"executable":null}
{"reason":"compiler-artifact","target":{"name":"lesson"},"filenames":["/t/TRIPLErelease/lesson.exe"],"executable":"/t/TRIPLErelease/lesson.exe"}
{"reason":"build-finished","success":true}
"#;

    fn built(triple: &str) -> Built {
        Built::read(MESSAGES.replace("TRIPLE", triple).as_bytes())
    }

    #[test]
    fn programs_libraries_and_the_search_paths_of_build_scripts_are_found() {
        let built = built("");
        assert_eq!(built.program("lesson").expect("a program"), Path::new("/t/release/lesson.exe"));
        assert_eq!(built.library("host").expect("a library"), Path::new("/t/release/libhost.rlib"));
        assert!(built.program("host").is_err() && built.library("macros").is_err());
        assert_eq!(built.searched.iter().collect::<Vec<_>>(), ["native=/registry/windows_x86_64_gnu/lib"]);
        assert!(built.folders().contains(Path::new("/t/release/deps")));
    }

    #[test]
    fn a_target_is_known_by_its_folder() {
        let dir = Path::new("/t");
        assert_eq!(built("").target(dir).expect("a library"), None);
        let named = built("x86_64-pc-windows-gnu/");
        assert_eq!(named.target(dir).expect("a library").as_deref(), Some("x86_64-pc-windows-gnu"));
        assert!(named.folders().contains(Path::new("/t/release/deps")), "the macros are for this machine");
    }
}
