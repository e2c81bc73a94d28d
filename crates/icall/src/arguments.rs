//! Checks and conversions of arguments that many internal calls share.

use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions;
use saki_runtime::{Array, CurrentThread, Managed, Str, Thrown};
use saki_types::universe;

/// The object that a method is called on.
///
/// # Errors
/// NullReferenceException.
pub(crate) fn non_null_this<T>(t: CurrentThread, object: Option<T>) -> Managed<T> {
    object.ok_or_else(|| exceptions::throw_null_reference(t))
}

/// The argument for a parameter that must not be null.
///
/// # Errors
/// ArgumentNullException.
pub(crate) fn non_null<T>(t: CurrentThread, object: Option<T>, parameter: &str) -> Managed<T> {
    object.ok_or_else(|| exceptions::throw_argument_null(t, parameter))
}

/// ArgumentException.
pub(crate) fn argument_error(t: CurrentThread, message: &str) -> Thrown {
    exceptions::throw(t, ExceptionType::Argument, message)
}

/// ArgumentException that names its parameter.
pub(crate) fn argument_error_for(t: CurrentThread, parameter: &str, message: &str) -> Thrown {
    exceptions::throw_argument(t, message, parameter)
}

/// A new string, or null for None.
///
/// # Errors
/// OutOfMemoryException.
pub(crate) fn optional_string<'t>(t: CurrentThread<'t>, text: Option<&str>) -> Managed<Option<Str<'t>>> {
    text.map(|text| Str::new(t, text)).transpose()
}

/// A new string[].
///
/// # Errors
/// OutOfMemoryException.
pub(crate) fn string_array<'t, S: AsRef<str>>(t: CurrentThread<'t>, items: &[S]) -> Managed<Array<'t>> {
    let array = Array::new(t, universe().string(), items.len())?;
    for (index, item) in items.iter().enumerate() {
        let text = Str::new(t, item.as_ref())?;
        array.set(t, index, Some(*text));
    }
    Ok(array)
}

/// The UTF-16 units at an address; none for null.
///
/// # Safety
/// Unless the address is null, `length` units lie there and stay, unchanged, for as long as the result is used: the
/// characters of a string that the managed caller has pinned for the call.
pub(crate) unsafe fn units_at<'a>(units: *const u16, length: i32) -> &'a [u16] {
    match usize::try_from(length) {
        // SAFETY: not null, and `length` units lie there, of a string that is pinned for the call.
        Ok(length) if !units.is_null() => unsafe { std::slice::from_raw_parts(units, length) },
        _ => &[],
    }
}
