//! A driver that is made up: its card's memory is the process's own, and it knows some kernels by name. `main.rs` compiles it to the driver's library, with a line for each function that is not here.
//!
//! `FAKE_DRIVER` steers it: `version=12020,capability=75,fail=cuMemAlloc_v2:2`. With `wedge=64` a launch in
//! blocks of 64 threads never comes back.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::{env, thread};

const SUCCESS: c_uint = 0;
const NOT_FOUND: c_uint = 500;

/// The value of a key in `FAKE_DRIVER`.
fn setting(key: &str) -> Option<String> {
    let settings = env::var("FAKE_DRIVER").ok()?;
    settings.split(',').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('=').map(str::to_owned))
}

fn number(key: &str, default: c_int) -> c_int {
    setting(key).and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// The code with which this function is to fail, if it is.
fn failure(function: &str) -> Option<c_uint> {
    let setting = setting("fail")?;
    let (name, code) = setting.split_once(':')?;
    (name == function).then(|| code.parse().ok())?
}

/// Defines functions of the driver that do something and succeed, unless they are told to fail.
macro_rules! functions {
    ($(fn $name:ident($($argument:ident: $of:ty),*) $body:block)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $of),*) -> c_uint {
            match failure(stringify!($name)) {
                Some(code) => code,
                None => unsafe { $body },
            }
        }
    )*};
}

type Handle = *mut c_void;

/// Any address that is not null.
const HANDLE: Handle = 8 as Handle;

/// Handles of functions.
const KERNELS: [&str; 9] = [
    "reverse_tile_racy",
    "reverse_tile_synced",
    "reverse_tile_prefix",
    "reverse_tile",
    "barrier_in_both_arms",
    "reverse_tile_textbook",
    "first_launch",
    "second_launch",
    "tiled_multiply",
];

/// A kernel's parameters.
struct Parameters(*const *const c_void);

impl Parameters {
    unsafe fn pointer(&self, index: usize) -> *mut f32 {
        unsafe { *(*self.0.add(index)).cast::<*mut f32>() }
    }

    unsafe fn length(&self, index: usize) -> usize {
        unsafe { *(*self.0.add(index)).cast::<u64>() as usize }
    }

    unsafe fn number(&self, index: usize) -> usize {
        unsafe { *(*self.0.add(index)).cast::<u32>() as usize }
    }
}

unsafe fn reverse_tiles(parameters: &Parameters, blocks: usize, block: usize, tile: usize) {
    unsafe {
        let (input, length, out) = (parameters.pointer(0), parameters.length(1), parameters.pointer(2));
        for start in (0..blocks).map(|index| index * block) {
            for thread in (0..tile).filter(|thread| start + thread < length) {
                let from = start + tile - 1 - thread;
                *out.add(start + thread) = if from < length { *input.add(from) } else { 0.0 };
            }
        }
    }
}

unsafe fn multiply(parameters: &Parameters, side: usize) {
    unsafe {
        let n = parameters.number(5);
        assert!(side == n && parameters.length(1) == n * n && parameters.length(3) == n * n);
        let (a, b) = (parameters.pointer(0), parameters.pointer(2));
        for (row, column) in (0..n * n).map(|i| (i / n, i % n)) {
            let products = (0..n).map(|k| *a.add(row * n + k) * *b.add(k * n + column));
            *parameters.pointer(4).add(row * n + column) = products.sum();
        }
    }
}

