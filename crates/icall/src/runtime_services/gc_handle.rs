//! System.Runtime.InteropServices.GCHandle. A handle is a 32-bit number that managed code passes around as an int, or,
//! in the class libraries of Mono 6.14, as a native int. A native int that has more than 32 bits is not a handle.

use crate::arguments::argument_error;
use saki_abi::handle::STALE_TARGET;
use saki_runtime::ExceptionType;
use saki_runtime::object::{exceptions, handles};
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj};
use saki_sync::handle_table::{Handle, HandleKind};
use saki_types::ty::type_flags;

/// The `GCHandleType` for giving an existing handle another target.
const RETARGET: i32 = -1;
/// Results of `GetAddrOfPinnedObject` that are no address.
const NOT_BLITTABLE: isize = -1;
const NOT_PINNED: isize = -2;

/// The integer by which managed code names a handle.
trait Number: Copy {
    fn handle(self) -> Option<Handle>;
    fn of(handle: Handle) -> Self;
}

impl Number for i32 {
    fn handle(self) -> Option<Handle> {
        Handle::from_bits(self as u32)
    }

    fn of(handle: Handle) -> i32 {
        handle.bits() as i32
    }
}

impl Number for isize {
    fn handle(self) -> Option<Handle> {
        u32::try_from(self).ok().and_then(Handle::from_bits)
    }

    fn of(handle: Handle) -> isize {
        handle.bits() as isize
    }
}

/// The address of the target, 0 for a weak handle that has expired, `STALE_TARGET` for a handle that was freed:
/// compiled code throws then (`jit::lower::handles`).
fn get_target<N: Number>(t: CurrentThread, number: N) -> usize {
    let target = number.handle().and_then(|handle| handles::target(t, handle).ok());
    target.map_or(STALE_TARGET, |target| target.map_or(0, Obj::address))
}

fn get_target_handle<N: Number>(t: CurrentThread, target: Option<Obj>, number: N, kind: i32) -> Managed<N> {
    if kind == RETARGET {
        let replaced = number.handle().map(|handle| handles::set_target(handle, target));
        return match replaced {
            Some(Ok(())) => Ok(number),
            _ => Err(exceptions::throw(t, ExceptionType::InvalidOperation, "Handle is not initialized.")),
        };
    }
    let Some(kind) = HandleKind::from_number(kind as u32) else {
        return Err(argument_error(t, "The kind of handle is not known."));
    };
    match handles::allocate(t, kind, target) {
        Some(handle) => Ok(N::of(handle)),
        None => Err(exceptions::out_of_memory(t)),
    }
}

/// Frees a handle. False when it was freed before: compiled code throws then.
fn free_handle<N: Number>(t: CurrentThread, number: N) -> bool {
    number.handle().is_some_and(|handle| handles::free(t, handle).is_ok())
}

/// Whether the number is a handle. Handles of all domains count as the current domain's.
fn is_of_current_domain<N: Number>(t: CurrentThread, number: N) -> bool {
    number.handle().is_some_and(|handle| handles::target(t, handle).is_ok())
}

/// Address of the first character, element or field.
fn address_of_pinned<N: Number>(t: CurrentThread, number: N) -> isize {
    let Some(handle) = number.handle().filter(|handle| handle.kind() == HandleKind::Pinned) else { return NOT_PINNED };
    let Ok(target) = Obj::of_handle(t, handle) else { return NOT_PINNED };
    let Some(target) = target else { return 0 };
    if let Some(text) = target.as_str() {
        return text.first_unit() as isize;
    }
    if let Some(array) = target.as_array() {
        return array.element_address(0) as isize;
    }
    if target.ty().flags() & type_flags::LAYOUT_MASK == 0 {
        return NOT_BLITTABLE;
    }
    target.data() as isize
}

/// The internal calls of `System.Runtime.InteropServices.GCHandle`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::expanded("@6.8,6.12 System.Runtime.InteropServices.GCHandle::GetTarget", &get_target::<i32>),
    InternalCall::expanded("@6.14 System.Runtime.InteropServices.GCHandle::GetTarget", &get_target::<isize>),
    InternalCall::new("@6.8,6.12 System.Runtime.InteropServices.GCHandle::GetTargetHandle", &get_target_handle::<i32>),
    InternalCall::new("@6.14 System.Runtime.InteropServices.GCHandle::GetTargetHandle", &get_target_handle::<isize>),
    InternalCall::expanded("@6.8,6.12 System.Runtime.InteropServices.GCHandle::FreeHandle", &free_handle::<i32>),
    InternalCall::expanded("@6.14 System.Runtime.InteropServices.GCHandle::FreeHandle", &free_handle::<isize>),
    InternalCall::new(
        "@6.8,6.12 System.Runtime.InteropServices.GCHandle::CheckCurrentDomain",
        &is_of_current_domain::<i32>,
    ),
    InternalCall::new(
        "@6.14 System.Runtime.InteropServices.GCHandle::CheckCurrentDomain",
        &is_of_current_domain::<isize>,
    ),
    InternalCall::new(
        "@6.8,6.12 System.Runtime.InteropServices.GCHandle::GetAddrOfPinnedObject",
        &address_of_pinned::<i32>,
    ),
    InternalCall::new(
        "@6.14 System.Runtime.InteropServices.GCHandle::GetAddrOfPinnedObject",
        &address_of_pinned::<isize>,
    ),
];
