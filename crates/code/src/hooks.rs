//! The Rust functions that the assembly stubs call; installed once at start-up by `runtime` and `unwind`.
//!
//! Invariant: hooks never unwind (a panic in them aborts, being `extern "C"`); an exception for the program is left in
//! `ThreadAbi.pending_exception`. A hook that is not installed aborts with its name.

use saki_abi::{ObjRef, ThreadAbi};
use std::sync::atomic::{AtomicPtr, Ordering};

/// Where a throwing stub continues: filled in by the unwinder, loaded by the stub after the unwinder has returned.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Landing {
    pub pc: usize,
    pub sp: usize,
    pub fp: usize,
    /// The exception object, in the first result register.
    pub exception: usize,
    /// Clause index or unwind token, in the second result register.
    pub selector: u64,
}

const _: () = assert!(size_of::<Landing>() == 40);

/// The hooks of the runtime. All get the current thread, whose `exit_frame` is the stub's frame.
#[derive(Clone, Copy)]
pub struct RuntimeHooks {
    /// (thread, entry argument) → code address to continue in. 0 = `pending_exception` is set. The hook itself calls
    /// `MethodEntry::set_target` when the method is compiled.
    pub compile: unsafe extern "C" fn(*mut ThreadAbi, *const ()) -> usize,
    /// (thread, receiver, interface method) → code address; cached for (vtable, method). 0 = `pending_exception` is set.
    pub resolve_interface: unsafe extern "C" fn(*mut ThreadAbi, ObjRef, *const ()) -> usize,
    /// Safepoint slow path.
    pub poll: unsafe extern "C" fn(*mut ThreadAbi),
    /// Type in `stub_arg[0]`.
    pub class_init: unsafe extern "C" fn(*mut ThreadAbi),
    /// Vtable in `stub_arg[0]`, object to `stub_result`.
    pub alloc_slow: unsafe extern "C" fn(*mut ThreadAbi),
    /// Object in `stub_arg[0]`.
    pub barrier_slow: unsafe extern "C" fn(*mut ThreadAbi),
}

/// The hooks of the unwinder: each fills in the `Landing` at which the stub continues.
#[derive(Clone, Copy)]
pub struct UnwindHooks {
    /// (thread, stub's frame pointer, out) Throws `pending_exception` from the stub's caller.
    pub throw_pending: unsafe extern "C" fn(*mut ThreadAbi, usize, *mut Landing),
    /// (thread, stub's frame pointer, out, exception, token) Continues the second pass.
    pub resume: unsafe extern "C" fn(*mut ThreadAbi, usize, *mut Landing, ObjRef, u64),
    /// (thread, stub's frame pointer, out, fault kind) Throws for a hardware fault.
    pub fault: unsafe extern "C" fn(*mut ThreadAbi, usize, *mut Landing, u64),
}

macro_rules! slots {
    ($($slot:ident;)*) => {
        $(
            /// Address of the hook; `jmp`/`call` through it in assembly.
            pub(crate) static $slot: AtomicPtr<()> = {
                extern "C" fn missing() -> ! {
                    saki_base::bug!(concat!("hook ", stringify!($slot), " is not installed"))
                }
                AtomicPtr::new(missing as extern "C" fn() -> ! as *mut ())
            };
        )*
    };
}

slots! {
    COMPILE;
    RESOLVE_INTERFACE;
    POLL;
    CLASS_INIT;
    ALLOC_SLOW;
    BARRIER_SLOW;
    THROW_PENDING;
    RESUME;
    FAULT;
}

/// Installs the runtime's hooks, before any managed code runs.
pub fn install_runtime_hooks(hooks: RuntimeHooks) {
    // Release: what the hooks rely on was set up before.
    COMPILE.store(hooks.compile as *mut (), Ordering::Release);
    RESOLVE_INTERFACE.store(hooks.resolve_interface as *mut (), Ordering::Release);
    POLL.store(hooks.poll as *mut (), Ordering::Release);
    CLASS_INIT.store(hooks.class_init as *mut (), Ordering::Release);
    ALLOC_SLOW.store(hooks.alloc_slow as *mut (), Ordering::Release);
    BARRIER_SLOW.store(hooks.barrier_slow as *mut (), Ordering::Release);
}

/// Installs the unwinder's hooks; `saki_unwind::install` calls it.
pub fn install_unwind_hooks(hooks: UnwindHooks) {
    // Release: as above.
    THROW_PENDING.store(hooks.throw_pending as *mut (), Ordering::Release);
    RESUME.store(hooks.resume as *mut (), Ordering::Release);
    FAULT.store(hooks.fault as *mut (), Ordering::Release);
}