functions! {
    fn cuInit(_flags: c_uint) { SUCCESS }

    fn cuDriverGetVersion(version: *mut c_int) {
        *version = number("version", 12040);
        SUCCESS
    }

    fn cuDeviceGetCount(count: *mut c_int) {
        *count = number("count", 1);
        SUCCESS
    }

    fn cuDeviceGet(device: *mut c_int, _ordinal: c_int) {
        *device = 0;
        SUCCESS
    }

    fn cuDeviceGetName(name: *mut c_char, _length: c_int, _device: c_int) {
        name.copy_from(c"Made-up Card".as_ptr(), 13);
        SUCCESS
    }

    fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, _device: c_int) {
        let capability = number("capability", 75);
        *value = match attribute {
            75 => capability / 10,
            76 => capability % 10,
            _ => return 1,
        };
        SUCCESS
    }

    fn cuDevicePrimaryCtxRetain(context: *mut Handle, _device: c_int) {
        *context = HANDLE;
        SUCCESS
    }

    fn cuDevicePrimaryCtxRelease_v2(_device: c_int) { SUCCESS }

    fn cuCtxSetCurrent(_context: Handle) { SUCCESS }

    fn cuModuleUnload(_module: Handle) { SUCCESS }

    fn cuModuleGetFunction(function: *mut Handle, _module: Handle, name: *const c_char) {
        let name = CStr::from_ptr(name).to_string_lossy();
        match KERNELS.iter().position(|kernel| *kernel == name) {
            Some(index) => *function = (index + 1) as Handle,
            None => return NOT_FOUND,
        }
        SUCCESS
    }

    fn cuStreamCreateWithPriority(stream: *mut Handle, _flags: c_uint, _priority: c_int) {
        *stream = HANDLE;
        SUCCESS
    }

    fn cuStreamDestroy_v2(_stream: Handle) { SUCCESS }

    fn cuEventCreate(event: *mut Handle, _flags: c_uint) {
        *event = HANDLE;
        SUCCESS
    }

    fn cuEventRecord(_event: Handle, _stream: Handle) { SUCCESS }

    fn cuEventQuery(_event: Handle) { SUCCESS }

    fn cuEventDestroy_v2(_event: Handle) { SUCCESS }

    fn cuMemAlloc_v2(pointer: *mut u64, bytes: usize) {
        *pointer = Vec::leak(vec![0_u64; bytes.div_ceil(8)]).as_mut_ptr() as u64;
        SUCCESS
    }

    fn cuMemFree_v2(_pointer: u64) { SUCCESS }

    fn cuMemcpyHtoD_v2(to: u64, from: *const u8, bytes: usize) {
        (to as *mut u8).copy_from(from, bytes);
        SUCCESS
    }

    fn cuMemcpyDtoH_v2(to: *mut u8, from: u64, bytes: usize) {
        to.copy_from(from as *const u8, bytes);
        SUCCESS
    }

    fn cuLaunchKernel(
        function: Handle, blocks: c_uint, blocks_y: c_uint, _z: c_uint, block: c_uint, block_y: c_uint,
        _bz: c_uint, _shared: c_uint, _stream: Handle, parameters: *const *const c_void, _extra: Handle
    ) {
        while number("wedge", 0) == (block * block_y) as c_int {
            thread::park();
        }
        let parameters = &Parameters(parameters);
        let (blocks, block) = (blocks as usize, block as usize);
        match KERNELS[function as usize - 1] {
            "reverse_tile_prefix" => reverse_tiles(parameters, blocks, block, parameters.number(3)),
            "first_launch" => {
                parameters.pointer(2).copy_from(parameters.pointer(0), parameters.length(1));
            }
            "second_launch" => {
                let (cells, out, length) = (parameters.pointer(2), parameters.pointer(3), parameters.length(1));
                (0..length).for_each(|i| *out.add(i) = *cells.add(length - 1 - i));
            }
            "tiled_multiply" => {
                assert!(blocks == blocks_y as usize && block == block_y as usize);
                multiply(parameters, blocks * block);
            }
            _ => reverse_tiles(parameters, blocks, block, block),
        }
        SUCCESS
    }
}

/// Fails as it is told, and then writes why.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadDataEx(
    module: *mut Handle,
    _image: *const c_void,
    count: c_uint,
    _options: *const c_uint,
    values: *const *mut c_void,
) -> c_uint {
    let Some(code) = failure("cuModuleLoadDataEx") else {
        unsafe { *module = HANDLE };
        return SUCCESS;
    };
    if count == 2 {
        let log = c"ptxas application ptx input, line 9; fatal   : Parsing error\n\n";
        unsafe { (*values).cast::<c_char>().copy_from(log.as_ptr(), log.count_bytes() + 1) };
    }
    code
}
