//! Driving the built command as a user would: processes, files, exit codes.

#![allow(dead_code, reason = "each test program uses its part")]

pub(crate) mod exercise;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A fresh folder for one test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

/// Starts `cargo xtask` with these arguments in a folder.
pub(crate) fn start(folder: &Path, args: &[&str]) -> Child {
    start_with(folder, args, &[])
}

/// The same, with these variables in its environment.
pub(crate) fn start_with(folder: &Path, args: &[&str], variables: &[(&str, String)]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(args)
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("xtask was just built")
}

/// What came of a command.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        // The first command that builds something says so; which one that is depends on what ran before.
        let stderr: Vec<_> = output.stderr.split_inclusive(|&byte| byte == b'\n').collect();
        let said = stderr.into_iter().filter(|line| !line.starts_with(b"compiling "));
        Self {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(said.flatten().copied().collect()),
        }
    }
}

/// Runs `cargo xtask` to its end, with this text as its input.
pub(crate) fn run(folder: &Path, args: &[&str], input: &str) -> Done {
    end(start(folder, args), input)
}

/// Waits for its end, after this text as its input.
pub(crate) fn end(mut child: Child, input: &str) -> Done {
    // It may have ended without reading.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    child.wait_with_output().expect("it ran").into()
}

impl Done {
    #[track_caller]
    pub(crate) fn exits(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// The output has these words in this order, wherever its lines are broken.
    #[track_caller]
    pub(crate) fn says_in_words(&self, text: &str) -> &Self {
        let words = self.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(text), "not said: {text:?} in {self:#?}");
        self
    }

    #[track_caller]
    pub(crate) fn says(&self, text: &str) -> &Self {
        assert!(self.stdout.contains(text), "not said: {text:?} in {self:#?}");
        self
    }

    #[track_caller]
    pub(crate) fn does_not_say(&self, text: &str) -> &Self {
        assert!(!self.stdout.contains(text), "said: {text:?} in {self:#?}");
        self
    }

    /// The last line of the messages.
    #[track_caller]
    pub(crate) fn ends_with_error(&self, text: &str) -> &Self {
        let last = self.stderr.lines().last().unwrap_or_default();
        assert!(last.starts_with("error: ") && last.contains(text), "not: {text:?} in {self:#?}");
        self
    }

    /// The messages are this one line.
    #[track_caller]
    pub(crate) fn is_one_error(&self, text: &str) -> &Self {
        assert_eq!(self.stderr.lines().count(), 1, "{self:#?}");
        self.exits(2).ends_with_error(text)
    }
}
