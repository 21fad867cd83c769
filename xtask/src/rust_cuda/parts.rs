//! What cuda_builder needs of a machine.

use std::env::consts;
use std::path::{Path, PathBuf};
use std::{env, fs};

use driver::CudaVersion;

use super::toolchain::{self, Toolchain};
use super::{NIGHTLY, short_revision};
use crate::machine::{Machine, folders};
use crate::piece::{Missing, Piece};

/// Everything that cuda_builder needs.
pub(crate) struct Parts {
    pub(crate) toolchain: Toolchain,
    /// A backend that is built already, or else the LLVM to build it with.
    pub(crate) backend: Result<PathBuf, Llvm>,
    pub(crate) toolkit: Toolkit,
}

impl Parts {
    /// Finds everything, or says what is missing first.
    pub(crate) fn find(machine: &Machine) -> Result<Self, Missing> {
        let toolchain = Toolchain::find(machine)?;
        toolchain.rust_src()?;
        let backend = match built_backend(machine) {
            Some(backend) => Ok(backend),
            None => {
                toolchain.rustc_dev()?;
                toolchain.llvm_tools()?;
                Err(Llvm::find(machine)?)
            }
        };
        let toolkit = Toolkit::find(machine)?;
        libclang(machine)?;
        Ok(Self { toolchain, backend, toolkit })
    }

    /// The compiler, with the versions of all that it is made of.
    pub(crate) fn describe(&self, machine: &Machine) -> String {
        let backend = match &self.backend {
            Ok(_) => String::new(),
            Err(llvm) => format!(", LLVM {}", llvm.version),
        };
        format!(
            "cuda_builder {} ({}{backend}, libNVVM of CUDA {})",
            short_revision(),
            self.toolchain.version(machine),
            self.toolkit.version
        )
    }
}

/// What [`Parts::find`] finds, piece by piece.
pub(crate) fn pieces(machine: &Machine) -> Vec<Piece> {
    const COMPILER: &str = "cuda_builder's compiler";
    let toolchain = Toolchain::find(machine);
    let component = |name, enables, there: fn(&Toolchain) -> Result<String, Missing>| Piece {
        name,
        enables,
        found: toolchain.as_ref().map_err(Clone::clone).and_then(there),
    };
    let mut pieces = vec![
        Piece {
            // A learner's word goes before the pinned one.
            name: if toolchain::named(machine).is_some() { "RUSTUP_TOOLCHAIN" } else { NIGHTLY },
            enables: COMPILER,
            found: toolchain.as_ref().map(|found| found.sysroot.display().to_string()).map_err(Clone::clone),
        },
        component("its rust-src", "`core` for the GPU", Toolchain::rust_src),
    ];
    match built_backend(machine) {
        Some(backend) => pieces.push(Piece {
            name: "built backend",
            enables: COMPILER,
            found: Ok(backend.display().to_string()),
        }),
        None => pieces.extend([
            component("its rustc-dev", COMPILER, Toolchain::rustc_dev),
            component("its llvm-tools", COMPILER, Toolchain::llvm_tools),
            Piece {
                name: "LLVM 7",
                enables: "building cuda_builder's compiler",
                found: Llvm::find(machine)
                    .map(|llvm| format!("{} ({})", llvm.version, llvm.config.display())),
            },
        ]),
    }
    pieces.extend([
        Piece {
            name: "libNVVM",
            enables: "PTX from cuda_builder's compiler",
            found: Toolkit::find(machine)
                .map(|kit| format!("of CUDA {} ({}){}", kit.version, kit.root.display(), kit.wants())),
        },
        Piece { name: "libclang", enables: "cuda_builder's bindings to libNVVM", found: libclang(machine) },
    ]);
    pieces
}

/// An LLVM 7, by its llvm-config.
#[derive(Debug)]
pub(crate) struct Llvm {
    pub(crate) config: PathBuf,
    version: String,
}

impl Llvm {
    fn find(machine: &Machine) -> Result<Self, Missing> {
        let missing = |why| Missing {
            why,
            fix: "set LLVM_CONFIG to the llvm-config of an LLVM 7.x, built from \
                  https://releases.llvm.org/download.html#7.1.0, or use a container image of Rust-CUDA \
                  (docs/rust-cuda.md), which has one",
        };
        let config = machine
            .variable("LLVM_CONFIG")
            .or_else(|| machine.program("llvm-config-7"))
            .or_else(|| machine.program("llvm-config"))
            .ok_or_else(|| missing("no LLVM 7".to_owned()))?;
        let version = machine
            .output(&config, "--version")
            .ok_or_else(|| missing(format!("{} does not run", config.display())))?;
        if version.starts_with("7.") {
            Ok(Self { config, version })
        } else {
            Err(missing(format!("{} is of LLVM {version}, not 7", config.display())))
        }
    }
}

/// A CUDA toolkit with libNVVM.
#[derive(Debug)]
pub(crate) struct Toolkit {
    pub(crate) root: PathBuf,
    /// Where libNVVM lies.
    pub(crate) library: PathBuf,
    version: String,
}

