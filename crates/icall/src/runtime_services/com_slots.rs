//! Marshal.GetComSlotForMethodInfo: the slot that a method would have in the table through which COM calls an
//! interface.
//!
//! The number follows from metadata alone. Left out: COM itself; the other questions about slots are not implemented in
//! the class library either.

use saki_metadata::{TableId, Token};
use saki_reflect::handles::method_of;
use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj};
use saki_types::class::attribute_blob;
use saki_types::{LoadResult, Method, Ty};

/// IUnknown's methods.
const UNKNOWN_METHODS: i32 = 3;
/// IUnknown's and IDispatch's methods.
const DISPATCH_METHODS: i32 = 7;
/// `ComInterfaceType.InterfaceIsIUnknown`.
const IS_UNKNOWN: u16 = 1;

/// How many methods come before the interface's own. Mono counts those of IDispatch for every kind but IUnknown.
fn first_slot(interface: Ty) -> LoadResult<i32> {
    let Some(def) = interface.def() else { return Ok(DISPATCH_METHODS) };
    let parent = Token::new(TableId::TypeDef, def.rid);
    let blob =
        attribute_blob(def.image, parent, "System.Runtime.InteropServices", "InterfaceTypeAttribute")?.unwrap_or(&[]);
    // Behind the prolog is an int32 or an int16, since the attribute has two constructors; the first two bytes are
    // enough.
    let kind = blob.get(2..4).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]]));
    Ok(if kind == Some(IS_UNKNOWN) { UNKNOWN_METHODS } else { DISPATCH_METHODS })
}

/// Static methods have no slot; they count as slot 0, as under Mono.
fn slot_of(method: &'static Method) -> LoadResult<i32> {
    let before = method.owner.methods()?.take_while(|m| m.rid() != method.rid()).filter(|m| m.is_virtual()).count();
    Ok(first_slot(method.owner)? + before as i32)
}

/// Managed code has checked that this is a MethodInfo of an interface.
fn get_com_slot(t: CurrentThread, method: Option<Obj>) -> Managed<i32> {
    match method.and_then(method_of) {
        Some(method) => slot_of(method).to_managed(t),
        None => {
            let message = "The MemberInfo must be an interface method.";
            Err(exceptions::throw(t, ExceptionType::Argument, message))
        }
    }
}

/// The internal calls of `System.Runtime.InteropServices.Marshal`.
pub const TABLE: &[InternalCall] =
    &[InternalCall::new("System.Runtime.InteropServices.Marshal::GetComSlotForMethodInfoInternal", &get_com_slot)];
