//! `cargo xtask doctor`: what this machine has, and what each missing piece would enable.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use driver::{Absent, Card};
use tabled::builder::Builder;
use tabled::settings::Style;

use crate::machine::Machine;
use crate::piece::Piece;
use crate::ptx::toolchain;
use crate::rust_cuda::parts;

const INTRO: &str = "The emulator needs none of this: `cargo xtask run --device emulator` runs anywhere.";

const CARD: &str = "On a card, with PTX by rustc";

const BUILDER: &str = "PTX by cuda_builder, beside rustc's";

const IMAGES: &str = "All of this but the card is in Rust-CUDA's container images, such as\n  \
                      ghcr.io/rust-gpu/rust-cuda-ubuntu24-cuda12 (docs/rust-cuda.md)";

pub(crate) fn run() -> Result<ExitCode> {
    let machine = Machine::here();
    let rustc = toolchain::find().ok().map(|found| format!("{} ({})", found.version, found.rustc.display()));
    let card = group(CARD, &for_card(&machine, &driver::probe(), rustc));
    let builder = group(BUILDER, &parts::pieces(&machine));
    write!(io::stdout(), "{INTRO}\n\n{card}\n{builder}{IMAGES}\n")?;
    Ok(ExitCode::SUCCESS)
}

/// What running on a card takes, and what judging the kernels there takes.
fn for_card(machine: &Machine, card: &Result<Card, Absent>, rustc: Option<String>) -> Vec<Piece> {
    let path = |path: Option<PathBuf>| path.map(|path| path.display().to_string());
    let (driver, device) = match card {
        Ok(Card { name, capability, driver, .. }) => {
            (Some(format!("for CUDA {driver}")), Some(format!("{name}, compute capability {capability}")))
        }
        // It is there, though it has no card to offer.
        Err(Absent::Driver(error)) => (Some(format!("answers: {error}")), None),
        Err(Absent::NoDriver | Absent::Broken(_)) => (None, None),
    };
    vec![
        Piece::new(
            "NVIDIA driver",
            "the lesson on a card",
            driver,
            "https://www.nvidia.com/drivers; on Ubuntu `sudo ubuntu-drivers install`",
        ),
        Piece::new("NVIDIA card", "the lesson on a card", device, "a hosted one is free: docs/hosted-gpu.md"),
        Piece::new(
            "rustc with library source",
            "PTX from the kernels (cargo xtask ptx)",
            rustc,
            "`rustup component add rust-src`; on Debian `sudo apt-get install rustc-web rust-web-src`",
        ),
        Piece::new(
            "linker",
            "building anything",
            linker(machine),
            if cfg!(windows) {
                "the C++ build tools of Visual Studio: https://visualstudio.microsoft.com/downloads"
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

fn linker(machine: &Machine) -> Option<String> {
    // On Windows rustc finds the linker by itself, not by the path.
    if cfg!(windows) {
        return Some("found by rustc".to_owned());
    }
    machine.program("cc").map(|path| path.display().to_string())
}

/// The pieces of a group that are there, then the missing ones, each with its fix.
fn group(title: &str, pieces: &[Piece]) -> String {
    let mut table = Builder::default();
    for piece in pieces {
        table.push_record([
            if piece.found.is_ok() { "yes" } else { "NO" },
            piece.name,
            piece.found.as_deref().unwrap_or(piece.enables),
        ]);
    }
    let table = table.build().with(Style::empty()).to_string();
    let lines: Vec<_> = table.lines().map(str::trim_end).collect();
    let mut fixes: Vec<_> = pieces
        .iter()
        .filter_map(|piece| piece.found.as_ref().err())
        .map(|missing| format!("  {missing}\n"))
        .collect();
    // What is missing may leave more than one piece out.
    fixes.dedup();
    let fixes = fixes.concat();
    let fixes = if fixes.is_empty() { fixes } else { format!(" to get what is missing:\n{fixes}") };
    format!("{title}\n{}\n{fixes}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use driver::{Capability, CudaVersion, DriverError};

    use super::*;
    use crate::machine::tests::Fake;

    fn missing(pieces: &[Piece]) -> Vec<&'static str> {
        pieces.iter().filter(|piece| piece.found.is_err()).map(|piece| piece.name).collect()
    }

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
    fn a_driver_without_a_card_is_told_from_no_driver() {
        let Fake(machine) = &Fake::new(&[], &[]);
        let none = DriverError { doing: "starting the NVIDIA driver".into(), code: 100 };
        let missing = missing(&for_card(machine, &Err(Absent::Driver(none)), None));
        assert!(missing.contains(&"NVIDIA card") && !missing.contains(&"NVIDIA driver"));
    }
}
