//! An exhibit on a card, in a process of its own: where a launch hangs, the process is ended and the next
//! one goes on.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use wait_timeout::ChildExt;

use super::Exhibit;
use crate::answer::{Answer, Launches};

/// How a launch on a card ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// With an answer.
    Answer(Answer),
    /// In a fault of the kernel.
    Fault(String),
    /// Not within this many seconds.
    NoEndWithinS(u32),
}

/// How long an ended process may take to go.
const GRACE: Duration = Duration::from_secs(5);

impl Ending {
    /// How many elements are wrong, if there is an answer and somebody knows the right one.
    #[must_use]
    pub fn mismatches(&self) -> Option<usize> {
        match self {
            Self::Answer(answer) => answer.mismatches,
            Self::Fault(_) | Self::NoEndWithinS(_) => None,
        }
    }

    /// What is sure to end has to, and a kernel that is right has to give the right answer. Nothing is asked
    /// of any other.
    pub(super) fn holds(&self, exhibit: &Exhibit, block: u32) -> bool {
        !exhibit.terminates
            || match self {
                Self::Answer(answer) => !exhibit.gated(block) || answer.mismatches == Some(0),
                Self::Fault(_) | Self::NoEndWithinS(_) => false,
            }
    }
}

/// Launches an exhibit in blocks of `block` threads on the card, by this program's own command `launch`, and
/// ends it after `limit` seconds.
///
/// # Errors
///
/// If the launch cannot be made.
pub fn launch_apart(exhibit: &Exhibit, block: u32, ptx: &Path, limit: u32) -> Result<Ending> {
    let what = format!("{}, {block} threads a block", exhibit.name);
    let program = env::current_exe().context("finding this program's file")?;
    let mut child = Command::new(&program)
        .arg("launch")
        .arg("--ptx")
        .arg(ptx)
        .arg("--supervised")
        .args(["--exhibit", exhibit.name, "--block", &block.to_string(), "--patience", &limit.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("{what}: cannot start {}", program.display()))?;
    // Held until we have waited: whatever ends us closes it, and so ends the launch.
    let _input = child.stdin.take();
    let waiting = || format!("{what}: cannot wait for the launch");
    if child.wait_timeout(Duration::from_secs(limit.into())).with_context(waiting)?.is_none() {
        // It may have ended in this very moment.
        let _ = child.kill();
        // One that a driver's call holds on to may outlive even that; it is left to the system.
        let _ = child.wait_timeout(GRACE);
        return Ok(Ending::NoEndWithinS(limit));
    }
    let output = child.wait_with_output().with_context(waiting)?;
    match serde_json::from_slice(&output.stdout) {
        Ok(Launches { fault: Some(fault), .. }) => Ok(Ending::Fault(fault)),
        Ok(Launches { mut launches, .. }) => {
            launches.pop().map(Ending::Answer).with_context(|| format!("{what}: no answer"))
        }
        Err(_) => {
            let said = String::from_utf8_lossy(&output.stderr);
            match said.trim().trim_start_matches("error: ") {
                "" => bail!("{what}: the launch ended without an answer, {}", output.status),
                said => bail!("{said}"),
            }
        }
    }
}
