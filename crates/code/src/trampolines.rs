//! The Rust behind the compile trampoline, and the start of all stubs.
//!
//! Invariant: assembly reaches this by an address that `install_hooks` stores: so stubs name neither entries nor this.
//! Left out: saving and restoring the arguments (`arch`); interface dispatch (`imt`).

use crate::entry::MethodEntry;
use crate::hooks::{self, StubHooks};
use saki_abi::ThreadAbi;
use std::sync::atomic::{Ordering, fence};

/// Gives the stubs their hooks, before any managed code runs. The first ones stay.
pub fn install_hooks(hooks: StubHooks) {
    hooks::install(hooks, compile_entry);
}

/// The address at which the compile trampoline goes on, or 0 with an exception pending.
///
/// # Safety
/// Called by the compile trampoline with the current thread and the address of an entry stub.
unsafe extern "C" fn compile_entry(thread: *mut ThreadAbi, stub: usize) -> usize {
    // Acquire: compiled code has loaded the stub's address from where it was published with the entry's argument.
    fence(Ordering::Acquire);
    let Some(entry) = MethodEntry::of_stub(stub) else {
        saki_base::bug!("compile trampoline reached from {stub:#x}, which is no entry stub");
    };
    // SAFETY: managed code has called the entry.
    let hooks = unsafe { hooks::installed() };
    // SAFETY: `thread` is current, the argument is the one the entry was made with.
    let code = unsafe { (hooks.compile)(thread, entry.argument()) };
    // SAFETY: `thread` is current.
    unsafe { hooks::code_or_pending(thread, code) }
}
