//! The functions of floats that `core` leaves to `std`.
//!
//! Rust-CUDA takes them from NVIDIA's libdevice. Here PTX's own instructions do what they do exactly (`sqrt`,
//! `floor`, `fma` and the like), and the `libm` crate the rest: its results are right to about one unit in
//! the last place, as libdevice's are, but not always the same.

use core::{f32, f64};

mod private {
    /// Nobody else implements the trait.
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

macro_rules! gpu_float {
    (
        $($(#[$doc:meta])* $name:ident($($arg:ident: $ty:ty),*) -> $result:ty = $f32:expr, $f64:expr;)*
    ) => {
        /// Functions of `f32` and `f64`, named as in `std`.
        pub trait GpuFloat: Copy + PartialOrd + private::Sealed {
            $(
                $(#[$doc])*
                #[must_use = "method returns a new number and does not mutate the original value"]
                fn $name(self $(, $arg: $ty)*) -> $result;
            )*
        }

        impl GpuFloat for f32 {$(
            #[inline(always)]
            fn $name(self $(, $arg: $ty)*) -> $result {
                $f32(self $(, $arg)*)
            }
        )*}

        impl GpuFloat for f64 {$(
            #[inline(always)]
            fn $name(self $(, $arg: $ty)*) -> $result {
                $f64(self $(, $arg)*)
            }
        )*}
    };
}

gpu_float! {
    /// The largest integer not above it.
    floor() -> Self = f32::math::floor, f64::math::floor;
    /// The smallest integer not below it.
    ceil() -> Self = f32::math::ceil, f64::math::ceil;
    /// The nearest integer; of two the one away from 0.
    round() -> Self = f32::math::round, f64::math::round;
    /// Its integer part.
    trunc() -> Self = f32::math::trunc, f64::math::trunc;
    /// What its integer part leaves.
    fract() -> Self = f32::math::fract, f64::math::fract;
    /// Its absolute value.
    abs() -> Self = f32::abs, f64::abs;
    /// 1 with its sign; NaN of NaN.
    signum() -> Self = f32::signum, f64::signum;
    /// Its absolute value with the sign of another.
    copysign(sign: Self) -> Self = f32::copysign, f64::copysign;
    /// It times `a` plus `b`, rounded once.
    mul_add(a: Self, b: Self) -> Self = f32::math::mul_add, f64::math::mul_add;
    /// The quotient of Euclidean division.
    div_euclid(rhs: Self) -> Self = f32::math::div_euclid, f64::math::div_euclid;
    /// The remainder of Euclidean division.
    rem_euclid(rhs: Self) -> Self = f32::math::rem_euclid, f64::math::rem_euclid;
    /// Its power by an integer.
    powi(n: i32) -> Self =
        |x, n| libm::pow(f64::from(x), f64::from(n)) as f32, |x, n| libm::pow(x, f64::from(n));
    /// Its power.
    powf(n: Self) -> Self = libm::powf, libm::pow;
    /// Its square root.
    sqrt() -> Self = f32::math::sqrt, f64::math::sqrt;
    /// e to its power.
    exp() -> Self = libm::expf, libm::exp;
    /// 2 to its power.
    exp2() -> Self = libm::exp2f, libm::exp2;
    /// Its natural logarithm.
    ln() -> Self = libm::logf, libm::log;
    /// Its logarithm to a base.
    log(base: Self) -> Self =
        |x: f32, base: f32| libm::logf(x) / libm::logf(base), |x: f64, base: f64| libm::log(x) / libm::log(base);
    /// Its logarithm to base 2.
    log2() -> Self = libm::log2f, libm::log2;
    /// Its logarithm to base 10.
    log10() -> Self = libm::log10f, libm::log10;
    /// Its cube root.
    cbrt() -> Self = libm::cbrtf, libm::cbrt;
    /// The hypotenuse of a right triangle with these legs.
    hypot(other: Self) -> Self = libm::hypotf, libm::hypot;
    /// Its sine, in radians.
    sin() -> Self = libm::sinf, libm::sin;
    /// Its cosine, in radians.
    cos() -> Self = libm::cosf, libm::cos;
    /// Its tangent, in radians.
    tan() -> Self = libm::tanf, libm::tan;
    /// Its arc sine, in radians.
    asin() -> Self = libm::asinf, libm::asin;
    /// Its arc cosine, in radians.
    acos() -> Self = libm::acosf, libm::acos;
    /// Its arc tangent, in radians.
    atan() -> Self = libm::atanf, libm::atan;
    /// The angle of the point (other, self), in radians.
    atan2(other: Self) -> Self = libm::atan2f, libm::atan2;
    /// Its sine and its cosine.
    sin_cos() -> (Self, Self) = libm::sincosf, libm::sincos;
    /// e to its power, less 1.
    exp_m1() -> Self = libm::expm1f, libm::expm1;
    /// The natural logarithm of 1 more.
    ln_1p() -> Self = libm::log1pf, libm::log1p;
    /// Its hyperbolic sine.
    sinh() -> Self = libm::sinhf, libm::sinh;
    /// Its hyperbolic cosine.
    cosh() -> Self = libm::coshf, libm::cosh;
    /// Its hyperbolic tangent.
    tanh() -> Self = libm::tanhf, libm::tanh;
    /// Its inverse hyperbolic sine.
    asinh() -> Self = libm::asinhf, libm::asinh;
    /// Its inverse hyperbolic cosine.
    acosh() -> Self = libm::acoshf, libm::acosh;
    /// Its inverse hyperbolic tangent.
    atanh() -> Self = libm::atanhf, libm::atanh;
}
