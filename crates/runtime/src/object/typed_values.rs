//! Which objects stand for values of a type: the question that is asked before an object, which may have come from
//! anywhere, goes into a variable, an argument or a result of that type.
//!
//! Invariant: a function that stores an object in a typed place asks here, or has a type that proves the answer. Left
//! out: numbers in arrays, whose exceptions differ (`Array.SetValue`).

use crate::exception_types::ExceptionType;
use crate::exceptions::{self, Thrown};
use crate::references::Obj;
use crate::thread::{CurrentThread, Managed};
use crate::widening::{Scalar, Widened};
use saki_types::{Ty, universe};

/// Whether the value of type `ty` that `value` stands for can be copied from it: a box of the type, of an enumeration
/// with the same integer type or of that integer type; a T for a Nullable<T>; IntPtr or UIntPtr for a pointer; an
/// object that is assignable to `ty`.
///
/// # Errors
/// TypeLoadException; what a RealProxy throws that is asked about a cast.
pub fn fits(t: CurrentThread, value: Obj, ty: Ty) -> Managed<bool> {
    let exact = value.ty();
    if ty.is_nullable() {
        return Ok(exact == ty.args[0]);
    }
    if ty.is_value_type() {
        return Ok(exact == ty || (exact.is_value_type() && exact.underlying() == ty.underlying()));
    }
    if ty.is_pointer() {
        return Ok(exact == universe().intptr() || exact == universe().uintptr());
    }
    if ty.is_byref() {
        return Ok(false);
    }
    value.is_instance(t, ty)
}

/// Whether a variable of type `ty` may hold what `value` stands for, by the rules of `fits`; null stands for the zero
/// of every type but a byref.
///
/// # Errors
/// TypeLoadException; what a RealProxy throws that is asked about a cast.
pub fn may_hold(t: CurrentThread, ty: Ty, value: Option<Obj>) -> Managed<bool> {
    match value {
        Some(value) => fits(t, value, ty),
        None => Ok(!ty.is_byref()),
    }
}

/// The object that stands for `value` as a `ty`: itself if it fits, or a box of `ty` if it holds a number of a narrower
/// type.
///
/// # Errors
/// ArgumentException, as .NET throws for a field or an argument of another type; the errors of `fits`;
/// OutOfMemoryException.
pub fn converted<'t>(t: CurrentThread<'t>, value: Obj<'t>, ty: Ty) -> Managed<Obj<'t>> {
    if fits(t, value, ty)? {
        return Ok(value);
    }
    let wanted = if ty.is_nullable() { ty.args[0] } else { ty };
    let (from, to) = (value.ty().underlying().element_type, wanted.underlying().element_type);
    if let Some(scalar) = Scalar::read(value).filter(|_| wanted.is_value_type())
        && let Widened::Stores(bits) = scalar.widen(from, to)
    {
        return Obj::of_bits(t, wanted, bits);
    }
    Err(throw_other_type(t, value, ty))
}

/// The ArgumentException for an object that does not fit.
pub fn throw_other_type(t: CurrentThread, value: Obj, ty: Ty) -> Thrown {
    let (from, to) = (value.ty().full_name(), ty.full_name());
    let message = format!("Object of type '{from}' cannot be converted to type '{to}'.");
    exceptions::throw(t, ExceptionType::Argument, &message)
}
