//! An NVIDIA card as a device.

mod kernels;
mod launch;
mod module;
mod wait;

use std::path::Path;

use anyhow::{Context as _, Result};
use cuda_std::emulator::Report;
use cust::context::Context;
use cust::error::CudaError;
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use driver::DriverError;

use super::{Device, Kernel};

pub use kernels::Kernels;
pub use launch::Argument;
pub(crate) use wait::leave;

/// The first card of this machine, with the kernels loaded.
#[derive(Debug)]
pub struct Cuda {
    kernels: Kernels,
    patience: u32,
    // Dropped in this order: the context has to outlive what was made in it.
    module: Module,
    stream: Stream,
    _context: Context,
}

impl Cuda {
    /// Opens the card and loads the kernels from a PTX file. A launch may take `patience` seconds.
    ///
    /// # Errors
    ///
    /// If there is no driver or no card, or if they cannot run this PTX.
    pub fn open(path: &Path, patience: u32) -> Result<Self> {
        let kernels = Kernels::read(path)?;
        let opening = || format!("opening {}", kernels.card.name);
        cust::init(cust::CudaFlags::empty()).doing(opening)?;
        let device = cust::device::Device::get_device(0).doing(opening)?;
        let context = Context::new(device).doing(opening)?;
        let module = module::load(&kernels.text, path)?;
        // Ordered with the copies, which go over the default stream.
        let stream = Stream::new(StreamFlags::DEFAULT, None).doing(opening)?;
        Ok(Self { kernels, patience, module, stream, _context: context })
    }
}

impl Device for Cuda {
    fn describe(&self) -> String {
        self.kernels.describe()
    }

    fn headline(&self) -> String {
        format!("GPU: {}", self.describe())
    }

    fn launch(
        &mut self,
        kernel: Kernel,
        block: u32,
        input: &[f32],
        out: &mut [f32],
    ) -> Result<Option<Report>> {
        let blocks = u32::try_from(input.len().div_ceil(block as usize)).context("too many blocks")?;
        let mut arguments = vec![Argument::Slice(input), Argument::Buffer(out)];
        arguments.extend(kernel.keep().map(Argument::Number));
        self.run(&[kernel.name()], (blocks, 1), (block, 1), &mut arguments)?;
        Ok(None)
    }
}

/// Says what was being done when the driver failed.
trait Doing<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, DriverError>;
}

impl<T> Doing<T> for Result<T, CudaError> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, DriverError> {
        self.map_err(|error| DriverError { doing: what(), code: error as u32 })
    }
}
