//! The head of a PTX file, and whether a driver and a card take it.

use std::error::Error;
use std::fmt;

use crate::version::{CudaVersion, PtxVersion};

/// What the head of a PTX file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ptx {
    /// Its language version.
    pub version: PtxVersion,
    /// The cards it is for.
    pub target: Target,
    /// The compiler.
    pub compiler: String,
}

/// Begins the line with which `cargo xtask ptx` says who compiled the file.
pub const COMPILED_BY: &str = "// Compiled by ";

/// The cards that PTX is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The least capability.
    pub least: Capability,
    /// How far above it the PTX still runs.
    pub reach: Reach,
}

/// How far above its target PTX still runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// `sm_90`: on every later card.
    Later,
    /// `sm_100f`: on later cards of the same family.
    Family,
    /// `sm_90a`: on no other.
    Exact,
}

/// The compute capability of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Capability {
    /// 9 of 9.0.
    pub major: u32,
    /// 0 of 9.0.
    pub minor: u32,
}

/// The text is not PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotPtx;

/// Why PTX does not run here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// The driver is too old for the PTX.
    Driver {
        /// The version of the PTX.
        ptx: PtxVersion,
        /// What the driver serves.
        driver: CudaVersion,
    },
    /// The card is too old for the PTX, or not the one it was made for.
    Card {
        /// What the PTX is for.
        target: Target,
        /// What the card is.
        card: Capability,
    },
}

impl Ptx {
    /// Reads the head of a PTX file.
    ///
    /// # Errors
    ///
    /// If it has no `.version` or no `.target` that can be read.
    pub fn read(text: &str) -> Result<Self, NotPtx> {
        let directive = |name| {
            text.lines().find_map(|line| {
                line.trim_start().strip_prefix(name).and_then(|rest| rest.split_whitespace().next())
            })
        };
        let (major, minor) = directive(".version").and_then(|word| word.split_once('.')).ok_or(NotPtx)?;
        let number = |digits: &str| digits.parse().map_err(|_| NotPtx);
        let version = PtxVersion { major: number(major)?, minor: number(minor)? };
        let target = directive(".target").and_then(Target::read).ok_or(NotPtx)?;
        // Comments all of them. A file from elsewhere names at most the part that wrote it, which several compilers
        // have: NVIDIA's libNVVM is in cuda_builder and in nvcc, LLVM's own in rustc and in clang.
        let compiler =
            if let Some(compiler) = text.lines().next().and_then(|line| line.strip_prefix(COMPILED_BY)) {
                compiler.trim()
            } else if text.contains("NVIDIA NVVM Compiler") {
                "an unnamed compiler with libNVVM"
            } else if text.contains("LLVM NVPTX Back-End") {
                "an unnamed compiler with LLVM"
            } else {
                "an unnamed compiler"
            };
        Ok(Self { version, target, compiler: compiler.to_owned() })
    }

    /// Whether the driver and the card take it.
    ///
    /// # Errors
    ///
    /// Which of the two does not.
    pub fn fits(&self, driver: CudaVersion, card: Capability) -> Result<(), Unfit> {
        if !driver.takes(self.version) {
            return Err(Unfit::Driver { ptx: self.version, driver });
        }
        if !self.target.reaches(card) {
            return Err(Unfit::Card { target: self.target, card });
        }
        Ok(())
    }
}

impl Target {
    /// From `sm_90`, `sm_90a` or `sm_100f`, with or without a comma behind it.
    fn read(word: &str) -> Option<Self> {
        let word = word.trim_end_matches(',').strip_prefix("sm_")?;
        let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let reach = match &word[digits.len()..] {
            "" => Reach::Later,
            "f" => Reach::Family,
            "a" => Reach::Exact,
            _ => return None,
        };
        let number: u32 = digits.parse().ok()?;
        Some(Self { least: Capability { major: number / 10, minor: number % 10 }, reach })
    }

    fn reaches(self, card: Capability) -> bool {
        match self.reach {
            Reach::Later => card >= self.least,
            Reach::Family => card >= self.least && card.major == self.least.major,
            Reach::Exact => card == self.least,
        }
    }
}

impl Capability {
    /// The architecture name of this capability: 9.0 is `sm_90`.
    #[must_use]
    pub fn arch(self) -> String {
        format!("sm_{}{}", self.major, self.minor)
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self.reach {
            Reach::Later => "",
            Reach::Family => "f",
            Reach::Exact => "a",
        };
        write!(f, "{}{suffix}", self.least.arch())
    }
}

impl fmt::Display for NotPtx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not PTX: it has no .version and .target lines; `cargo xtask ptx` makes it anew")
    }
}

