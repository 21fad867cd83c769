//! A copy of the exercise to work on, and the versions of its file.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Done, folder, run};

/// The file as a learner first finds it.
pub(crate) const START: &str = include_str!("../../src/exercise/texts/tile.rs");
pub(crate) const BARRIER: &str = "    thread::sync_threads();\n";

pub(crate) struct Exercise {
    pub(crate) folder: PathBuf,
}

impl Exercise {
    /// A copy, with the file as it is at the start, whatever it is in the original.
    pub(crate) fn new(name: &str) -> Self {
        let folder = folder(name).join("exercise");
        fs::create_dir_all(folder.join("src")).expect("a folder");
        let original = Path::new(env!("CARGO_MANIFEST_DIR")).join("../exercise/src/main.rs");
        fs::copy(original, folder.join("src/main.rs")).expect("a copy");
        let exercise = Self { folder };
        exercise.save(START);
        exercise
    }

    pub(crate) fn save(&self, text: &str) {
        fs::write(self.folder.join("src/tile.rs"), text).expect("the file can be written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).expect(name)
    }

    pub(crate) fn run(&self, flags: &[&str], answers: &str) -> Done {
        let args = [&["exercise", "--folder", "."], flags].concat();
        run(&self.folder, &args, answers)
    }
}

/// Step 1.
pub(crate) fn without() -> String {
    START.replace(BARRIER, "")
}

/// Step 2.
pub(crate) fn below() -> String {
    let without = without();
    let end = without.trim_end().trim_end_matches('}');
    format!("{end}{BARRIER}}}\n")
}
