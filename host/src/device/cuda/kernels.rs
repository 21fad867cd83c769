//! The kernels as PTX, and whether the card of this machine takes them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use driver::{Card, Ptx};

/// A PTX file that the driver and the first card of this machine take. Nothing is loaded yet, and nothing on
/// the card is touched.
#[derive(Clone, Debug)]
pub struct Kernels {
    pub(super) path: PathBuf,
    pub(super) text: String,
    pub(super) card: Card,
    ptx: Ptx,
}

impl Kernels {
    /// Reads the file and looks for the card.
    ///
    /// # Errors
    ///
    /// If there is no driver or no card, or if they cannot run this PTX.
    pub fn read(path: &Path) -> Result<Self> {
        let reading = || format!("reading {}", path.display());
        let text = fs::read_to_string(path).with_context(reading)?;
        let ptx = Ptx::read(&text).with_context(reading)?;
        let card = driver::probe()?;
        // The driver would only say "invalid PTX" or "no kernel image", and not what to do.
        ptx.fits(card.driver, card.capability).with_context(|| path.display().to_string())?;
        Ok(Self { path: path.to_owned(), text, card, ptx })
    }

    /// The card, the driver and the PTX, in one line.
    #[must_use]
    pub fn describe(&self) -> String {
        let Card { name, capability, driver, .. } = &self.card;
        let Ptx { version, target, compiler } = &self.ptx;
        format!(
            "{name} (compute capability {capability}), driver for CUDA {driver}, PTX {version} for {target} by \
             {compiler}"
        )
    }
}
