//! What compute-sanitizer can judge.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use serde::Deserialize;

use super::Tool;
use super::expected::{self, Verdict};
use crate::cargo::host_program;
use crate::child;
use crate::cuda::Program;

/// A kernel with its launches.
#[derive(Debug)]
pub(super) enum Subject {
    /// One of the lesson's.
    Lesson(Kernel),
    /// Or an exhibit's.
    Exhibit(Exhibit),
}

/// A kernel of the lesson.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Kernel {
    /// Without the barrier
    #[value(name = "reverse_tile_racy", alias = "racy")]
    Racy,
    /// With it
    #[value(name = "reverse_tile_synced", alias = "synced")]
    Synced,
    /// With threads that return above it
    #[value(name = "reverse_tile_prefix", alias = "prefix")]
    Prefix,
}

/// What is needed here of an exhibit, as `exhibits --format json` lists it.
#[derive(Debug, Deserialize)]
pub(super) struct Exhibit {
    name: String,
    blocks: Vec<u32>,
}

impl Subject {
    /// What the command line names; the lesson's three kernels if nothing.
    pub(super) fn named(name: Option<&str>) -> Result<Vec<Self>> {
        let Some(name) = name else {
            return Ok([Kernel::Racy, Kernel::Synced, Kernel::Prefix].map(Self::Lesson).into());
        };
        if let Ok(kernel) = Kernel::from_str(name, false) {
            return Ok(vec![Self::Lesson(kernel)]);
        }
        match sure_to_end()?.into_iter().find(|exhibit| exhibit.name == name) {
            Some(exhibit) => Ok(vec![Self::Exhibit(exhibit)]),
            None => bail!(
                "{name:?} is neither reverse_tile_racy, reverse_tile_synced or reverse_tile_prefix, nor an exhibit \
                 that is sure to end; `cargo xtask exhibits --card` lists those"
            ),
        }
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Self::Lesson(kernel) => kernel.name(),
            Self::Exhibit(exhibit) => &exhibit.name,
        }
    }

    /// The command that shows its verdict where no checker of NVIDIA's can.
    pub(super) fn on_emulator(&self) -> String {
        match self {
            Self::Lesson(_) => "cargo xtask run --device emulator".to_owned(),
            Self::Exhibit(exhibit) => format!("cargo xtask exhibit {}", exhibit.name),
        }
    }

    /// The block sizes if none are asked for.
    pub(super) fn blocks(&self) -> &[u32] {
        match self {
            Self::Lesson(_) => &[32, 64, 128, 256],
            Self::Exhibit(exhibit) => &exhibit.blocks,
        }
    }

    /// The program's launches of this kernel alone.
    pub(super) fn launch(&self, program: &Program, block: u32) -> Command {
        match self {
            Self::Lesson(kernel) => {
                let mut lesson = program.command(&[]);
                lesson.args(kernel.flags(block));
                lesson
            }
            Self::Exhibit(exhibit) => {
                let mut launch = program.command(&["launch"]);
                launch.args(["--exhibit", &exhibit.name, "--block", &block.to_string()]);
                launch
            }
        }
    }

    /// What a checker has to say of it. Of an exhibit it says what it says: the two are compared, not gated.
    pub(super) fn verdict(&self, tool: Tool, block: u32) -> Option<Verdict> {
        match self {
            Self::Lesson(kernel) => Some(expected::verdict(tool, *kernel, block)),
            Self::Exhibit(_) => None,
        }
    }
}

/// The exhibits that a checker can wait for.
fn sure_to_end() -> Result<Vec<Exhibit>> {
    let mut list = Command::new(host_program("exhibit")?);
    list.args(["exhibits", "--card", "--format", "json"]).stdout(Stdio::piped());
    let listed = child::run(&mut list).context("cannot list the exhibits")?;
    serde_json::from_slice(&listed.stdout).context("the list of the exhibits cannot be read")
}

impl Kernel {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Racy => "reverse_tile_racy",
            Self::Synced => "reverse_tile_synced",
            Self::Prefix => "reverse_tile_prefix",
        }
    }

    /// The program's flags for this kernel alone.
    fn flags(self, block: u32) -> Vec<String> {
        let only = ["--only".to_owned(), self.name().to_owned()];
        let size = match self {
            Self::Racy | Self::Synced => vec!["--blocks".to_owned(), block.to_string()],
            // The lesson's share of the threads: 96 of 256 reach the barrier.
            Self::Prefix => {
                let keep = (block * 3 / 8).max(1);
                vec!["--prefix-block".to_owned(), block.to_string(), "--keep".to_owned(), keep.to_string()]
            }
        };
        only.into_iter().chain(size).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_kernel_runs_as_in_the_lesson() {
        let flags = Kernel::Prefix.flags(256).join(" ");
        assert_eq!(flags, "--only reverse_tile_prefix --prefix-block 256 --keep 96");
        assert!(Kernel::Prefix.flags(1).join(" ").ends_with("--keep 1"));
    }
}
