//! System.IO.Stream: whether a class overrides the pairs of methods for asynchronous calls of .NET Framework.

use saki_runtime::object::method_tables;
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj, ToManaged};
use saki_types::{LoadResult, Ty};

/// Whether one of the methods that the class inherits or declares comes from a class below Stream.
fn overrides(ty: Ty, names: [&str; 2]) -> LoadResult<bool> {
    let is_stream = |ty: Ty| ty.def().is_some_and(|def| (def.namespace, def.name) == ("System.IO", "Stream"));
    let slots = &ty.vtable_layout()?.slots;
    Ok(slots.iter().any(|method| names.contains(&method.name) && !is_stream(method.owner)))
}

const READ: [&str; 2] = ["BeginRead", "EndRead"];
const WRITE: [&str; 2] = ["BeginWrite", "EndWrite"];

fn overrides_read(t: CurrentThread, this: Option<Obj>) -> Managed<bool> {
    this.map_or(Ok(false), |this| overrides(this.ty(), READ).to_managed(t))
}

fn overrides_write(t: CurrentThread, this: Option<Obj>) -> Managed<bool> {
    this.map_or(Ok(false), |this| overrides(this.ty(), WRITE).to_managed(t))
}

fn overrides_by_table(t: CurrentThread, table: *const (), reads: i32) -> Managed<i32> {
    // SAFETY: managed code passes the table of an object's class.
    let ty = unsafe { method_tables::type_of_handle(table.addr()) };
    overrides(ty, if reads != 0 { READ } else { WRITE }).to_managed(t).map(i32::from)
}

/// The internal calls of `System.IO.Stream`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net9 System.IO.Stream::HasOverriddenBeginEndRead", &overrides_read),
    InternalCall::new("@net9 System.IO.Stream::HasOverriddenBeginEndWrite", &overrides_write),
    InternalCall::new("@net10 QCall::Stream_HasOverriddenSlow", &overrides_by_table),
];
