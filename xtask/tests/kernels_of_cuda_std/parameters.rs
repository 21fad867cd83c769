use cuda_std::{kernel, thread};

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Settings {
    scale: f32,
    offsets: [u64; 3],
    on: bool,
}

#[kernel]
pub unsafe fn parameters(input: &[u16], out: &mut [f32], settings: Settings, byte: i8, wide: i128, one: &f64) {
    let t = thread::index_1d() as usize;
    let offset = settings.offsets[t % 3] as usize + byte as usize + wide as usize;
    if settings.on {
        out[t] = f32::from(input[t + offset]) * settings.scale + *one as f32;
    }
}

#[kernel]
pub unsafe fn nothing() {}
