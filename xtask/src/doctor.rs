//! `cargo xtask doctor`: what this machine has, and what each missing piece would enable.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use driver::{Absent, Card};
use tabled::builder::Builder;
use tabled::settings::Style;

use crate::machine::{Machine, folders};
use crate::ptx::toolchain;

/// One piece: what it is for, where it is, and how to get it.
struct Piece {
    name: &'static str,
    enables: &'static str,
    /// Where or what it is; `None` if it is missing.
    found: Option<String>,
    fix: &'static str,
}

const INTRO: &str = "The emulator needs none of this: `cargo xtask run --device emulator` runs anywhere.";

const CARD: &str = "On a card, with PTX by rustc";

const BUILDER: &str = "PTX by cuda_builder, beside rustc's";

pub(crate) fn run() -> Result<ExitCode> {
    let machine = Machine::here();
    let rustc = toolchain::find().ok().map(|found| format!("{} ({})", found.version, found.rustc.display()));
    let card = group(CARD, &for_card(&machine, &driver::probe(), rustc));
    let builder = group(BUILDER, &for_builder(&machine));
    write!(io::stdout(), "{INTRO}\n\n{card}\n{builder}")?;
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
        Piece {
            name: "NVIDIA driver",
            enables: "the lesson on a card",
            found: driver,
            fix: "https://www.nvidia.com/drivers; on Ubuntu `sudo ubuntu-drivers install`",
        },
        Piece {
            name: "NVIDIA card",
            enables: "the lesson on a card",
            found: device,
            fix: "a hosted one is free: docs/hosted-gpu.md",
        },
        Piece {
            name: "rustc with library source",
            enables: "PTX from the kernels (cargo xtask ptx)",
            found: rustc,
            fix: "`rustup component add rust-src`; on Debian `sudo apt-get install rustc-web rust-web-src`",
        },
        Piece {
            name: "linker",
            enables: "building anything",
            found: linker(machine),
            fix: if cfg!(windows) {
                "the C++ build tools of Visual Studio: https://visualstudio.microsoft.com/downloads"
            } else {
                "on Debian and Ubuntu `sudo apt-get install gcc`"
            },
        },
        Piece {
            name: "compute-sanitizer",
            enables: "NVIDIA's verdict (cargo xtask racecheck, synccheck, memcheck)",
            found: path(machine.toolkit_program("compute-sanitizer")),
            fix: "a CUDA toolkit: https://developer.nvidia.com/cuda-downloads",
        },
        Piece {
            name: "ptxas",
            enables: "assembling the PTX without a card",
            found: path(machine.toolkit_program("ptxas")),
            fix: "`pip install nvidia-cuda-nvcc-cu12`, or a CUDA toolkit",
        },
        Piece {
            name: "nvcc",
            enables: "the C++ kernels to compare with",
            found: path(machine.toolkit_program("nvcc")),
            fix: "a CUDA toolkit: https://developer.nvidia.com/cuda-downloads",
        },
    ]
}

fn linker(machine: &Machine) -> Option<String> {
    // On Windows rustc finds the linker by itself, not by the path.
    if cfg!(windows) {
        return Some("found by rustc".to_owned());
    }
    machine.program("cc").map(|path| path.display().to_string())
}

/// The toolchain that cuda_builder is bound to.
const NIGHTLY: &str = "nightly-2026-04-02";

/// What compiling the kernels with Rust-CUDA's cuda_builder takes.
fn for_builder(machine: &Machine) -> Vec<Piece> {
    let nightly =
        machine.rustup().and_then(|home| folders(&home.join("toolchains"), NIGHTLY).into_iter().next());
    let component = |holds: fn(&Path) -> bool| {
        nightly.as_ref().filter(|toolchain| holds(toolchain)).map(|path| path.display().to_string())
    };
    vec![
        Piece {
            name: NIGHTLY,
            enables: "cuda_builder's compiler",
            found: nightly.as_ref().map(|path| path.display().to_string()),
            fix: "`rustup toolchain install nightly-2026-04-02`",
        },
        Piece {
            name: "its rustc-dev",
            enables: "cuda_builder's compiler",
            found: component(|toolchain| in_targets(toolchain, "librustc_driver", "rustc_driver")),
            fix: "`rustup component add --toolchain nightly-2026-04-02 rustc-dev`",
        },
        Piece {
            name: "its llvm-tools",
            enables: "cuda_builder's compiler",
            found: component(has_llvm_tools),
            fix: "`rustup component add --toolchain nightly-2026-04-02 llvm-tools`",
        },
        Piece {
            name: "its rust-src",
            enables: "`core` for the GPU",
            found: component(|toolchain| {
                toolchain.join("lib/rustlib/src/rust/library/core/src/lib.rs").is_file()
            }),
            fix: "`rustup component add --toolchain nightly-2026-04-02 rust-src`",
        },
        Piece {
            name: "LLVM 7",
            enables: "building cuda_builder's compiler",
            found: machine
                .variable("LLVM_CONFIG")
                .filter(|file| file.is_file())
                .or_else(|| machine.program("llvm-config-7"))
                .map(|path| path.display().to_string()),
            fix: "set LLVM_CONFIG to llvm-config of an LLVM 7.x: https://releases.llvm.org/download.html#7.1.0",
        },
        Piece {
            name: "libNVVM",
            enables: "PTX from cuda_builder's compiler",
            found: libnvvm(machine).map(|path| path.display().to_string()),
            fix: "a CUDA toolkit 12 or newer: https://developer.nvidia.com/cuda-downloads",
        },
    ]
}

