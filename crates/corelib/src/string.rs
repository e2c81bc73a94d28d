//! System.String. Its constructors are redirected to `Ctor` by the importer and have no internal calls.

use crate::arguments::StringPlace;
use saki_runtime::{CurrentThread, InternalCall, Managed, Str};

fn fast_allocate_string<'t>(t: CurrentThread<'t>, length: i32) -> Managed<Str<'t>> {
    Str::filled(t, usize::try_from(length).unwrap_or(usize::MAX), |_| ())
}

fn allocate_string<'t>(t: CurrentThread<'t>, _table: *const (), length: isize) -> Managed<Str<'t>> {
    Str::filled(t, usize::try_from(length).unwrap_or(usize::MAX), |_| ())
}

fn intern(t: CurrentThread, string: StringPlace) -> Managed<()> {
    if let Some(text) = string.get() {
        string.set(t, Some(text.intern(t)?));
    }
    Ok(())
}

fn is_interned(t: CurrentThread, string: StringPlace) -> Managed<()> {
    if let Some(text) = string.get() {
        string.set(t, text.interned(t));
    }
    Ok(())
}

/// The internal calls of `System.String`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net9 System.String::FastAllocateString", &fast_allocate_string),
    InternalCall::new("@net10 System.String::FastAllocateString", &allocate_string),
    InternalCall::new("@net QCall::String_Intern", &intern),
    InternalCall::new("@net QCall::String_IsInterned", &is_interned),
];
