//! The project's kernels as the PTX that is kept in the repository, and launches of it on the engine that executes
//! PTX. No compiler for the GPU is needed.

use std::collections::HashMap;
use std::sync::OnceLock;

use anyhow::{Context, Result, anyhow, bail};
use cuda_std::emulator::{Report, Schedule, Trace};
use race::limits::Dim3;
use simt::{Kernel, Launch, Memory};

use crate::library::is_library;

/// Where it is, from the root of the project.
const FILE: &str = "kernels-gpu/ptx/verdict.ptx";
/// What it says.
const TEXT: &str = include_str!("../../kernels-gpu/ptx/verdict.ptx");
/// What its first line begins with; the fingerprint of the sources follows.
const MADE_OF: &str = "// made of sources ";
/// What makes it.
const COMMAND: &str = "cargo xtask ptx --for verdict --keep";

/// An argument of a kernel.
#[derive(Debug)]
pub(crate) enum Argument<'a> {
    /// A slice: a pointer and a length.
    Slice(&'a str, &'a [f32]),
    /// A pointer to what the kernel may change.
    Buffer(&'a str, &'a mut [f32]),
    /// A number.
    Number(u32),
}

/// Looks whether the PTX was made of the kernels as they are now.
///
/// # Errors
///
/// If they have changed since, or cannot be read.
pub fn check() -> Result<()> {
    let now = command::fingerprint::folder(&command::project::root()?.join("kernels-gpu/src"))?;
    let made_of = TEXT.lines().next().and_then(|line| line.strip_prefix(MADE_OF));
    if made_of != Some(&*now) {
        bail!("{FILE} is not of kernels-gpu/src as it is now; `{COMMAND}` makes it anew");
    }
    Ok(())
}

/// Launches a kernel, and leaves what it wrote in its buffers.
pub(crate) fn launch(
    name: &str,
    grid: impl Into<Dim3>,
    block: impl Into<Dim3>,
    schedule: &Schedule,
    arguments: &mut [Argument<'_>],
) -> Result<(Report, Trace)> {
    let kernel = kernel(name)?;
    let mut memory = Memory::new();
    let (mut values, mut buffers) = (Vec::new(), Vec::new());
    for (index, argument) in arguments.iter().enumerate() {
        let (name, elements): (_, &[f32]) = match argument {
            Argument::Number(number) => {
                values.push(number.to_le_bytes().to_vec());
                continue;
            }
            Argument::Slice(name, elements) => (name, elements),
            Argument::Buffer(name, elements) => (name, elements),
        };
        let bytes: Vec<u8> = elements.iter().flat_map(|element| element.to_le_bytes()).collect();
        let pointer = memory.alloc(name, &bytes, size_of::<f32>() as u32);
        values.push(pointer.0.to_le_bytes().to_vec());
        if matches!(argument, Argument::Slice(..)) {
            values.push((elements.len() as u64).to_le_bytes().to_vec());
        } else {
            buffers.push((index, pointer));
        }
    }
    let outcome = Launch::new(grid, block)
        .schedule(schedule.clone())
        .run(kernel, &mut memory, &values)
        .map_err(|error| anyhow!("{name}: {error}"))?;
    for (index, pointer) in buffers {
        let Argument::Buffer(_, elements) = &mut arguments[index] else { continue };
        let bytes = memory.read(pointer).context("the buffer was just made")?;
        for (element, bytes) in elements.iter_mut().zip(bytes.as_chunks().0) {
            *element = f32::from_le_bytes(*bytes);
        }
    }
    Ok((outcome.report, outcome.trace))
}

fn kernel(name: &str) -> Result<&'static Kernel> {
    static KERNELS: OnceLock<Result<HashMap<String, Kernel>, String>> = OnceLock::new();
    let kernels = KERNELS.get_or_init(|| load().map_err(|error| format!("{error:#}")));
    let kernels = kernels.as_ref().map_err(|error| anyhow!("{error}"))?;
    kernels.get(name).with_context(|| format!("{FILE} has no kernel `{name}`; `{COMMAND}` makes it anew"))
}

fn load() -> Result<HashMap<String, Kernel>> {
    let module = ptx::parse(TEXT).map_err(|error| anyhow!("{FILE}: {error}"))?;
    let kernels = module.functions.iter().filter(|function| function.entry);
    let load = |name: &String| {
        let kernel = Kernel::load(&module, name, FILE, is_library);
        Ok((name.clone(), kernel.map_err(|error| anyhow!("{FILE}: {error}"))?))
    };
    kernels.map(|function| load(&function.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ptx_is_of_the_kernels_as_they_are() {
        check().expect("it is up to date");
    }

    #[test]
    fn the_ptx_names_no_place_outside_the_project() {
        let module = ptx::parse(TEXT).expect("PTX");
        for file in &module.files {
            let inside = ["kernels-gpu/src/", "emulator/src/", "rust/library/"];
            assert!(inside.iter().any(|folder| file.starts_with(folder)), "{file}");
        }
    }
}
