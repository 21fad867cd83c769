//! Finding a rustc that can compile for the GPU: one with the source of `core` in its sysroot.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fmt};

use anyhow::{Context, Result, bail};

use crate::cargo::root;
use crate::child;

/// The target that PTX is compiled for.
pub(crate) const TARGET: &str = "nvptx64-nvidia-cuda";

/// Names the rustc to take, whatever else there is.
const VARIABLE: &str = "PTX_RUSTC";

/// A rustc, and the cargo to call it with.
pub(crate) struct Toolchain {
    pub(crate) rustc: PathBuf,
    pub(crate) cargo: PathBuf,
    /// What `rustc --version` prints.
    pub(crate) version: String,
    /// The folder with the source of Rust's library.
    library: PathBuf,
}

/// The rustc that the environment names; else the first on the path that fits. With rustup, the first on the
/// path is the active toolchain's.
pub(crate) fn find() -> Result<Toolchain> {
    if let Some(named) = env::var_os(VARIABLE) {
        let named = PathBuf::from(named);
        return Toolchain::at(&named)
            .with_context(|| format!("{VARIABLE} names {}, which will not do", named.display()));
    }
    let path = env::var_os("PATH").unwrap_or_default();
    find_in(env::split_paths(&path))
}

fn find_in(dirs: impl Iterator<Item = PathBuf>) -> Result<Toolchain> {
    let mut seen = Vec::new();
    for rustc in dirs.map(|dir| dir.join("rustc").with_extension(env::consts::EXE_EXTENSION)) {
        if seen.contains(&rustc) || !rustc.is_file() {
            continue;
        }
        if let Ok(found) = Toolchain::at(&rustc) {
            return Ok(found);
        }
        seen.push(rustc);
    }
    Err(NoToolchain(seen).into())
}

impl Toolchain {
    fn at(rustc: &Path) -> Result<Self> {
        let sysroot = PathBuf::from(print(rustc, &["--print", "sysroot"])?.trim());
        let library = sysroot.join("lib/rustlib/src/rust");
        if !library.join("library/core/src/lib.rs").is_file() {
            bail!("its sysroot {} has no library source", sysroot.display());
        }
        // A proxy of rustup picks its toolchain anew in each directory; the sysroot's own binaries do not.
        let own = |name: &str| {
            let path = sysroot.join("bin").join(name).with_extension(env::consts::EXE_EXTENSION);
            path.is_file().then_some(path)
        };
        Ok(Self {
            rustc: own("rustc").unwrap_or_else(|| rustc.to_owned()),
            cargo: own("cargo")
                .or_else(|| env::var_os("CARGO").map(PathBuf::from))
                .unwrap_or_else(|| "cargo".into()),
            version: print(rustc, &["--version"])?.trim().to_owned(),
            library,
        })
    }

    /// Flags by which PTX names sources from the root of the project, and Rust's library from `rust/`, wherever
    /// both are on this machine.
    pub(super) fn remap(&self) -> [String; 2] {
        [(root(), ""), (&*self.library, "rust")]
            .map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()))
    }

    /// An unknown architecture is an error here; rustc would warn and take its default.
    pub(crate) fn check_arch(&self, arch: &str) -> Result<()> {
        let cpus = print(&self.rustc, &["--print", "target-cpus", "--target", TARGET])?;
        let known: Vec<_> = cpus.split_whitespace().filter(|word| word.starts_with("sm_")).collect();
        if !known.contains(&arch) {
            bail!("{} does not know the architecture {arch}; it knows {}", self.version, known.join(", "));
        }
        Ok(())
    }
}

fn print(rustc: &Path, args: &[&str]) -> Result<String> {
    let mut asked = Command::new(rustc);
    asked.args(args).current_dir(root()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = child::run(&mut asked).with_context(|| format!("cannot start {}", rustc.display()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{} {}: {}", rustc.display(), args.join(" "), said.lines().next().unwrap_or("failed"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// No rustc fits; these were tried.
#[derive(Debug)]
struct NoToolchain(Vec<PathBuf>);

impl fmt::Display for NoToolchain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no rustc here can compile for the GPU: ")?;
        match &*self.0 {
            [] => write!(f, "there is none on PATH")?,
            tried => {
                let tried: Vec<_> = tried.iter().map(|path| path.display().to_string()).collect();
                write!(f, "the library source is missing beside {}", tried.join(", "))?;
            }
        }
        write!(
            f,
            "; with rustup run `rustup component add rust-src`, on Debian `sudo apt-get install rustc-web \
             rust-web-src`, or set {VARIABLE} to a rustc that has it"
        )
    }
}

impl std::error::Error for NoToolchain {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_rustc_both_ways_to_get_one_are_named() {
        let error = find_in(std::iter::empty()).err().expect("nothing to find").to_string();
        assert!(error.contains("rustup component add rust-src"), "{error}");
        assert!(error.contains("apt-get install rustc-web rust-web-src"), "{error}");
        assert_eq!(error.lines().count(), 1);
    }
}
