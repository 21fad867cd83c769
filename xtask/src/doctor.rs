//! `cargo xtask doctor`: what this machine has, and what each missing piece would enable.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use command::text::wrapped;
use driver::{Absent, Card, CudaVersion, LIBRARY};

use crate::machine::Machine;
use crate::piece::{Missing, Piece};
use crate::ptx::toolchain;
use crate::rust_cuda::parts;

const INTRO: &str = "The emulator needs none of this: `cargo xtask run --device emulator` runs\n\
                     anywhere.";

const CARD: &str = "On a card, with PTX by rustc";

const BUILDER: &str = "PTX by cuda_builder, beside rustc's";

const DRIVER: &str = if cfg!(windows) {
    "https://www.nvidia.com/drivers"
} else {
    "https://www.nvidia.com/drivers; on Ubuntu `sudo ubuntu-drivers install`; under WSL, Windows' driver serves, \
     and its library is in /usr/lib/wsl/lib"
};

const WSL: &str = "this is WSL, where Windows' driver serves: `export LD_LIBRARY_PATH=/usr/lib/wsl/lib`";

const IMAGES: &str = "All of this but the card is in Rust-CUDA's container images, such as\n  \
                      ghcr.io/rust-gpu/rust-cuda-ubuntu24-cuda12 (docs/rust-cuda.md)";

pub(crate) fn run() -> Result<ExitCode> {
    let machine = Machine::here();
    let rustc = toolchain::find()
        .ok()
        .map(|found| format!("{} ({})", found.version, command::text::path(&found.rustc)));
    let card = group(CARD, &for_card(&machine, &driver::probe(), rustc));
    let pieces = parts::pieces(&machine);
    let builder = group(BUILDER, &pieces);
    let usable = usable(pieces.iter().all(|piece| piece.found.is_ok()));
    write!(command::stdout(), "{INTRO}\n\n{card}\n{builder} {usable}\n{IMAGES}\n")?;
    Ok(ExitCode::SUCCESS)
}

/// Whether cuda_builder has all that it needs, and what that means for `--compiler auto`.
fn usable(all: bool) -> &'static str {
    if all {
        "cuda_builder can be used, and `--compiler auto` takes it"
    } else {
        "cuda_builder cannot be used, and `--compiler auto` takes rustc"
    }
}

/// What running on a card takes, and what judging the kernels there takes.
fn for_card(machine: &Machine, card: &Result<Card, Absent>, rustc: Option<String>) -> Vec<Piece> {
    let path = |path: Option<PathBuf>| path.map(|path| command::text::path(&path));
    let (driver, device) = match card {
        Ok(Card { name, capability, driver, .. }) => (
            Ok(format!("for CUDA {driver}{}", newest_ptx(*driver))),
            Some(format!("{name}, compute capability {capability}")),
        ),
        // It is there, though it has no card to offer.
        Err(Absent::Driver(error)) => (Ok(format!("answers: {error}")), None),
        Err(Absent::NoDriver) => (Err(Missing { why: "no NVIDIA driver".to_owned(), fix: DRIVER }), None),
        Err(Absent::Broken(why)) => (
            Err(Missing { why: format!("there is a {LIBRARY}, and it cannot be used: {why}"), fix: DRIVER }),
            None,
        ),
        Err(Absent::NotSearched(folder)) => {
            let why = format!("the loader does not look into {}, which has {LIBRARY}", folder.display());
            (Err(Missing { why, fix: WSL }), None)
        }
    };
    vec![
        Piece { name: "NVIDIA driver", enables: "the lesson on a card", found: driver },
        Piece::new("NVIDIA card", "the lesson on a card", device, "a hosted one is free: docs/hosted-gpu.md"),
        Piece::new(
            "rustc with library source",
            "PTX from the kernels (cargo xtask ptx)",
            rustc,
            if cfg!(target_os = "linux") {
                "`rustup component add rust-src`; on Debian `sudo apt-get install rustc-web rust-web-src`"
            } else {
                "`rustup component add rust-src`"
            },
        ),
        Piece::new(
            "linker",
            "building anything",
            linker(machine),
            if cfg!(windows) {
                "the C++ build tools of Visual Studio: https://visualstudio.microsoft.com/downloads"
            } else if cfg!(target_os = "macos") {
                "`xcode-select --install`"
            } else {
                "on Debian and Ubuntu `sudo apt-get install gcc`"
            },
        ),
        Piece::new(
            "compute-sanitizer",
            "NVIDIA's verdict (cargo xtask racecheck, synccheck, memcheck)",
            path(machine.toolkit_program("compute-sanitizer")),
            "a CUDA toolkit: https://developer.nvidia.com/cuda-downloads",
        ),
        Piece::new(
            "ptxas",
            "assembling the PTX without a card",
            path(machine.toolkit_program("ptxas")),
            "`pip install nvidia-cuda-nvcc-cu12`, or a CUDA toolkit",
        ),
        Piece::new(
            "nvcc",
            "the C++ kernels to compare with",
            path(machine.toolkit_program("nvcc")),
            "a CUDA toolkit: https://developer.nvidia.com/cuda-downloads",
        ),
    ]
}

