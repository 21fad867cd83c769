//! Functions of floats that `std` does not have either.
//!
//! Rust-CUDA takes them from libdevice; these are the ones that the `libm` crate has, and few others. A kernel
//! that calls another of them (`sinpi`, `norm_cdf`, `error_function`'s inverse and the like) does not compile.

mod private {
    /// Nobody else implements the trait.
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

macro_rules! float_ext {
    (
        $($(#[$doc:meta])* $name:ident($($arg:ident: $ty:ty),*) -> $result:ty = $f32:expr, $f64:expr;)*
    ) => {
        /// More functions of `f32` and `f64`.
        pub trait FloatExt: Sized + private::Sealed {
            $(
                $(#[$doc])*
                fn $name(self $(, $arg: $ty)*) -> $result;
            )*
        }

        impl FloatExt for f32 {$(
            #[inline(always)]
            fn $name(self $(, $arg: $ty)*) -> $result {
                $f32(self $(, $arg)*)
            }
        )*}

        impl FloatExt for f64 {$(
            #[inline(always)]
            fn $name(self $(, $arg: $ty)*) -> $result {
                $f64(self $(, $arg)*)
            }
        )*}
    };
}

float_ext! {
    /// Its error function.
    error_function() -> Self = libm::erff, libm::erf;
    /// 1 less its error function.
    complementary_error_function() -> Self = libm::erfcf, libm::erfc;
    /// Its fraction and its exponent of 2.
    frexp() -> (Self, i32) = libm::frexpf, libm::frexp;
    /// Its unbiased exponent.
    unbiased_exp() -> i32 = libm::ilogbf, libm::ilogb;
    /// Its Bessel function of the first kind, of order 0.
    j0() -> Self = libm::j0f, libm::j0;
    /// Its Bessel function of the first kind, of order 1.
    j1() -> Self = libm::j1f, libm::j1;
    /// Its Bessel function of the first kind.
    jn(order: i32) -> Self = |x, order| libm::jnf(order, x), |x, order| libm::jn(order, x);
    /// It times a power of 2.
    ldexp(exp: i32) -> Self = libm::ldexpf, libm::ldexp;
    /// The logarithm of the absolute value of its gamma function.
    log_gamma() -> Self = libm::lgammaf, libm::lgamma;
    /// The natural logarithm of 1 more.
    log1p() -> Self = libm::log1pf, libm::log1p;
    /// 1 by its cube root.
    rcbrt() -> Self = |x| 1.0 / libm::cbrtf(x), |x| 1.0 / libm::cbrt(x);
    /// It, or the nearer of 0 and 1 if it is not between them; 0 of NaN.
    saturate() -> Self = |x: f32| x.max(0.0).min(1.0), |x: f64| x.max(0.0).min(1.0);
    /// It times a power of 2.
    scale_by_n(exp: i32) -> Self = libm::scalbnf, libm::scalbn;
    /// Its gamma function.
    gamma() -> Self = libm::tgammaf, libm::tgamma;
    /// Its Bessel function of the second kind, of order 0.
    y0() -> Self = libm::y0f, libm::y0;
    /// Its Bessel function of the second kind, of order 1.
    y1() -> Self = libm::y1f, libm::y1;
    /// Its Bessel function of the second kind.
    yn(order: i32) -> Self = |x, order| libm::ynf(order, x), |x, order| libm::yn(order, x);
}
