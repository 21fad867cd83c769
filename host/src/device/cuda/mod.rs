//! An NVIDIA card as a device.

mod module;
mod wait;

use std::ffi::c_void;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use cuda_std::emulator::Report;
use cust::context::Context;
use cust::error::CudaError;
use cust::event::{Event, EventFlags};
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use driver::{Card, DriverError, Ptx};

use super::{Device, Kernel};

/// The first card of this machine, with the kernels loaded.
#[derive(Debug)]
pub struct Cuda {
    card: Card,
    ptx: Ptx,
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
        let reading = || format!("reading {}", path.display());
        let text = fs::read_to_string(path).with_context(reading)?;
        let ptx = Ptx::read(&text).with_context(reading)?;
        let card = driver::probe()?;
        // The driver would only say "invalid PTX" or "no kernel image", and not what to do.
        ptx.fits(card.driver, card.capability).with_context(|| path.display().to_string())?;

        let opening = || format!("opening {}", card.name);
        cust::init(cust::CudaFlags::empty()).doing(opening)?;
        let device = cust::device::Device::get_device(0).doing(opening)?;
        let context = Context::new(device).doing(opening)?;
        let module = module::load(&text, path)?;
        // Ordered with the copies, which go over the default stream.
        let stream = Stream::new(StreamFlags::DEFAULT, None).doing(opening)?;
        Ok(Self { card, ptx, patience, module, stream, _context: context })
    }
}

impl Device for Cuda {
    fn describe(&self) -> String {
        let Card { name, capability, driver, .. } = &self.card;
        let Ptx { version, target, compiler } = &self.ptx;
        format!(
            "{name} (compute capability {capability}), driver for CUDA {driver}, PTX {version} for {target} by \
             {compiler}"
        )
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
        let what = format!("{}, {block} threads a block", kernel.name());
        let doing = |step: &str| format!("{step} {what}");
        let blocks = u32::try_from(input.len().div_ceil(block as usize)).context("too many blocks")?;
        let function = self.module.get_function(kernel.name()).doing(|| doing("finding"))?;
        let device_input = DeviceBuffer::from_slice(input).doing(|| doing("copying the input of"))?;
        // This carries the poison over: what the kernel leaves alone stays poison.
        let device_out = DeviceBuffer::from_slice(out).doing(|| doing("poisoning the output of"))?;

        // As the kernels declare them: a slice is two parameters, pointer and length.
        let mut pointer = device_input.as_device_ptr().as_raw();
        let mut length = input.len() as u64;
        let mut result = device_out.as_device_ptr().as_raw();
        let mut parameters: Vec<*mut c_void> =
            vec![(&raw mut pointer).cast(), (&raw mut length).cast(), (&raw mut result).cast()];
        let mut prefix: u32;
        if let Kernel::ReverseTilePrefix { keep } = kernel {
            prefix = keep;
            parameters.push((&raw mut prefix).cast());
        }
        let ended = Event::new(EventFlags::DISABLE_TIMING).doing(|| doing("launching"))?;
        // SAFETY: the parameters are those of the kernel in number and type, and they and the two buffers
        // outlive the launch, which is waited for below. The racy kernel's race is in shared memory and
        // yields one value or another.
        unsafe { self.stream.launch(&function, blocks, block, 0, &parameters) }
            .doing(|| doing("launching"))?;
        ended.record(&self.stream).doing(|| doing("launching"))?;
        wait::until(&ended, self.patience, &doing("running"))?;
        device_out.copy_to(out).doing(|| doing("copying the output of"))?;
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