impl Toolkit {
    /// The first that will do; if none does, what is wrong with the first.
    fn find(machine: &Machine) -> Result<Self, Missing> {
        let mut wrong = None;
        for root in machine.toolkits() {
            match Self::at(&root) {
                Ok(found) => return Ok(found),
                Err(why) => _ = wrong.get_or_insert(why),
            }
        }
        Err(Missing {
            why: wrong.unwrap_or_else(|| "no CUDA toolkit".to_owned()),
            fix: "a CUDA toolkit 12 or newer: https://developer.nvidia.com/cuda-downloads; CUDA_PATH names one that \
                  is not in the usual place",
        })
    }

    fn at(root: &Path) -> Result<Self, String> {
        let place = root.display();
        let header = fs::read_to_string(root.join("include/cuda.h"))
            .map_err(|_| format!("the CUDA toolkit {place} has no include/cuda.h"))?;
        let number = header.lines().find_map(|line| {
            line.trim().strip_prefix("#define CUDA_VERSION")?.split_whitespace().next()?.parse::<u32>().ok()
        });
        let number = number.ok_or_else(|| format!("{place}/include/cuda.h has no CUDA_VERSION"))?;
        let version = format!("{}.{}", number / 1000, number / 10 % 100);
        if number < 12000 {
            return Err(format!("the CUDA toolkit {place} is {version}, older than 12"));
        }
        let (folder, linked) =
            if cfg!(windows) { ("nvvm/lib/x64", "nvvm.lib") } else { ("nvvm/lib64", "libnvvm.so") };
        if !root.join(folder).join(linked).is_file() {
            return Err(format!("the CUDA toolkit {place} has no libNVVM ({folder}/{linked})"));
        }
        // Windows loads it from another folder than it links it from.
        let library = root.join(if cfg!(windows) { "nvvm/bin" } else { folder });
        Ok(Self { root: root.to_owned(), library, version })
    }
}

impl Toolkit {
    /// What its PTX wants of a driver, where that is known. libNVVM writes the newest version that its CUDA has.
    fn wants(&self) -> String {
        let number = |part: Option<&str>| part?.parse().ok();
        let mut parts = self.version.split('.');
        let version = number(parts.next()).zip(number(parts.next()));
        let ptx = version.and_then(|(major, minor)| CudaVersion { major, minor }.newest_ptx());
        let needs = ptx.and_then(|(ptx, _)| Some((ptx, ptx.needs()?)));
        needs.map_or_else(String::new, |(ptx, (cuda, branch))| {
            format!(": its PTX {ptx} needs a driver for CUDA {cuda} (branch {branch}) or newer")
        })
    }
}

/// The variable that says where the loader looks for libraries.
pub(crate) const LIBRARY_PATH: &str = if cfg!(windows) {
    "PATH"
} else if cfg!(target_os = "macos") {
    "DYLD_FALLBACK_LIBRARY_PATH"
} else {
    "LD_LIBRARY_PATH"
};

/// A backend that somebody has built, on the library path.
fn built_backend(machine: &Machine) -> Option<PathBuf> {
    let name = format!("{}rustc_codegen_nvvm{}", consts::DLL_PREFIX, consts::DLL_SUFFIX);
    let path = machine.variables.get(LIBRARY_PATH.as_ref() as &std::ffi::OsStr)?;
    env::split_paths(path).map(|dir| dir.join(&name)).find(|file| file.is_file())
}

/// bindgen's; it makes the bindings to libNVVM at build time.
fn libclang(machine: &Machine) -> Result<String, Missing> {
    if let Some(named) = machine.variable("LIBCLANG_PATH") {
        return Ok(named.display().to_string());
    }
    if !cfg!(target_os = "linux") {
        return Ok("found by bindgen".to_owned());
    }
    let mut places: Vec<_> =
        ["usr/lib", "usr/lib64", "usr/local/lib"].map(|place| machine.root.join(place)).into();
    for place in places.clone() {
        // Debian's folders of one LLVM and of one architecture, Fedora's of one LLVM.
        places.extend(folders(&place, "llvm").into_iter().map(|llvm| llvm.join("lib")));
        places.extend(folders(&place, consts::ARCH));
    }
    let is_library = |file: &PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        // Not libclang-cpp.so.
        let rest = name.strip_prefix("libclang").unwrap_or_default();
        rest.starts_with(".so")
            || rest.strip_prefix('-').is_some_and(|rest| rest.starts_with(char::is_numeric))
    };
    let mut files = places.iter().flat_map(|place| folders(place, "libclang"));
    files.find(is_library).map(|file| file.display().to_string()).ok_or_else(|| Missing {
        why: "no libclang".to_owned(),
        fix: "on Debian and Ubuntu `sudo apt-get install libclang-dev`; LIBCLANG_PATH names the folder of one that \
              is not in the usual place",
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
