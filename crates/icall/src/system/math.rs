//! System.Math and System.MathF: the C library's functions, so that results are Mono's to the last bit.
//!
//! Most are intrinsics of the importer; these rows serve calls through delegates and reflection, and what it leaves out.

use saki_runtime::{CurrentThread, InternalCall};

/// C functions of one argument that `libc` does not declare.
mod c {
    unsafe extern "C" {
        pub(super) safe fn acos(x: f64) -> f64;
        pub(super) safe fn acosf(x: f32) -> f32;
        pub(super) safe fn acosh(x: f64) -> f64;
        pub(super) safe fn acoshf(x: f32) -> f32;
        pub(super) safe fn asin(x: f64) -> f64;
        pub(super) safe fn asinf(x: f32) -> f32;
        pub(super) safe fn asinh(x: f64) -> f64;
        pub(super) safe fn asinhf(x: f32) -> f32;
        pub(super) safe fn atan(x: f64) -> f64;
        pub(super) safe fn atanf(x: f32) -> f32;
        pub(super) safe fn atanh(x: f64) -> f64;
        pub(super) safe fn atanhf(x: f32) -> f32;
        pub(super) safe fn cbrt(x: f64) -> f64;
        pub(super) safe fn cbrtf(x: f32) -> f32;
        pub(super) safe fn ceil(x: f64) -> f64;
        pub(super) safe fn ceilf(x: f32) -> f32;
        pub(super) safe fn cos(x: f64) -> f64;
        pub(super) safe fn cosf(x: f32) -> f32;
        pub(super) safe fn cosh(x: f64) -> f64;
        pub(super) safe fn coshf(x: f32) -> f32;
        pub(super) safe fn exp(x: f64) -> f64;
        pub(super) safe fn expf(x: f32) -> f32;
        pub(super) safe fn floor(x: f64) -> f64;
        pub(super) safe fn floorf(x: f32) -> f32;
        pub(super) safe fn log(x: f64) -> f64;
        pub(super) safe fn logf(x: f32) -> f32;
        pub(super) safe fn log10(x: f64) -> f64;
        pub(super) safe fn log10f(x: f32) -> f32;
        pub(super) safe fn sin(x: f64) -> f64;
        pub(super) safe fn sinf(x: f32) -> f32;
        pub(super) safe fn sinh(x: f64) -> f64;
        pub(super) safe fn sinhf(x: f32) -> f32;
        pub(super) safe fn sqrt(x: f64) -> f64;
        pub(super) safe fn sqrtf(x: f32) -> f32;
        pub(super) safe fn tan(x: f64) -> f64;
        pub(super) safe fn tanf(x: f32) -> f32;
        pub(super) safe fn tanh(x: f64) -> f64;
        pub(super) safe fn tanhf(x: f32) -> f32;
        pub(super) safe fn atan2(x: f64, y: f64) -> f64;
        pub(super) safe fn atan2f(x: f32, y: f32) -> f32;
        pub(super) safe fn pow(x: f64, y: f64) -> f64;
        pub(super) safe fn powf(x: f32, y: f32) -> f32;
        pub(super) safe fn fmod(x: f64, y: f64) -> f64;
        pub(super) safe fn fmodf(x: f32, y: f32) -> f32;
        pub(super) fn modf(x: f64, integer: *mut f64) -> f64;
        pub(super) fn modff(x: f32, integer: *mut f32) -> f32;
    }
}

macro_rules! unary {
    ($($double:ident $single:ident;)*) => {
        mod double {
            $(pub(super) extern "C" fn $double(_t: super::CurrentThread, x: f64) -> f64 { super::c::$double(x) })*
        }
        mod single {
            $(pub(super) extern "C" fn $single(_t: super::CurrentThread, x: f32) -> f32 { super::c::$single(x) })*
        }
    };
}

unary! {
    acos acosf;
    acosh acoshf;
    asin asinf;
    asinh asinhf;
    atan atanf;
    atanh atanhf;
    cbrt cbrtf;
    ceil ceilf;
    cos cosf;
    cosh coshf;
    exp expf;
    floor floorf;
    log logf;
    log10 log10f;
    sin sinf;
    sinh sinhf;
    sqrt sqrtf;
    tan tanf;
    tanh tanhf;
}

extern "C" fn abs_double(_t: CurrentThread, x: f64) -> f64 {
    x.abs()
}

extern "C" fn abs_single(_t: CurrentThread, x: f32) -> f32 {
    x.abs()
}

