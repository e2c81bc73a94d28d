//! System.Object.

use crate::arguments::ObjectPlace;
use saki_runtime::object::exceptions;
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj};

fn get_type<'t>(t: CurrentThread<'t>, this: Option<Obj>) -> Managed<Obj<'t>> {
    match this {
        Some(this) => Obj::of_type(t, this.ty()),
        None => Err(exceptions::throw_null_reference(t)),
    }
}

/// Replaces the variable's object by a copy of it.
fn allocate_clone(t: CurrentThread, object: ObjectPlace) -> Managed<()> {
    if let Some(original) = object.get() {
        object.set(t, original.cloned(t)?);
    }
    Ok(())
}

/// The internal calls of `System.Object`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net9 System.Object::GetType", &get_type),
    InternalCall::new("@net QCall::ObjectNative_AllocateUninitializedClone", &allocate_clone),
];
