//! System.Math and System.MathF: the C library's functions, as .NET uses them.

use saki_icall::system::math::{atan2, atan2f, double, modf, modff, pow, powf, single};
use saki_runtime::{CurrentThread, InternalCall};

fn fused_multiply_add(_t: CurrentThread, x: f64, y: f64, z: f64) -> f64 {
    x.mul_add(y, z)
}

fn fused_multiply_add_single(_t: CurrentThread, x: f32, y: f32, z: f32) -> f32 {
    x.mul_add(y, z)
}

fn log2(_t: CurrentThread, x: f64) -> f64 {
    x.log2()
}

fn log2_single(_t: CurrentThread, x: f32) -> f32 {
    x.log2()
}

fn sin_cos(t: CurrentThread, x: f64, sin: *mut f64, cos: *mut f64) {
    // SAFETY: managed code passes the address of its variable.
    unsafe { sin.write(double::sin(t, x)) };
    // SAFETY: managed code passes the address of its variable.
    unsafe { cos.write(double::cos(t, x)) };
}

fn sin_cos_single(t: CurrentThread, x: f32, sin: *mut f32, cos: *mut f32) {
    // SAFETY: managed code passes the address of its variable.
    unsafe { sin.write(single::sinf(t, x)) };
    // SAFETY: managed code passes the address of its variable.
    unsafe { cos.write(single::cosf(t, x)) };
}

macro_rules! table {
    ($($name:literal $double:ident $single:ident;)*) => {
        /// The internal calls of `System.Math` and `System.MathF`.
        pub const TABLE: &[InternalCall] = &[
            $(
                InternalCall::new(concat!("@net System.Math::", $name), &double::$double),
                InternalCall::new(concat!("@net System.MathF::", $name), &single::$single),
            )*
            InternalCall::new("@net System.Math::Atan2", &atan2),
            InternalCall::new("@net System.MathF::Atan2", &atan2f),
            InternalCall::new("@net System.Math::Pow", &pow),
            InternalCall::new("@net System.MathF::Pow", &powf),
            InternalCall::new("@net System.Math::ModF(System.Double,System.Double*)", &modf),
            InternalCall::new("@net System.MathF::ModF(System.Single,System.Single*)", &modff),
            InternalCall::new("@net System.Math::FusedMultiplyAdd", &fused_multiply_add),
            InternalCall::new("@net System.MathF::FusedMultiplyAdd", &fused_multiply_add_single),
            InternalCall::new("@net System.Math::Log2(System.Double)", &log2),
            InternalCall::new("@net System.MathF::Log2(System.Single)", &log2_single),
            InternalCall::new("@net System.Math::SinCos(System.Double,System.Double*,System.Double*)", &sin_cos),
            InternalCall::new("@net System.MathF::SinCos(System.Single,System.Single*,System.Single*)", &sin_cos_single),
        ];
    };
}

table! {
    "Acos" acos acosf;
    "Acosh" acosh acoshf;
    "Asin" asin asinf;
    "Asinh" asinh asinhf;
    "Atan" atan atanf;
    "Atanh" atanh atanhf;
    "Cbrt" cbrt cbrtf;
    "Ceiling" ceil ceilf;
    "Cos" cos cosf;
    "Cosh" cosh coshf;
    "Exp" exp expf;
    "Floor" floor floorf;
    "Log" log logf;
    "Log10" log10 log10f;
    "Sin" sin sinf;
    "Sinh" sinh sinhf;
    "Sqrt" sqrt sqrtf;
    "Tan" tan tanf;
    "Tanh" tanh tanhf;
}