/// Whether the folder of the toolchain's own target has a library of one of these names.
fn in_targets(toolchain: &Path, unix: &str, windows: &str) -> bool {
    let targets = folders(&toolchain.join("lib/rustlib"), "");
    let libraries = targets.iter().map(|target| target.join("lib"));
    libraries.into_iter().any(|lib| [unix, windows].iter().any(|name| !folders(&lib, name).is_empty()))
}

fn has_llvm_tools(toolchain: &Path) -> bool {
    let targets = folders(&toolchain.join("lib/rustlib"), "");
    targets.iter().any(|target| !folders(&target.join("bin"), "llvm-").is_empty())
}

fn libnvvm(machine: &Machine) -> Option<PathBuf> {
    let in_toolkit = ["nvvm/lib64/libnvvm.so", "nvvm/bin/x64", "nvvm/bin"];
    let places = machine.toolkits().into_iter().flat_map(|kit| in_toolkit.map(|place| kit.join(place)));
    places.into_iter().find(|place| place.is_file() || !folders(place, "nvvm64").is_empty())
}

/// The pieces of a group that are there, then the missing ones, each with its fix.
fn group(title: &str, pieces: &[Piece]) -> String {
    let mut table = Builder::default();
    for piece in pieces {
        table.push_record([
            if piece.found.is_some() { "yes" } else { "NO" },
            piece.name,
            piece.found.as_deref().unwrap_or(piece.enables),
        ]);
    }
    let table = table.build().with(Style::empty()).to_string();
    let lines: Vec<_> = table.lines().map(str::trim_end).collect();
    let fixes: String = pieces
        .iter()
        .filter(|piece| piece.found.is_none())
        .map(|piece| format!("  {}: {}\n", piece.name, piece.fix))
        .collect();
    let fixes = if fixes.is_empty() { fixes } else { format!(" to get what is missing:\n{fixes}") };
    format!("{title}\n{}\n{fixes}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use driver::{Capability, CudaVersion, DriverError};

    use super::*;
    use crate::machine::tests::Fake;

    fn missing(pieces: &[Piece]) -> Vec<&'static str> {
        pieces.iter().filter(|piece| piece.found.is_none()).map(|piece| piece.name).collect()
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
            assert!(text.contains(piece.fix) && text.contains(piece.enables), "{text}");
        }
        assert_eq!(missing(&for_builder(machine)).len(), for_builder(machine).len());
    }

    #[test]
    #[cfg(unix)]
    fn a_full_machine_lacks_nothing() {
        let nightly = "home/.rustup/toolchains/nightly-2026-04-02-x86_64-unknown-linux-gnu/lib/rustlib";
        let in_nightly = ["x/lib/librustc_driver-1.so", "x/bin/llvm-nm", "src/rust/library/core/src/lib.rs"]
            .map(|file| format!("{nightly}/{file}"));
        let kit = ["bin/compute-sanitizer", "bin/ptxas", "bin/nvcc", "nvvm/lib64/libnvvm.so"]
            .map(|file| format!("usr/local/cuda/{file}"));
        let others = ["bin/cc".to_owned(), "llvm7/llvm-config".to_owned()];
        let files: Vec<_> = in_nightly.iter().chain(&kit).chain(&others).map(String::as_str).collect();
        let variables = [("PATH", "bin"), ("HOME", "home"), ("LLVM_CONFIG", "llvm7/llvm-config")];
        let Fake(machine) = &Fake::new(&files, &variables);
        let pieces = for_card(machine, &Ok(t4()), Some("rustc 1.95.0".into()));
        assert_eq!(missing(&pieces), [""; 0]);
        assert_eq!(missing(&for_builder(machine)), [""; 0]);
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
