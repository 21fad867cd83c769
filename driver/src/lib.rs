//! What can be known of the CUDA driver without linking it: whether it is there, which PTX it takes, and
//! what its result codes mean for the person at the keyboard.

mod code;
mod entry;
mod library;
mod probe;
mod ptx;
mod version;

pub use code::{DriverError, INVALID_PTX, LAUNCH_TIMEOUT, is_sticky};
pub use entry::parameters;
pub use library::{Absent, LIBRARY};
pub use probe::{Card, probe};
pub use ptx::{COMPILED_BY, Capability, NotPtx, Ptx, Reach, Target, Unfit};
pub use version::{CudaVersion, PtxVersion};
