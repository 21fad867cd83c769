//! Where programs and files lie on a machine. Tests make one up.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use crate::child;

/// What of a machine decides what is found on it.
pub(crate) struct Machine {
    /// Its environment variables.
    pub(crate) variables: BTreeMap<OsString, OsString>,
    /// Where its file system begins.
    pub(crate) root: PathBuf,
    /// What a program prints when it is asked one thing; `None` if it fails.
    pub(crate) ask: fn(&Path, &str) -> Option<String>,
}

impl Machine {
    /// This one.
    pub(crate) fn here() -> Self {
        Self { variables: env::vars_os().map(spelled).collect(), root: PathBuf::from("/"), ask }
    }

    /// A program on the path.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        let path = self.variables.get(&OsString::from("PATH"))?;
        env::split_paths(path).map(|dir| executable(&dir, name)).find(|file| file.is_file())
    }

    /// A program of a CUDA toolkit: on the path, or in the toolkit.
    pub(crate) fn toolkit_program(&self, name: &str) -> Option<PathBuf> {
        self.program(name).or_else(|| {
            // compute-sanitizer has a folder of its own, and not every toolkit links it from bin.
            let places = self
                .toolkits()
                .into_iter()
                .flat_map(|toolkit| [toolkit.join("bin"), toolkit.join("compute-sanitizer")]);
            places.map(|dir| executable(&dir, name)).find(|file| file.is_file())
        })
    }

    /// CUDA toolkits: those that variables name, then those in the usual places, newest first.
    pub(crate) fn toolkits(&self) -> Vec<PathBuf> {
        let named = ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR"];
        let named = named.iter().filter_map(|name| self.variable(name));
        let mut versions = self.folders("usr/local", "cuda-");
        versions.sort_by_key(|folder| version(folder));
        versions.reverse();
        let usual = ["usr/local/cuda", "opt/cuda"].map(|place| self.root.join(place));
        named.chain(usual).chain(versions).filter(|toolkit| toolkit.is_dir()).collect()
    }

    /// A path in an environment variable.
    pub(crate) fn variable(&self, name: &str) -> Option<PathBuf> {
        self.variables.get(&OsString::from(name)).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    /// What a program prints when it is asked one thing, without the line's end.
    pub(crate) fn output(&self, program: &Path, question: &str) -> Option<String> {
        (self.ask)(program, question).map(|text| text.trim().to_owned())
    }

    /// Where rustup keeps its toolchains.
    pub(crate) fn rustup(&self) -> Option<PathBuf> {
        let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        self.variable("RUSTUP_HOME").or_else(|| Some(self.variable(home)?.join(".rustup")))
    }

    /// Whether rustup is there, and so its stand-ins for rustc and cargo.
    pub(crate) fn has_rustup(&self) -> bool {
        self.rustup().is_some_and(|home| home.join("toolchains").is_dir())
    }

    fn folders(&self, place: &str, prefix: &str) -> Vec<PathBuf> {
        folders(&self.root.join(place), prefix)
    }
}

/// A variable by the name that it is looked up by. Windows does not tell `Path` from `PATH`, and uses both.
fn spelled((name, value): (OsString, OsString)) -> (OsString, OsString) {
    (if cfg!(windows) { name.to_ascii_uppercase() } else { name }, value)
}

fn ask(program: &Path, question: &str) -> Option<String> {
    let mut asked = Command::new(program);
    let output = child::run(asked.arg(question).stdout(Stdio::piped()).stderr(Stdio::piped())).ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The entries of a folder whose names begin like this; none if it cannot be read.
pub(crate) fn folders(place: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(place) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let begins =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix));
    paths.filter(begins).collect()
}

/// The numbers in a folder's name, so that 12.10 comes after 12.9.
fn version(folder: &Path) -> Vec<u32> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

fn executable(dir: &Path, name: &str) -> PathBuf {
    dir.join(name).with_extension(env::consts::EXE_EXTENSION)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::process;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// A machine with these files and variables. Values of variables begin at its root. A file may have a
    /// text, behind a `=`: what the program in it answers, whatever the question.
    pub(crate) struct Fake(pub(crate) Machine);

    impl Fake {
        pub(crate) fn new(files: &[&str], variables: &[(&str, &str)]) -> Self {
            static NUMBER: AtomicU32 = AtomicU32::new(0);
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let root = env::temp_dir().join(format!("xtask-machine-{}-{number}", process::id()));
            for file in files {
                let (file, text) = file.split_once('=').unwrap_or((file, ""));
                let file = root.join(file);
                fs::create_dir_all(file.parent().expect("it lies in the root")).expect("a folder");
                fs::write(file, text).expect("a file");
            }
            let variables = variables
                .iter()
                .map(|(name, value)| spelled((name.into(), root.join(value).into_os_string())))
                .collect();
            Self(Machine { variables, root, ask: |program, _| fs::read_to_string(program).ok() })
        }
    }

    impl Drop for Fake {
        fn drop(&mut self) {
            // A machine without files has no folder.
            let _ = fs::remove_dir_all(&self.0.root);
        }
    }

    fn exe(path: &str) -> String {
        format!("{path}{}", env::consts::EXE_SUFFIX)
    }

    #[test]
    fn the_path_goes_before_a_toolkit() {
        let (on_path, in_toolkit) =
            (exe("bin/compute-sanitizer"), exe("usr/local/cuda/bin/compute-sanitizer"));
        let Fake(machine) = &Fake::new(&[&on_path, &in_toolkit], &[("PATH", "bin")]);
        assert_eq!(machine.toolkit_program("compute-sanitizer"), Some(machine.root.join(on_path)));
    }

    #[test]
    fn the_newest_toolkit_goes_first_and_a_named_one_before_it() {
        let files = ["12.9", "12.10"].map(|version| exe(&format!("usr/local/cuda-{version}/bin/ptxas")));
        let Fake(machine) = &Fake::new(&[&files[0], &files[1]], &[]);
        assert_eq!(machine.toolkit_program("ptxas"), Some(machine.root.join(&files[1])));
        let Fake(machine) = &Fake::new(&[&files[0], &files[1]], &[("CUDA_HOME", "usr/local/cuda-12.9")]);
        assert_eq!(machine.toolkit_program("ptxas"), Some(machine.root.join(&files[0])));
    }

    #[test]
    fn the_sanitizer_has_a_folder_of_its_own() {
        let file = exe("opt/cuda/compute-sanitizer/compute-sanitizer");
        let Fake(machine) = &Fake::new(&[&file], &[]);
        assert_eq!(machine.toolkit_program("compute-sanitizer"), Some(machine.root.join(file)));
    }

    #[test]
    #[cfg(windows)]
    fn a_variable_is_found_however_it_is_spelled() {
        let Fake(machine) = &Fake::new(&["bin/cc.exe"], &[("Path", "bin")]);
        assert!(machine.program("cc").is_some());
    }

    #[test]
    fn a_bare_machine_has_nothing() {
        let Fake(machine) = &Fake::new(&[], &[]);
        assert_eq!(machine.program("cc"), None);
        assert!(machine.toolkits().is_empty());
        assert_eq!(machine.rustup(), None);
    }
}