/// Halves go to the even neighbour, as `Math.Round` is documented.
extern "C" fn round(_t: CurrentThread, x: f64) -> f64 {
    x.round_ties_even()
}

extern "C" fn atan2(_t: CurrentThread, y: f64, x: f64) -> f64 {
    c::atan2(y, x)
}

extern "C" fn atan2f(_t: CurrentThread, y: f32, x: f32) -> f32 {
    c::atan2f(y, x)
}

extern "C" fn pow(_t: CurrentThread, x: f64, y: f64) -> f64 {
    c::pow(x, y)
}

extern "C" fn powf(_t: CurrentThread, x: f32, y: f32) -> f32 {
    c::powf(x, y)
}

extern "C" fn fmod(_t: CurrentThread, x: f64, y: f64) -> f64 {
    c::fmod(x, y)
}

extern "C" fn fmodf(_t: CurrentThread, x: f32, y: f32) -> f32 {
    c::fmodf(x, y)
}

extern "C" fn modf(_t: CurrentThread, x: f64, integer: *mut f64) -> f64 {
    // SAFETY: managed code passes the address of a local.
    unsafe { c::modf(x, integer) }
}

extern "C" fn modff(_t: CurrentThread, x: f32, integer: *mut f32) -> f32 {
    // SAFETY: as above.
    unsafe { c::modff(x, integer) }
}

pub const TABLE: &[InternalCall] = &[
    ("System.Math::Abs(System.Double)", abs_double as *const ()),
    ("System.Math::Abs(System.Single)", abs_single as *const ()),
    ("System.Math::Round", round as *const ()),
    ("System.Math::Acos", double::acos as *const ()),
    ("System.Math::Acosh", double::acosh as *const ()),
    ("System.Math::Asin", double::asin as *const ()),
    ("System.Math::Asinh", double::asinh as *const ()),
    ("System.Math::Atan", double::atan as *const ()),
    ("System.Math::Atanh", double::atanh as *const ()),
    ("System.Math::Cbrt", double::cbrt as *const ()),
    ("System.Math::Ceiling", double::ceil as *const ()),
    ("System.Math::Cos", double::cos as *const ()),
    ("System.Math::Cosh", double::cosh as *const ()),
    ("System.Math::Exp", double::exp as *const ()),
    ("System.Math::Floor", double::floor as *const ()),
    ("System.Math::Log", double::log as *const ()),
    ("System.Math::Log10", double::log10 as *const ()),
    ("System.Math::Sin", double::sin as *const ()),
    ("System.Math::Sinh", double::sinh as *const ()),
    ("System.Math::Sqrt", double::sqrt as *const ()),
    ("System.Math::Tan", double::tan as *const ()),
    ("System.Math::Tanh", double::tanh as *const ()),
    ("System.Math::Atan2", atan2 as *const ()),
    ("System.Math::Pow", pow as *const ()),
    ("System.Math::FMod", fmod as *const ()),
    ("System.Math::ModF", modf as *const ()),
    ("System.MathF::Acos", single::acosf as *const ()),
    ("System.MathF::Acosh", single::acoshf as *const ()),
    ("System.MathF::Asin", single::asinf as *const ()),
    ("System.MathF::Asinh", single::asinhf as *const ()),
    ("System.MathF::Atan", single::atanf as *const ()),
    ("System.MathF::Atanh", single::atanhf as *const ()),
    ("System.MathF::Cbrt", single::cbrtf as *const ()),
    ("System.MathF::Ceiling", single::ceilf as *const ()),
    ("System.MathF::Cos", single::cosf as *const ()),
    ("System.MathF::Cosh", single::coshf as *const ()),
    ("System.MathF::Exp", single::expf as *const ()),
    ("System.MathF::Floor", single::floorf as *const ()),
    ("System.MathF::Log", single::logf as *const ()),
    ("System.MathF::Log10", single::log10f as *const ()),
    ("System.MathF::Sin", single::sinf as *const ()),
    ("System.MathF::Sinh", single::sinhf as *const ()),
    ("System.MathF::Sqrt", single::sqrtf as *const ()),
    ("System.MathF::Tan", single::tanf as *const ()),
    ("System.MathF::Tanh", single::tanhf as *const ()),
    ("System.MathF::Atan2", atan2f as *const ()),
    ("System.MathF::Pow", powf as *const ()),
    ("System.MathF::FMod", fmodf as *const ()),
    ("System.MathF::ModF", modff as *const ()),
];