/// Which PTX a driver takes, where that is known.
fn newest_ptx(driver: CudaVersion) -> String {
    driver
        .newest_ptx()
        .map_or_else(String::new, |(ptx, branch)| format!(" (branch {branch}), takes PTX up to {ptx}"))
}

fn linker(machine: &Machine) -> Option<String> {
    // On Windows rustc finds the linker by itself, not by the path.
    if cfg!(windows) {
        return Some("found by rustc".to_owned());
    }
    machine.program("cc").map(|path| path.display().to_string())
}

/// The pieces of a group that are there, then the missing ones, each with its fix.
fn group(title: &str, pieces: &[Piece]) -> String {
    let width = pieces.iter().map(|piece| piece.name.len()).max().unwrap_or_default();
    let row = |piece: &Piece| {
        let there = if piece.found.is_ok() { "yes" } else { "NO" };
        let head = format!(" {there:3}  {:width$}  ", piece.name);
        wrapped(&head, piece.found.as_deref().unwrap_or(piece.enables))
    };
    let mut lines = vec![title.to_owned()];
    lines.extend(pieces.iter().map(row));
    let missing = pieces.iter().filter_map(|piece| piece.found.as_ref().err());
    let mut fixes: Vec<_> = missing.map(|missing| wrapped("  - ", &missing.to_string())).collect();
    // What is missing may leave more than one piece out.
    fixes.dedup();
    if !fixes.is_empty() {
        lines.push(" to get what is missing:".to_owned());
    }
    lines.extend(fixes);
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use driver::Capability;
    use driver::DriverError;

    use super::*;
    use crate::machine::tests::Fake;

    fn missing(pieces: &[Piece]) -> Vec<&'static str> {
        pieces.iter().filter(|piece| piece.found.is_err()).map(|piece| piece.name).collect()
    }

    #[cfg(unix)]
    fn t4() -> Card {
        Card {
            name: "Tesla T4".into(),
            capability: Capability { major: 7, minor: 5 },
            driver: CudaVersion { major: 12, minor: 2 },
            count: 1,
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_bare_machine_is_told_how_to_get_each_piece() {
        let Fake(machine) = &Fake::new(&[], &[]);
        let pieces = for_card(machine, &Err(Absent::NoDriver), None);
        assert_eq!(missing(&pieces).len(), pieces.len());
        let text = group(CARD, &pieces);
        for piece in &pieces {
            let fix = piece.found.as_ref().expect_err("nothing is here").fix;
            assert!(text.lines().all(|line| line.len() <= 80), "{text}");
            // As one line, whatever the width.
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains(fix) && text.contains(piece.enables), "{text}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_full_machine_lacks_nothing() {
        let kit =
            ["bin/compute-sanitizer", "bin/ptxas", "bin/nvcc"].map(|file| format!("usr/local/cuda/{file}"));
        let files: Vec<_> = kit.iter().map(String::as_str).chain(["bin/cc"]).collect();
        let Fake(machine) = &Fake::new(&files, &[("PATH", "bin")]);
        let pieces = for_card(machine, &Ok(t4()), Some("rustc 1.95.0".into()));
        assert_eq!(missing(&pieces), [""; 0]);
        let text = group(CARD, &pieces);
        assert!(text.contains("Tesla T4, compute capability 7.5") && !text.contains("missing"), "{text}");
    }

    #[test]
    fn a_broken_driver_and_one_that_is_not_searched_are_told_from_none() {
        let Fake(machine) = &Fake::new(&[], &[]);
        let said = |absent| group(CARD, &for_card(machine, &Err(absent), None));
        let said = |absent| said(absent).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said(Absent::NoDriver).contains("- no NVIDIA driver: https"));
        let broken = said(Absent::Broken("/lib/x.so: file too short".into()));
        assert!(broken.contains("and it cannot be used: /lib/x.so: file too short: https"), "{broken}");
        let wsl = said(Absent::NotSearched("/usr/lib/wsl/lib".into()));
        assert!(wsl.contains("export LD_LIBRARY_PATH=/usr/lib/wsl/lib"), "{wsl}");
    }

    #[test]
    fn a_driver_without_a_card_is_told_from_no_driver() {
        let Fake(machine) = &Fake::new(&[], &[]);
        let none = DriverError { doing: "starting the NVIDIA driver".into(), code: 100 };
        let missing = missing(&for_card(machine, &Err(Absent::Driver(none)), None));
        assert!(missing.contains(&"NVIDIA card") && !missing.contains(&"NVIDIA driver"));
    }
}
