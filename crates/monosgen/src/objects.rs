//! Objects of `mono/metadata/object.h`.

use crate::call::{call, call_managed, some};
use saki_abi::ObjRef;
use saki_runtime::vm::domains::Domain;
use saki_runtime::{Obj, Word};
use saki_types::Ty;

/// A new object, whose constructor has not run.
#[unsafe(no_mangle)]
pub extern "C" fn mono_object_new(_domain: Option<&'static Domain>, class: Ty) -> ObjRef {
    call_managed("mono_object_new", |t| Ok(Obj::new(t, class)?.word()))
}

/// The class of an object.
///
/// # Safety
/// `object` is an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_object_get_class(object: ObjRef) -> Ty {
    // SAFETY: the host's object.
    call("mono_object_get_class", |_| unsafe { some("mono_object_get_class", object) }.ty())
}

/// The address of the value in a box.
///
/// # Safety
/// `object` is a box.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_object_unbox(object: ObjRef) -> *mut u8 {
    // SAFETY: the host's object.
    call("mono_object_unbox", |_| unsafe { some("mono_object_unbox", object) }.data())
}
