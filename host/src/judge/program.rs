//! A kernel of a PTX file, ready to be launched.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use simt::Kernel;

use super::signature::{self, Parameter};
use super::{Args, read};
use crate::library::is_library;

/// A kernel, and what it takes.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) name: String,
    pub(super) kernel: Kernel,
    pub(super) parameters: Vec<Parameter>,
}

impl Program {
    /// The kernel that the command line names, or the only one.
    pub(super) fn read(path: &Path, args: &Args) -> Result<Self> {
        let given = path.display().to_string();
        let shown = args.shown.as_deref().unwrap_or(&given);
        let mut module = ptx::parse(&read(path)?).map_err(|error| anyhow!("{shown}: {error}"))?;
        if module.address_size != 64 {
            bail!("{shown}: addresses of {} bits; this engine has those of 64", module.address_size);
        }
        if let Some(from) = &args.shown_from {
            module.files.iter_mut().for_each(|file| shorten(file, from));
        }
        let kernels = || module.functions.iter().filter(|function| function.entry && function.body.is_some());
        let names = || kernels().map(|kernel| kernel.name.clone()).collect::<Vec<_>>();
        let function = match (&args.kernel, names().len()) {
            (_, 0) => bail!("{shown}: no kernel: the PTX has no .entry"),
            (Some(name), _) => kernels()
                .find(|kernel| kernel.name == *name)
                .with_context(|| format!("{shown}: no kernel `{name}`; there is {}", names().join(", ")))?,
            (None, 1) => kernels().next().context("just counted")?,
            (None, _) => {
                bail!("{shown}: several kernels; choose one with --kernel: {}", names().join(", "))
            }
        };
        let parameters = match &args.signature {
            Some(path) => serde_json::from_str(&read(path)?).context("the signature does not read")?,
            None => signature::infer(function),
        };
        let name = function.name.clone();
        let kernel =
            Kernel::load(&module, &name, shown, is_library).map_err(|error| anyhow!("{shown}: {error}"))?;
        Ok(Self { name, kernel, parameters })
    }
}

/// As a path is shown from here.
fn shorten(file: &mut String, from: &Path) {
    if let Ok(inside) = Path::new(file).strip_prefix(from) {
        *file = inside.display().to_string();
    }
}
