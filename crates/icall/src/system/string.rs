//! System.String. Its constructors are redirected to `CreateString` by the importer and have no internal calls.

use crate::arguments::non_null;
use saki_runtime::object::exceptions;
use saki_runtime::{CurrentThread, InternalCall, Managed, Str};

fn fast_allocate_string<'t>(t: CurrentThread<'t>, length: i32) -> Managed<Str<'t>> {
    match usize::try_from(length) {
        Ok(length) => Str::filled(t, length, |_| ()),
        Err(_) => Err(exceptions::out_of_memory(t)),
    }
}

fn internal_intern<'t>(t: CurrentThread<'t>, string: Option<Str<'t>>) -> Managed<Str<'t>> {
    non_null(t, string, "str")?.intern(t)
}

fn internal_is_interned<'t>(t: CurrentThread<'t>, string: Option<Str<'t>>) -> Managed<Option<Str<'t>>> {
    Ok(non_null(t, string, "str")?.interned(t))
}

/// The internal calls of `System.String`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.String::FastAllocateString", &fast_allocate_string),
    InternalCall::new("System.String::InternalIntern", &internal_intern),
    InternalCall::new("System.String::InternalIsInterned", &internal_is_interned),
];
