use cuda_std::{FloatExt, GpuFloat, kernel, thread};

#[kernel]
pub unsafe fn instructions(x: &[f32], y: &[f64], out: *mut f64) {
    let t = thread::thread_idx_x() as usize;
    let a = x[t].sqrt().floor().mul_add(x[t].ceil(), x[t].trunc()).abs().copysign(x[t]);
    let b = y[t].sqrt().round().fract();
    unsafe { out.add(t).write(f64::from(a) + b) };
}

#[kernel]
pub unsafe fn functions(x: &[f32], y: &[f64], out: *mut f64) {
    let t = thread::thread_idx_x() as usize;
    let (sin, cos) = x[t].sin_cos();
    let a = x[t].exp().sin() + x[t].ln() * x[t].powf(0.5) + x[t].powi(3) + sin * cos;
    let b = y[t].tanh() + y[t].log2() + y[t].hypot(1.0) + y[t].error_function();
    unsafe { out.add(t).write(f64::from(a.saturate()) + b) };
}
