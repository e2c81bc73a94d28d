//! System.Array.GetValue and SetValue: boxed access, with the widening conversions that SetValue allows.

use crate::arguments::{argument_error, argument_error_for, non_null, non_null_this};
use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions;
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::object::widening::{Scalar, Widened};
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Obj, Thrown, object};
use saki_types::Ty;

fn element_type(t: CurrentThread, array: Array) -> Managed<Ty> {
    array.ty().element().ok_or_else(|| argument_error(t, "Not an array."))
}

/// Position among all elements of the element at these indices.
fn position(t: CurrentThread, array: Array, indices: Option<Array>) -> Managed<usize> {
    let indices = non_null(t, indices, "indices")?;
    let out_of_range = |t| exceptions::throw_default(t, ExceptionType::IndexOutOfRange);
    let rank = array.vtable().rank as usize;
    if indices.length() != rank {
        return Err(argument_error(t, "The number of indices differs from the number of dimensions."));
    }
    let indices = indices.numbers::<i32>();
    let Some(bounds) = array.bounds() else {
        let in_range = usize::try_from(indices[0]).ok().filter(|&i| i < array.length());
        return in_range.ok_or_else(|| out_of_range(t));
    };
    let mut position = 0;
    for (&index, bound) in indices.iter().zip(bounds) {
        let offset = i64::from(index) - i64::from(bound.lower_bound);
        if offset < 0 || offset >= i64::from(bound.length) {
            return Err(out_of_range(t));
        }
        position = position * bound.length as usize + offset as usize;
    }
    Ok(position)
}

/// A position among all elements.
///
/// # Errors
/// IndexOutOfRangeException.
fn in_range(t: CurrentThread, array: Array, position: i32) -> Managed<usize> {
    let position = usize::try_from(position).ok().filter(|&position| position < array.length());
    position.ok_or_else(|| exceptions::throw_default(t, ExceptionType::IndexOutOfRange))
}

fn get_at<'t>(t: CurrentThread<'t>, array: Array<'t>, position: usize) -> Managed<Option<Obj<'t>>> {
    if element_type(t, array)?.is_pointer() {
        return Err(exceptions::throw(t, ExceptionType::NotSupported, "Type is not supported."));
    }
    array.boxed_element(t, position)
}

fn get_value_impl<'t>(t: CurrentThread<'t>, this: Option<Array<'t>>, position: i32) -> Managed<Option<Obj<'t>>> {
    let this = non_null_this(t, this)?;
    get_at(t, this, in_range(t, this, position)?)
}

fn get_value<'t>(t: CurrentThread<'t>, this: Option<Array<'t>>, indices: Option<Array>) -> Managed<Option<Obj<'t>>> {
    let this = non_null_this(t, this)?;
    let position = position(t, this, indices)?;
    get_at(t, this, position)
}

fn set_value_impl(t: CurrentThread, this: Option<Array>, value: Option<Obj>, position: i32) -> Managed<()> {
    let this = non_null_this(t, this)?;
    set_at(t, this, value, in_range(t, this, position)?)
}

fn set_value(t: CurrentThread, this: Option<Array>, value: Option<Obj>, indices: Option<Array>) -> Managed<()> {
    let this = non_null_this(t, this)?;
    let position = position(t, this, indices)?;
    set_at(t, this, value, position)
}

fn invalid_cast(t: CurrentThread, from: Ty, to: Ty) -> Thrown {
    let message = format!("Unable to cast object of type '{}' to type '{}'.", from.full_name(), to.full_name());
    exceptions::throw(t, ExceptionType::InvalidCast, &message)
}

fn not_widening(t: CurrentThread) -> Thrown {
    argument_error_for(t, "value", "not a widening conversion")
}

fn set_at(t: CurrentThread, array: Array, value: Option<Obj>, position: usize) -> Managed<()> {
    let element = element_type(t, array)?;
    if element.is_nullable() {
        return set_nullable(t, element, value, array.element_address(position));
    }
    let Some(value) = value else {
        array.clear(position, 1);
        return Ok(());
    };
    let exact = value.ty();
    if element.is_reference_type() {
        if !value.is_instance(t, element)? {
            return Err(invalid_cast(t, exact, element));
        }
        array.set(t, position, Some(value));
        return Ok(());
    }
    let place = array.element_address(position);
    if exact == element {
        // SAFETY: the box holds a value of the element type.
        unsafe { object::copy_struct(t, place, value.data(), element) };
        return Ok(());
    }
    let Some(scalar) = Scalar::read(value) else {
        return Err(invalid_cast(t, exact, element));
    };
    let to = element.underlying().element_type;
    match scalar.widen(exact.underlying().element_type, to) {
        Widened::Stores(bits) => {
            // SAFETY: the element has the size of `to`, which is at most that of the bits.
            unsafe { std::ptr::copy_nonoverlapping(bits.to_le_bytes().as_ptr(), place, array.element_size_bytes()) };
            Ok(())
        }
        Widened::TooWide => Err(not_widening(t)),
        Widened::OtherKind => Err(invalid_cast(t, exact, element)),
    }
}

fn set_nullable(t: CurrentThread, nullable: Ty, value: Option<Obj>, place: *mut u8) -> Managed<()> {
    let inner = nullable.args[0];
    let (has_value, at) = object::nullable_offsets(t, nullable)?;
    let Some(value) = value else {
        let size_bytes = nullable.value_size_bytes().to_managed(t)? as usize;
        // SAFETY: an element of this type.
        unsafe { std::ptr::write_bytes(place, 0, size_bytes) };
        return Ok(());
    };
    let exact = value.ty();
    if exact != inner {
        return Err(invalid_cast(t, exact, nullable));
    }
    // SAFETY: the flag lies inside the element.
    unsafe { place.add(has_value).write(1) };
    // SAFETY: the value lies inside the element; the box holds a value of the inner type.
    unsafe { object::copy_struct(t, place.add(at), value.data(), inner) };
    Ok(())
}

/// The internal calls of `System.Array`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Array::GetValueImpl", &get_value_impl),
    InternalCall::new("System.Array::GetValue", &get_value),
    InternalCall::new("System.Array::SetValueImpl", &set_value_impl),
    InternalCall::new("System.Array::SetValue", &set_value),
];
