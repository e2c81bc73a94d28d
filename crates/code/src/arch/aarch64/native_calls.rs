//! aarch64: the stubs through which compiled code calls C functions (`StubId::CallNative`).
//!
//! ```text
//! x29 + 8    return address (managed)
//! x29        caller's x29                    ← exit_frame
//! x29 - 16   the address behind the call: tells this frame from those of other stubs
//! x29 - 80   d8 … d15
//! x29 - 160  x19 … x28                       ← sp, published_sp
//! below      a copy of the arguments in memory, where there are any, since the stub's frame lies between the
//!            caller's frame and the function's
//! below      native code; then, while the hooks run, the registers of arguments or results
//! ```
//! The thread's states and their orderings are those of `thread::protocol`: the stub is `StopWords::enter` before the
//! call and `StopWords::try_leave_safe` after it, with the light barrier of `os::membarrier`. SAFE is stored with
//! Release; the poll word is loaded with Acquire after RUNNING.
//!
//! Invariant: from the store of SAFE to the load of the poll word after RUNNING the stub touches nothing at or above
//! the published stack pointer.

use crate::hooks::{self, StubHooks};
use saki_abi::ThreadAbi;
use saki_abi::thread::{
    THREAD_EXIT_FRAME_OFFSET, THREAD_LAST_ERROR_OFFSET, THREAD_POLL_OFFSET, THREAD_POLL_STOP,
    THREAD_PUBLISHED_SP_OFFSET, THREAD_RUNNING, THREAD_SAFE, THREAD_STATE_OFFSET, THREAD_STUB_ARG_OFFSET,
};
use saki_os::membarrier;
use std::arch::{asm, naked_asm};
use std::mem::offset_of;
use std::sync::atomic::{AtomicIsize, Ordering};

/// Bytes from the thread pointer (TPIDR_EL0) to `errno`. The same for all OS threads, because the C library is there
/// when the process starts, so that its variables are in the static block.
static ERRNO_OFFSET_BYTES: AtomicIsize = AtomicIsize::new(0);

// The stub stores the zero register for the whole word of the state.
const _: () = assert!(THREAD_RUNNING == 0);

