//! The Rust behind the assembly stubs that look for code: what they call, and which hook that asks.
//!
//! Invariant: each returns the address at which the stub goes on, or 0 with an exception pending. Left out: saving and
//! restoring the arguments (`arch`).

use crate::entry::MethodEntry;
use crate::hooks;
use crate::imt;
use saki_abi::{ObjRef, ThreadAbi};

/// # Safety
/// Called by the compile trampoline with the current thread and the address of an entry stub.
pub(crate) unsafe extern "C" fn compile_entry(thread: *mut ThreadAbi, stub: usize) -> usize {
    let Some(entry) = MethodEntry::of_stub(stub) else {
        saki_base::bug!("compile trampoline reached from {stub:#x}, which is no entry stub");
    };
    // SAFETY: managed code has called the entry.
    let hooks = unsafe { hooks::installed() };
    // SAFETY: `thread` is current, the argument is the one the entry was made with.
    let code = unsafe { (hooks.compile)(thread, entry.argument()) };
    // SAFETY: `thread` is current.
    unsafe { code_or_pending(thread, code) }
}

/// # Safety
/// Called by the stub of `StubId::ImtResolve` with the current thread and a non-null receiver.
pub(crate) unsafe extern "C" fn resolve_interface(
    thread: *mut ThreadAbi,
    receiver: ObjRef,
    method: *const (),
) -> usize {
    // SAFETY: managed code has called the stub.
    let hooks = unsafe { hooks::installed() };
    // SAFETY: the receiver is an object: the call sequence has loaded its vtable.
    let vtable = unsafe { (*receiver.0).vtable };
    // SAFETY: arguments as the caller of the interface method gave them.
    let code = unsafe { (hooks.resolve_interface)(thread, receiver, method) };
    // SAFETY: `thread` is current.
    let code = unsafe { code_or_pending(thread, code) };
    if code != 0 {
        imt::imt_cache_insert(vtable, method, code);
    }
    code
}

/// # Safety
/// `thread` is current.
unsafe fn code_or_pending(thread: *mut ThreadAbi, code: usize) -> usize {
    // SAFETY: `thread` is current, and only its owner touches this field.
    let pending = unsafe { !(*thread).pending_exception.is_null() };
    if !pending && code == 0 {
        saki_base::bug!("a resolving hook returned neither code nor an exception");
    }
    if pending { 0 } else { code }
}
