//! System.Object.

use crate::arguments::non_null_this;
use saki_runtime::exec::monitors;
use saki_runtime::object::proxies;
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj};

fn get_type<'t>(t: CurrentThread<'t>, this: Option<Obj>) -> Managed<Obj<'t>> {
    let this = non_null_this(t, this)?;
    let shown = if this.is_proxy() { proxies::shown_type(this) } else { this.ty() };
    Obj::of_type(t, shown)
}

fn memberwise_clone<'t>(t: CurrentThread<'t>, this: Option<Obj<'t>>) -> Managed<Obj<'t>> {
    non_null_this(t, this)?.cloned(t)
}

fn internal_get_hash_code(_t: CurrentThread, object: Option<Obj>) -> i32 {
    object.map_or(0, |object| monitors::hash_code(object))
}

/// The internal calls of `System.Object`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Object::GetType", &get_type),
    InternalCall::new("System.Object::MemberwiseClone", &memberwise_clone),
    InternalCall::new("System.Object::InternalGetHashCode", &internal_get_hash_code),
];
