//! A launch: any kernel of the PTX, by its name.

use std::ffi::c_void;

use anyhow::{Result, bail};
use cust::event::{Event, EventFlags};
use cust::function::Function;
use cust::memory::{CopyDestination, DeviceBuffer};

use super::{Cuda, Doing, wait};

/// What a kernel is given.
#[derive(Debug)]
pub enum Argument<'a> {
    /// A `&[f32]`, which is copied to the card.
    Slice(&'a [f32]),
    /// A `*mut f32`: what is here is copied to the card, poison included, and copied back in the end.
    Buffer(&'a mut [f32]),
    /// A `u32`.
    Number(u32),
}

impl Argument<'_> {
    /// The sizes in bytes of the parameters that it takes: a slice is two, pointer and length.
    fn sizes(&self) -> &'static [u32] {
        match self {
            Self::Slice(_) => &[8, 8],
            Self::Buffer(_) => &[8],
            Self::Number(_) => &[4],
        }
    }
}

impl Cuda {
    /// Launches kernels with the same arguments, one after the other, on a grid and in blocks of these sizes
    /// along x and y, and waits for the last one.
    ///
    /// # Errors
    ///
    /// If the PTX has no such kernel, or one with other parameters; if the launch cannot be made or ends in
    /// a fault.
    pub fn run(
        &mut self,
        kernels: &[&str],
        grid: (u32, u32),
        block: (u32, u32),
        arguments: &mut [Argument<'_>],
    ) -> Result<()> {
        let what = format!("{}, {} threads a block", kernels.join(" and "), block.0 * block.1);
        let doing = |step: &str| format!("{step} {what}");
        let functions =
            kernels.iter().map(|kernel| self.function(kernel, arguments)).collect::<Result<Vec<_>>>()?;

        let mut parameters: Vec<u64> = Vec::new();
        let mut buffers = Vec::new();
        for argument in &*arguments {
            let (elements, step): (&[f32], _) = match argument {
                Argument::Slice(elements) => (elements, "copying the input of"),
                Argument::Buffer(elements) => (elements, "poisoning the output of"),
                Argument::Number(number) => {
                    parameters.push(u64::from(*number));
                    buffers.push(None);
                    continue;
                }
            };
            let buffer = DeviceBuffer::from_slice(elements).doing(|| doing(step))?;
            parameters.push(buffer.as_device_ptr().as_raw());
            if matches!(argument, Argument::Slice(_)) {
                parameters.push(elements.len() as u64);
            }
            buffers.push(Some(buffer));
        }
        // The driver reads as many bytes as the kernel declares: of a number the lower four, which come first
        // on every machine that the driver is made for.
        let parameters: Vec<*mut c_void> =
            parameters.iter_mut().map(|slot| (&raw mut *slot).cast()).collect();

        let ended = Event::new(EventFlags::DISABLE_TIMING).doing(|| doing("launching"))?;
        for function in &functions {
            // SAFETY: the parameters are those of the kernel in number and size, as `function` has seen, and
            // they and the buffers outlive the launch, which is waited for below. What a kernel does beyond
            // its contract happens on the card, which stops it at memory that is not this program's.
            unsafe { self.stream.launch(function, grid, block, 0, &parameters) }
                .doing(|| doing("launching"))?;
        }
        ended.record(&self.stream).doing(|| doing("launching"))?;
        wait::until(&ended, self.patience, &doing("running"))?;
        for (argument, buffer) in arguments.iter_mut().zip(&buffers) {
            if let (Argument::Buffer(out), Some(buffer)) = (argument, buffer) {
                buffer.copy_to(out).doing(|| doing("copying the output of"))?;
            }
        }
        Ok(())
    }

    /// The kernel of this name, if these are arguments for it.
    fn function(&self, kernel: &str, arguments: &[Argument<'_>]) -> Result<Function<'_>> {
        let path = self.kernels.path.display();
        let Some(declared) = driver::parameters(&self.kernels.text, kernel) else {
            bail!("{path} has no kernel {kernel}; `cargo xtask ptx` makes it anew");
        };
        let given: Vec<u32> = arguments.iter().flat_map(Argument::sizes).copied().collect();
        if declared != given {
            bail!("{kernel} of {path} has parameters of {declared:?} bytes and is given {given:?}");
        }
        Ok(self.module.get_function(kernel).doing(|| format!("finding {kernel}"))?)
    }
}
