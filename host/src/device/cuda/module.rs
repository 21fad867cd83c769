//! Loading PTX, with the driver's own words if it fails.

use std::ffi::{CString, c_void};
use std::path::Path;
use std::ptr;

use anyhow::{Context, Result, anyhow};
use cust::module::Module;
use cust::sys::{CUjit_option, cuModuleLoadDataEx, cuModuleUnload};

use super::Doing;

/// Has the driver compile the PTX for the card.
pub(super) fn load(text: &str, path: &Path) -> Result<Module> {
    let image = CString::new(text).with_context(|| format!("{} is not PTX", path.display()))?;
    let loaded = Module::from_ptx_cstr(&image, &[]).doing(|| format!("loading {}", path.display()));
    loaded.map_err(|error| match log(&image) {
        log if log.is_empty() => error.into(),
        log => anyhow!("{error}; the driver's compiler says: {log}"),
    })
}

/// What the driver's compiler says of the PTX, in one line: cust does not ask for it, so this loads the PTX
/// again. Empty if it says nothing.
fn log(image: &CString) -> String {
    let mut log = [0_u8; 8192];
    let mut options =
        [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    // The driver takes the size by value, in the place of a pointer.
    let mut values = [log.as_mut_ptr().cast::<c_void>(), ptr::without_provenance_mut(log.len())];
    let mut module = ptr::null_mut();
    // SAFETY: the image ends in a nul, the two options come with two values of the kinds that they ask for,
    // and all of it outlives the call. The module, if there is one after all, is used nowhere.
    unsafe {
        cuModuleLoadDataEx(&mut module, image.as_ptr().cast(), 2, options.as_mut_ptr(), values.as_mut_ptr());
        if !module.is_null() {
            cuModuleUnload(module);
        }
    }
    let text = String::from_utf8_lossy(log.split(|&byte| byte == 0).next().unwrap_or_default()).into_owned();
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("; ")
}
