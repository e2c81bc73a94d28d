//! `mono/metadata/loader.h` and methods of `class.h`.

use crate::call::call_managed;
use crate::text::text;
use saki_runtime::object::exceptions::ToManaged;
use saki_types::{Method, Ty};
use std::ffi::{c_char, c_int};

/// The method of a name with so many parameters, or with any number for -1, of the class or the next base class that
/// has one; null if there is none.
///
/// # Safety
/// `name` ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_class_get_method_from_name(
    class: Ty,
    name: *const c_char,
    param_count: c_int,
) -> Option<&'static Method> {
    // SAFETY: the host's text, which ends in NUL.
    let name = unsafe { text(name) };
    call_managed("mono_class_get_method_from_name", |t| {
        let mut looked_at = Some(class);
        while let Some(class) = looked_at {
            let found = match usize::try_from(param_count) {
                Ok(count) => class.find_method(&name, count),
                Err(_) => class.methods_named(&name).map(|named| named.first().copied()),
            };
            if let Some(found) = found.to_managed(t)? {
                return Ok(Some(found));
            }
            looked_at = class.parent().to_managed(t)?;
        }
        Ok(None)
    })
}
