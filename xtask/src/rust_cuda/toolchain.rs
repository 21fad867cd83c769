//! The Rust toolchain that Rust-CUDA's backend is built and run with.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::NIGHTLY;
use crate::machine::{Machine, folders};
use crate::piece::Missing;

/// What the lesson's own rust-toolchain.toml names. rustup sets the variable below for all that it starts, so this
/// value is not the learner's word.
const OWN: &str = "stable";

const VARIABLE: &str = "RUSTUP_TOOLCHAIN";

/// A toolchain.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Toolchain {
    pub(crate) sysroot: PathBuf,
    /// The learner named it; else it is the pinned one.
    pub(crate) named: bool,
}

const INSTALL: &str = "`rustup toolchain install nightly-2026-04-02 --component rust-src,rustc-dev,llvm-tools`, or a \
                       container image of Rust-CUDA (docs/rust-cuda.md), or RUSTUP_TOOLCHAIN=NAME for another one";

impl Toolchain {
    /// The one that the learner names; else the pinned one.
    pub(crate) fn find(machine: &Machine) -> Result<Self, Missing> {
        let missing = |why| Missing { why, fix: INSTALL };
        if let Some(name) = named(machine) {
            let sysroot = in_rustup(machine, &name).or_else(|| on_path(machine).map(|(sysroot, _)| sysroot));
            return match sysroot {
                Some(sysroot) => Ok(Self { sysroot, named: true }),
                None => Err(missing(format!("{VARIABLE} names {name}, which is not installed"))),
            };
        }
        if let Some(sysroot) = in_rustup(machine, NIGHTLY) {
            return Ok(Self { sysroot, named: false });
        }
        match on_path(machine) {
            // rustup's stand-in answers for the toolchain of the lesson.
            Some((sysroot, version)) if !machine.has_rustup() => {
                if is_pinned(&version) {
                    Ok(Self { sysroot, named: false })
                } else {
                    Err(missing(format!("the rustc on PATH is {version}, not {NIGHTLY}")))
                }
            }
            _ => Err(missing(format!("{NIGHTLY} is not installed"))),
        }
    }

    /// What `rustc --version` prints.
    pub(crate) fn version(&self, machine: &Machine) -> String {
        let rustc = self.sysroot.join("bin/rustc").with_extension(std::env::consts::EXE_EXTENSION);
        machine.output(&rustc, "--version").unwrap_or_else(|| "an unknown rustc".to_owned())
    }

    /// The source of `core` and `alloc`, which are compiled for the GPU.
    pub(crate) fn rust_src(&self) -> Result<String, Missing> {
        let there = self.sysroot.join("lib/rustlib/src/rust/library/alloc/src/lib.rs").is_file();
        self.component(there, "rust-src", "`rustup component add rust-src --toolchain nightly-2026-04-02`")
    }

    /// rustc's own crates, which the backend is built with.
    pub(crate) fn rustc_dev(&self) -> Result<String, Missing> {
        let there = self.target_holds("lib", &["librustc_driver", "rustc_driver"]);
        self.component(there, "rustc-dev", "`rustup component add rustc-dev --toolchain nightly-2026-04-02`")
    }

    /// In Rust-CUDA's own list of components; asked for in the pinned toolchain only.
    pub(crate) fn llvm_tools(&self) -> Result<String, Missing> {
        let there = self.named || self.target_holds("bin", &["llvm-"]);
        self.component(
            there,
            "llvm-tools",
            "`rustup component add llvm-tools --toolchain nightly-2026-04-02`",
        )
    }

    fn component(&self, there: bool, name: &str, fix: &'static str) -> Result<String, Missing> {
        let place = self.sysroot.display();
        if there {
            Ok(place.to_string())
        } else {
            Err(Missing { why: format!("the toolchain {place} has no {name}"), fix })
        }
    }

    /// Whether this folder of a target has a file with one of these beginnings.
    fn target_holds(&self, folder: &str, beginnings: &[&str]) -> bool {
        let targets = folders(&self.sysroot.join("lib/rustlib"), "");
        let folders_of_targets = targets.iter().map(|target| target.join(folder));
        folders_of_targets
            .into_iter()
            .any(|folder| beginnings.iter().any(|begin| !folders(&folder, begin).is_empty()))
    }
}

/// What the learner names.
pub(super) fn named(machine: &Machine) -> Option<String> {
    let named = machine.variables.get(&OsString::from(VARIABLE))?.to_string_lossy().into_owned();
    Some(named).filter(|name| !name.is_empty() && !name.starts_with(OWN))
}

/// rustup's toolchain of this name, which need not say for which host.
fn in_rustup(machine: &Machine, name: &str) -> Option<PathBuf> {
    let installed = folders(&machine.rustup()?.join("toolchains"), name);
    // `nightly` also begins the name of every dated one; those are longer.
    installed.into_iter().min_by_key(|path| path.as_os_str().len())
}

/// The sysroot of the rustc on the path, and its version.
fn on_path(machine: &Machine) -> Option<(PathBuf, String)> {
    let rustc = machine.program("rustc")?;
    let sysroot = PathBuf::from(machine.output(&rustc, "--print=sysroot")?);
    Some((sysroot, machine.output(&rustc, "--version")?))
}

/// A nightly is named for the day after its last commit.
fn is_pinned(version: &str) -> bool {
    version.contains("-nightly") && version.contains("2026-04-01")
}

/// Where its programs lie.
pub(crate) fn programs(sysroot: &Path) -> PathBuf {
    sysroot.join("bin")
}
