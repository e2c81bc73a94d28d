//! Checks and conversions of arguments that many internal calls share.

use saki_abi::ObjRef;
use saki_runtime::exceptions;
use saki_runtime::object;
use saki_runtime::strings;
use saki_runtime::{CurrentThread, Managed, Thrown};
use saki_types::universe;

/// # Errors
/// NullReferenceException.
pub(crate) fn non_null_this(t: CurrentThread, object: ObjRef) -> Managed<()> {
    if object.is_null() { Err(exceptions::throw_null_reference(t)) } else { Ok(()) }
}

/// # Errors
/// ArgumentNullException.
pub(crate) fn non_null(t: CurrentThread, object: ObjRef, parameter: &str) -> Managed<()> {
    if object.is_null() { Err(exceptions::throw_argument_null(t, parameter)) } else { Ok(()) }
}

/// ArgumentException.
pub(crate) fn argument_error(t: CurrentThread, message: &str) -> Thrown {
    exceptions::throw(t, "System", "ArgumentException", message)
}

/// ArgumentException that names its parameter.
pub(crate) fn argument_error_for(t: CurrentThread, parameter: &str, message: &str) -> Thrown {
    exceptions::throw_argument(t, message, parameter)
}

/// A new string, or null for None.
///
/// # Errors
/// OutOfMemoryException.
pub(crate) fn optional_string(t: CurrentThread, text: Option<&str>) -> Managed<ObjRef> {
    text.map_or(Ok(ObjRef::NULL), |text| strings::new_string(t, text))
}

/// A new string[].
///
/// # Errors
/// OutOfMemoryException.
pub(crate) fn string_array<S: AsRef<str>>(t: CurrentThread, items: &[S]) -> Managed<ObjRef> {
    let array = object::new_array(t, universe().string(), items.len())?;
    for (index, item) in items.iter().enumerate() {
        let text = strings::new_string(t, item.as_ref())?;
        object::set_element_ref(t, array, index, text);
    }
    Ok(array)
}

/// Stores an object through an `out` or `ref` parameter, which may lie on the stack or in the heap.
pub(crate) fn store_out(t: CurrentThread, place: *mut ObjRef, value: ObjRef) {
    // SAFETY: compiled code passes the address of a variable of a reference type.
    unsafe { saki_gc::barrier::store_ref_unknown(t.managed(), place, value) };
}

/// Writes a plain value through an `out` parameter.
pub(crate) fn write_out<T>(place: *mut T, value: T) {
    // SAFETY: compiled code passes the address of a variable of this type.
    unsafe { place.write(value) };
}

/// The UTF-16 units that a (pointer, length) pair names; empty for null.
pub(crate) fn units_at<'a>(units: *const u16, length: i32) -> &'a [u16] {
    match usize::try_from(length) {
        // SAFETY: managed code passes the pinned characters of a string and their number.
        Ok(length) if !units.is_null() => unsafe { std::slice::from_raw_parts(units, length) },
        _ => &[],
    }
}
