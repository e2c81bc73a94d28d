//! System.Math and System.MathF: the C library's functions, so that results are Mono's to the last bit.
//!
//! Most are intrinsics of the importer; these rows serve calls through delegates and reflection, and functions that are
//! no intrinsics.

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
        // Rust brings functions of the plain names, which the linker prefers; the last digits of their results differ.
        #[cfg_attr(target_env = "gnu", link_name = "cbrtf64")]
        pub(super) safe fn cbrt(x: f64) -> f64;
        #[cfg_attr(target_env = "gnu", link_name = "cbrtf32")]
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
        /// Functions of a double.
        pub mod double {
            $(#[doc = concat!("`", stringify!($double), "` of the C library.")] pub fn $double(_t: super::CurrentThread, x: f64) -> f64 { super::c::$double(x) })*
        }
        /// Functions of a float.
        pub mod single {
            $(#[doc = concat!("`", stringify!($single), "` of the C library.")] pub fn $single(_t: super::CurrentThread, x: f32) -> f32 { super::c::$single(x) })*
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

fn abs_double(_t: CurrentThread, x: f64) -> f64 {
    x.abs()
}

fn abs_single(_t: CurrentThread, x: f32) -> f32 {
    x.abs()
}

/// Halves go to the even neighbour, as `Math.Round` is documented.
fn round(_t: CurrentThread, x: f64) -> f64 {
    x.round_ties_even()
}

/// `atan2` of the C library.
pub fn atan2(_t: CurrentThread, y: f64, x: f64) -> f64 {
    c::atan2(y, x)
}

/// `atan2f` of the C library.
pub fn atan2f(_t: CurrentThread, y: f32, x: f32) -> f32 {
    c::atan2f(y, x)
}

/// `pow` of the C library.
pub fn pow(_t: CurrentThread, x: f64, y: f64) -> f64 {
    c::pow(x, y)
}

/// `powf` of the C library.
pub fn powf(_t: CurrentThread, x: f32, y: f32) -> f32 {
    c::powf(x, y)
}

fn fmod(_t: CurrentThread, x: f64, y: f64) -> f64 {
    c::fmod(x, y)
}

fn fmodf(_t: CurrentThread, x: f32, y: f32) -> f32 {
    c::fmodf(x, y)
}

/// `modf` of the C library.
#[expect(clippy::not_unsafe_ptr_arg_deref, reason = "compiled code passes the address of a variable")]
pub fn modf(_t: CurrentThread, x: f64, integer: *mut f64) -> f64 {
    // SAFETY: managed code passes the address of a local.
    unsafe { c::modf(x, integer) }
}

/// `modff` of the C library.
#[expect(clippy::not_unsafe_ptr_arg_deref, reason = "compiled code passes the address of a variable")]
pub fn modff(_t: CurrentThread, x: f32, integer: *mut f32) -> f32 {
    // SAFETY: managed code passes the address of a local.
    unsafe { c::modff(x, integer) }
}

/// The internal calls of `System.Math` and `System.MathF`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Math::Abs(System.Double)", &abs_double),
    InternalCall::new("System.Math::Abs(System.Single)", &abs_single),
    InternalCall::new("System.Math::Round", &round),
    InternalCall::new("System.Math::Acos", &double::acos),
    InternalCall::new("System.Math::Acosh", &double::acosh),
    InternalCall::new("System.Math::Asin", &double::asin),
    InternalCall::new("System.Math::Asinh", &double::asinh),
    InternalCall::new("System.Math::Atan", &double::atan),
    InternalCall::new("System.Math::Atanh", &double::atanh),
    InternalCall::new("System.Math::Cbrt", &double::cbrt),
    InternalCall::new("System.Math::Ceiling", &double::ceil),
    InternalCall::new("System.Math::Cos", &double::cos),
    InternalCall::new("System.Math::Cosh", &double::cosh),
    InternalCall::new("System.Math::Exp", &double::exp),
    InternalCall::new("System.Math::Floor", &double::floor),
    InternalCall::new("System.Math::Log", &double::log),
    InternalCall::new("System.Math::Log10", &double::log10),
    InternalCall::new("System.Math::Sin", &double::sin),
    InternalCall::new("System.Math::Sinh", &double::sinh),
    InternalCall::new("System.Math::Sqrt", &double::sqrt),
    InternalCall::new("System.Math::Tan", &double::tan),
    InternalCall::new("System.Math::Tanh", &double::tanh),
    InternalCall::new("System.Math::Atan2", &atan2),
    InternalCall::new("System.Math::Pow", &pow),
    InternalCall::new("System.Math::FMod", &fmod),
    InternalCall::new("System.Math::ModF", &modf),
    InternalCall::new("System.MathF::Acos", &single::acosf),
    InternalCall::new("System.MathF::Acosh", &single::acoshf),
    InternalCall::new("System.MathF::Asin", &single::asinf),
    InternalCall::new("System.MathF::Asinh", &single::asinhf),
    InternalCall::new("System.MathF::Atan", &single::atanf),
    InternalCall::new("System.MathF::Atanh", &single::atanhf),
    InternalCall::new("System.MathF::Cbrt", &single::cbrtf),
    InternalCall::new("System.MathF::Ceiling", &single::ceilf),
    InternalCall::new("System.MathF::Cos", &single::cosf),
    InternalCall::new("System.MathF::Cosh", &single::coshf),
    InternalCall::new("System.MathF::Exp", &single::expf),
    InternalCall::new("System.MathF::Floor", &single::floorf),
    InternalCall::new("System.MathF::Log", &single::logf),
    InternalCall::new("System.MathF::Log10", &single::log10f),
    InternalCall::new("System.MathF::Sin", &single::sinf),
    InternalCall::new("System.MathF::Sinh", &single::sinhf),
    InternalCall::new("System.MathF::Sqrt", &single::sqrtf),
    InternalCall::new("System.MathF::Tan", &single::tanf),
    InternalCall::new("System.MathF::Tanh", &single::tanhf),
    InternalCall::new("System.MathF::Atan2", &atan2f),
    InternalCall::new("System.MathF::Pow", &powf),
    InternalCall::new("System.MathF::FMod", &fmodf),
    InternalCall::new("System.MathF::ModF", &modff),
];
