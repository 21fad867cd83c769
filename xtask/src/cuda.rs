//! The lesson's program for a card, with its kernels.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use driver::{Capability, Card, Ptx};

use crate::cargo::{cargo, release_dir};
use crate::{link, ptx};

/// What `cargo xtask ptx` compiles for by default: it runs on this and every later card.
const DEFAULT: Capability = Capability { major: 7, minor: 5 };

/// A program that is built, and the PTX for it.
pub(crate) struct Program {
    path: PathBuf,
    ptx: PathBuf,
}

impl Program {
    /// Compiles the kernels for this card, and the program that launches them.
    pub(crate) fn build(card: &Card) -> Result<Self> {
        let ptx = ptx::build(&DEFAULT.min(card.capability).arch())?;
        let reading = || format!("reading {}", ptx.display());
        let text = fs::read_to_string(&ptx).with_context(reading)?;
        Ptx::read(&text).with_context(reading)?.fits(card.driver, card.capability)?;
        Ok(Self { path: build_host()?, ptx })
    }

    /// The program with the flags that every run of it needs.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.args(self.args());
        command
    }

    /// The program's path, for another program that starts it.
    pub(crate) fn path(&self) -> &PathBuf {
        &self.path
    }

    /// The flags that every run of it needs.
    pub(crate) fn args(&self) -> [std::ffi::OsString; 4] {
        ["--device".into(), "cuda".into(), "--ptx".into(), self.ptx.clone().into_os_string()]
    }
}

fn build_host() -> Result<PathBuf> {
    let (variable, path) = link::search_path()?;
    let built = cargo()
        .env(variable, path)
        .args(["build", "--quiet", "--release", "--package", "host", "--features", "cuda"])
        .args(["--bin", "lesson-cuda"])
        .status()?;
    if !built.success() {
        bail!("the lesson's program for a card does not build; the compiler's message is above");
    }
    Ok(release_dir().join("lesson-cuda"))
}