impl Error for NotPtx {}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Driver { ptx, driver } => {
                write!(f, "the PTX is of version {ptx}, but this driver serves CUDA {driver}")?;
                if let Some((takes, branch)) = driver.newest_ptx() {
                    write!(f, " (branch {branch}) and takes PTX up to {takes}")?;
                }
                match ptx.needs() {
                    Some((cuda, branch)) => write!(f, "; install driver {branch} (CUDA {cuda}) or newer"),
                    None => write!(f, "; install a driver newer than any that this program knows"),
                }?;
                write!(f, ", or compile the kernels with rustc: `--compiler rustc`")
            }
            Self::Card { target, card } => {
                write!(
                    f,
                    "the PTX is for {target}, but this card has compute capability {card}; compile the kernels for \
                     it: `cargo xtask ptx --arch {}`",
                    card.arch()
                )
            }
        }
    }
}

impl Error for Unfit {}

#[cfg(test)]
mod tests {
    use super::*;

    const RUSTC: &str =
        "//\n// Generated by LLVM NVPTX Back-End\n//\n\n.version 6.3\n.target sm_75\n.address_size 64\n";
    const T4: Capability = Capability { major: 7, minor: 5 };
    const H200: Capability = Capability { major: 9, minor: 0 };

    fn ptx(version: &str, target: &str) -> Ptx {
        Ptx::read(&format!(".version {version}\n.target {target}, debug\n")).expect("valid")
    }

    fn cuda(major: u32, minor: u32) -> CudaVersion {
        CudaVersion { major, minor }
    }

    #[test]
    fn the_head_is_read() {
        let ptx = Ptx::read(RUSTC).expect("valid");
        assert_eq!(ptx.version.to_string(), "6.3");
        assert_eq!(ptx.target.to_string(), "sm_75");
        assert_eq!(ptx.compiler, "an unnamed compiler with LLVM");
        let below = Ptx::read(&format!("// mine\n{COMPILED_BY}rustc\n{RUSTC}")).expect("valid");
        assert_eq!(
            below.compiler, "an unnamed compiler with LLVM",
            "only `cargo xtask ptx` writes the first line"
        );
        let named = Ptx::read(&format!("{COMPILED_BY}rustc 1.96.0 (ac68faa20 2026-05-25)\n{RUSTC}"));
        assert_eq!(named.expect("valid").compiler, "rustc 1.96.0 (ac68faa20 2026-05-25)");
        assert_eq!(ptx.fits(cuda(12, 2), T4), Ok(()));
        assert_eq!(ptx.fits(cuda(13, 0), H200), Ok(()));
    }

    #[test]
    fn other_files_are_not_ptx() {
        for text in ["", "\u{7f}ELF", ".version 6.3", ".version 63\n.target sm_75", ".version 6.3\n.target x"]
        {
            assert_eq!(Ptx::read(text), Err(NotPtx), "{text:?}");
        }
    }

    #[test]
    fn ptx_newer_than_the_driver_names_all_three_versions() {
        let error = ptx("8.8", "sm_75").fits(cuda(12, 2), T4).expect_err("8.8 needs 12.9").to_string();
        for part in ["8.8", "CUDA 12.2 (branch 535)", "up to 8.2", "driver 575 (CUDA 12.9)"] {
            assert!(error.contains(part), "{part} is not in {error}");
        }
        assert_eq!(error.lines().count(), 1);
    }

    #[test]
    fn a_driver_outside_the_table_decides_for_itself() {
        assert_eq!(ptx("9.9", "sm_75").fits(cuda(14, 0), T4), Ok(()));
        assert_eq!(ptx("9.0", "sm_75").fits(cuda(14, 0), T4), Ok(()));
    }

    #[test]
    fn versions_outside_the_table_are_refused_where_it_is_clear() {
        let error = ptx("6.3", "sm_75").fits(cuda(9, 0), T4).expect_err("6.3 needs 10.0").to_string();
        assert!(error.contains("CUDA 9.0; install driver 410 (CUDA 10.0)"), "{error}");
        let error = ptx("9.9", "sm_75").fits(cuda(13, 0), T4).expect_err("9.9 came later").to_string();
        assert!(error.contains("newer than any that this program knows"), "{error}");
    }

    #[test]
    fn ptx_for_a_newer_card_names_the_fix() {
        let error = ptx("6.3", "sm_90").fits(cuda(13, 0), T4).expect_err("7.5 < 9.0").to_string();
        assert!(error.contains("for sm_90") && error.contains("`cargo xtask ptx --arch sm_75`"), "{error}");
    }

    #[test]
    fn suffixes_limit_the_reach() {
        let card = |major, minor| Capability { major, minor };
        let runs = |target, card| ptx("8.8", target).fits(cuda(13, 0), card).is_ok();
        assert!(runs("sm_90", card(12, 0)));
        assert!(runs("sm_90a", H200) && !runs("sm_90a", card(10, 0)));
        assert!(runs("sm_100f", card(10, 3)) && !runs("sm_100f", card(12, 0)));
    }
}