/// The lines between the function's return and the thread's come back are given by the user.
macro_rules! native_call_stub {
    ($(#[$doc:meta])* $name:ident, $returned:literal, $($before_call:literal)*, $($after_call:literal)*, $($operand:ident = $kind:ident $value:expr),*) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// Only managed code calls this stub: x21 is the thread, `stub_arg[0]` the address of a C function, whose
        /// arguments are in their registers and where the stub's kind says.
        #[allow(named_asm_labels, reason = "`return_from_native_call` needs the address behind the call")]
        #[unsafe(naked)]
        pub(super) unsafe extern "C" fn $name() {
            naked_asm!(
                "stp x29, x30, [sp, #-16]!",
                "mov x29, sp",
                "sub sp, sp, #{saved}",
                "stp x19, x20, [sp]",
                "stp x21, x22, [sp, #16]",
                "stp x23, x24, [sp, #32]",
                "stp x25, x26, [sp, #48]",
                "stp x27, x28, [sp, #64]",
                "stp d8, d9, [sp, #80]",
                "stp d10, d11, [sp, #96]",
                "stp d12, d13, [sp, #112]",
                "stp d14, d15, [sp, #128]",
                concat!("adr x9, ", $returned),
                "str x9, [sp, #144]",
                "str x29, [x21, #{exit_frame}]",
                "mov x9, sp",
                "str x9, [x21, #{published_sp}]",
                $($before_call,)*
                "add x9, x21, #{state}",
                "mov w10, #{safe}",
                "stlr w10, [x9]",
                "adrp x9, {mode}",
                "ldrb w9, [x9, #:lo12:{mode}]",
                "cmp w9, #{asymmetric}",
                "b.ne 4f",
                "2:",
                "ldr w9, [x21, #{poll}]",
                "tst w9, #{stop}",
                "b.ne 5f",
                "3:",
                "ldr x16, [x21, #{function}]",
                "blr x16",
                concat!(".hidden ", $returned),
                concat!(".globl ", $returned),
                concat!($returned, ":"),
                $($after_call,)*
                // The state, and `registers_are_saved` beside it, which a callback may have left behind.
                "str xzr, [x21, #{state}]",
                "adrp x9, {mode}",
                "ldrb w9, [x9, #:lo12:{mode}]",
                "cmp w9, #{asymmetric}",
                "b.ne 6f",
                "7:",
                "add x9, x21, #{poll}",
                "ldar w9, [x9]",
                "cbnz w9, 8f",
                "9:",
                "mov sp, x29",
                "ldp x29, x30, [sp], #16",
                "ret",
                "4:",
                "dmb ish",
                "b 2b",
                "6:",
                "dmb ish",
                "b 7b",
                "5:",
                "sub sp, sp, #208",
                "stp x0, x1, [sp]",
                "stp x2, x3, [sp, #16]",
                "stp x4, x5, [sp, #32]",
                "stp x6, x7, [sp, #48]",
                "str x8, [sp, #64]",
                "stp q0, q1, [sp, #80]",
                "stp q2, q3, [sp, #112]",
                "stp q4, q5, [sp, #144]",
                "stp q6, q7, [sp, #176]",
                "mov x0, x21",
                "adrp x16, {hooks}",
                "add x16, x16, #:lo12:{hooks}",
                "ldr x16, [x16, #{entered}]",
                "blr x16",
                "ldp x0, x1, [sp]",
                "ldp x2, x3, [sp, #16]",
                "ldp x4, x5, [sp, #32]",
                "ldp x6, x7, [sp, #48]",
                "ldr x8, [sp, #64]",
                "ldp q0, q1, [sp, #80]",
                "ldp q2, q3, [sp, #112]",
                "ldp q4, q5, [sp, #144]",
                "ldp q6, q7, [sp, #176]",
                "add sp, sp, #208",
                "b 3b",
                "8:",
                "sub sp, sp, #80",
                "stp x0, x1, [sp]",
                "stp q0, q1, [sp, #16]",
                "stp q2, q3, [sp, #48]",
                "mov x0, x21",
                "adrp x16, {hooks}",
                "add x16, x16, #:lo12:{hooks}",
                "ldr x16, [x16, #{returned}]",
                "blr x16",
                "ldp x0, x1, [sp]",
                "ldp q0, q1, [sp, #16]",
                "ldp q2, q3, [sp, #48]",
                "b 9b",
                saved = const SAVED_BYTES,
                exit_frame = const THREAD_EXIT_FRAME_OFFSET,
                published_sp = const THREAD_PUBLISHED_SP_OFFSET,
                state = const THREAD_STATE_OFFSET,
                safe = const THREAD_SAFE,
                poll = const THREAD_POLL_OFFSET,
                stop = const THREAD_POLL_STOP,
                function = const THREAD_STUB_ARG_OFFSET,
                mode = sym membarrier::MODE,
                asymmetric = const membarrier::ASYMMETRIC,
                hooks = sym hooks::HOOKS,
                entered = const offset_of!(StubHooks, native_entered),
                returned = const offset_of!(StubHooks, native_returned),
                $($operand = $kind $value,)*
            )
        }
    };
}

/// Bytes below the stub's frame pointer while the function runs.
const SAVED_BYTES: usize = 160;

/// A stub for functions whose arguments are in registers.
macro_rules! plain_native_call_stub {
    ($(#[$doc:meta])* $name:ident, $returned:literal, $($after_call:literal)*, $($operand:ident = $kind:ident $value:expr),*) => {
        native_call_stub!($(#[$doc])* $name, $returned, , $($after_call)*, $($operand = $kind $value),*);
    };
}

/// A stub that copies arguments in memory: x10 to x14 hold no arguments.
macro_rules! copying_native_call_stub {
    ($(#[$doc:meta])* $name:ident, $returned:literal, $($after_call:literal)*, $($operand:ident = $kind:ident $value:expr),*) => {
        native_call_stub!(
            $(#[$doc])*
            $name,
            $returned,
            "ldr x10, [x21, #{memory_bytes}]"
            "sub sp, sp, x10"
            "mov x11, sp"
            "add x12, x29, #16"
            "22:"
            "ldp x13, x14, [x12], #16"
            "stp x13, x14, [x11], #16"
            "subs x10, x10, #16"
            "b.ne 22b",
            $($after_call)*,
            memory_bytes = const THREAD_STUB_ARG_OFFSET + 8 $(, $operand = $kind $value)*
        );
    };
}

/// A stub of the kind given that saves errno; linked through `knowing_errno`.
macro_rules! error_saving_stub {
    ($kind:ident, $(#[$doc:meta])* $name:ident, $returned:literal) => {
        $kind!(
            $(#[$doc])*
            $name,
            $returned,
            "adrp x9, {errno_offset}"
            "ldr x9, [x9, #:lo12:{errno_offset}]"
            "mrs x10, tpidr_el0"
            "ldr w9, [x10, x9]"
            "str w9, [x21, #{last_error}]",
            errno_offset = sym ERRNO_OFFSET_BYTES,
            last_error = const THREAD_LAST_ERROR_OFFSET
        );
    };
}

plain_native_call_stub!(
    /// `StubId::CallNative`.
    call_native,
    "saki_call_native_returned",
    ,
);

error_saving_stub!(
    plain_native_call_stub,
    /// `StubId::CallNativeSavingError`.
    call_native_saving_error,
    "saki_call_native_saving_error_returned"
);

copying_native_call_stub!(
    /// `StubId::CallNativeInMemory`.
    call_native_in_memory,
    "saki_call_native_in_memory_returned",
    ,
);

error_saving_stub!(
    copying_native_call_stub,
    /// `StubId::CallNativeInMemorySavingError`.
    call_native_in_memory_saving_error,
    "saki_call_native_in_memory_saving_error_returned"
);

unsafe extern "C" {
    /// Where the function of `call_native` returns to; not a function.
    fn saki_call_native_returned();
    /// Where that of `call_native_saving_error` returns to.
    fn saki_call_native_saving_error_returned();
    /// Where those of the stubs that copy arguments return to.
    fn saki_call_native_in_memory_returned();
    /// See above.
    fn saki_call_native_in_memory_saving_error_returned();
}

/// Bytes from the stub's frame pointer down to the word that tells which stub it is.
const RETURNED_BYTES: usize = 16;

/// See `crate::return_from_native_call`.
///
/// # Safety
/// Those of that function.
pub(super) unsafe fn return_from_native_call(thread: *mut ThreadAbi) {
    // SAFETY: the current thread's own field.
    let frame = unsafe { (*thread).exit_frame };
    if frame == 0 {
        return;
    }
    // SAFETY: the frame of the stub, or of another one, that called this thread's innermost native code: it lies on the
    // stack, below which that code's frames are.
    let returned = unsafe { ((frame - RETURNED_BYTES) as *const usize).read() };
    let stubs: [unsafe extern "C" fn(); 4] = [
        saki_call_native_returned,
        saki_call_native_saving_error_returned,
        saki_call_native_in_memory_returned,
        saki_call_native_in_memory_saving_error_returned,
    ];
    if stubs.iter().any(|stub| *stub as usize == returned) {
        // SAFETY: the frame is a stub's, whose saved registers and return address are in their places.
        unsafe { return_zero(thread, frame) };
    }
}

/// `ret` of the C function, with the registers that the stub saved, which the function would have preserved.
///
/// # Safety
/// `frame` is the frame pointer of one of the stubs, which waits for its function.
#[unsafe(naked)]
unsafe extern "C" fn return_zero(thread: *mut ThreadAbi, frame: usize) {
    naked_asm!(
        "mov x29, x1",
        "sub sp, x29, #{saved}",
        "ldp x19, x20, [sp]",
        "ldp x21, x22, [sp, #16]",
        "ldp x23, x24, [sp, #32]",
        "ldp x25, x26, [sp, #48]",
        "ldp x27, x28, [sp, #64]",
        "ldp d8, d9, [sp, #80]",
        "ldp d10, d11, [sp, #96]",
        "ldp d12, d13, [sp, #112]",
        "ldp d14, d15, [sp, #128]",
        "ldr x30, [sp, #144]",
        "mov x0, #0",
        "mov x1, #0",
        "movi v0.2d, #0",
        "movi v1.2d, #0",
        "movi v2.2d, #0",
        "movi v3.2d, #0",
        "ret",
        saved = const SAVED_BYTES,
    )
}

/// A stub that saves errno, from now on with knowledge where that is.
pub(super) fn knowing_errno(stub: unsafe extern "C" fn()) -> unsafe extern "C" fn() {
    let thread_pointer: isize;
    // SAFETY: reads the calling OS thread's thread pointer.
    unsafe { asm!("mrs {}, tpidr_el0", out(reg) thread_pointer, options(nomem, nostack, preserves_flags)) };
    // Relaxed: every writer stores the same number, and code that calls the stub is placed after a store.
    ERRNO_OFFSET_BYTES.store(saki_os::error::errno_address() as isize - thread_pointer, Ordering::Relaxed);
    stub
}
