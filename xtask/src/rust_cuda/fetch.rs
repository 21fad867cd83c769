//! Getting the sources of the real cuda_std and cuda_builder.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::{REPOSITORY, manifest, short_revision};
use crate::child;

/// Gets what kernels-gpu depends on, if it is not here yet.
pub(crate) fn fetch(mut cargo: Command) -> Result<()> {
    cargo.args(["fetch", "--locked", "--manifest-path"]).arg(manifest());
    cargo.stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = child::run(&mut cargo).context("cannot start cargo")?;
    if !output.status.success() {
        bail!(refusal(&String::from_utf8_lossy(&output.stderr)));
    }
    Ok(())
}

/// One line out of cargo's chain of causes.
fn refusal(said: &str) -> String {
    if said.contains("--locked") && said.contains("lock file") {
        return "kernels-gpu/Cargo.lock does not fit the manifests beside it: `git restore kernels-gpu`"
            .to_owned();
    }
    format!(
        "cannot get Rust-CUDA {} from {REPOSITORY}: {}; go online once, or name a local copy: `git config --global \
         url.<COPY>.insteadOf {REPOSITORY}` with CARGO_NET_GIT_FETCH_WITH_CLI=true",
        short_revision(),
        cause(said)
    )
}

/// What git calls fatal; else the first line of cargo's last cause, which names it.
fn cause(said: &str) -> &str {
    if let Some(fatal) = said.lines().find_map(|line| line.trim().strip_prefix("fatal: ")) {
        return fatal;
    }
    let last = said.rsplit("Caused by:").next().unwrap_or(said);
    let mut lines = last.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.next().unwrap_or("cargo does not say why")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_cause_is_told_in_one_line() {
        let line = refusal(
            "error: failed to get `cuda_std` as a dependency of package `kernels v0.1.0`\n\nCaused by:\n  failed to \
             load source for dependency `cuda_std`\n\nCaused by:\n  Unable to update https://x\n\nCaused by:\n  failed \
             to resolve address for github.com: Name or service not known; class=Net (12)\n",
        );
        assert!(
            line.contains("failed to resolve address for github.com") && line.contains("insteadOf"),
            "{line}"
        );
        assert_eq!(line.lines().count(), 1);
    }

    #[test]
    fn what_git_says_goes_before_how_cargo_called_it() {
        let said = "fatal: unable to access 'https://x/': Could not resolve host: x\nerror: failed\n\nCaused by:\n  \
                    process didn't exit successfully: `git fetch`\n";
        assert_eq!(cause(said), "unable to access 'https://x/': Could not resolve host: x");
    }

    #[test]
    fn a_stale_lock_file_is_not_taken_for_the_network() {
        let line = refusal("error: cannot update the lock file /x/Cargo.lock because --locked was passed\n");
        assert!(line.contains("git restore kernels-gpu"), "{line}");
    }
}
