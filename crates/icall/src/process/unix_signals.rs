//! `Mono.Unix.UnixSignal.WaitAny`: the loop in Mono's native library that waits for signals, made to end when its
//! thread is aborted.
//!
//! The loop repeats poll(2) after every EINTR and asks a managed callback before whether the machine is shutting down.
//! An abort can be thrown in that callback, but no exception unwinds native frames, so the loop would go on for ever.
//! Here the loop asks a function of ours in place of the callback, which also knows of the abort; the loop then frees
//! what it holds and returns, and the abort is thrown behind it.

use saki_runtime::exec::thread_aborts;
use saki_runtime::vm::exit;
use saki_runtime::{CurrentThread, OwnFunction};
use saki_thread::REQUEST_ABORT;
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

type IsOver = extern "C" fn() -> i32;
type WaitAny = unsafe extern "C" fn(*const *mut c_void, i32, i32, IsOver) -> i32;

/// Address of the library's function; stored before compiled code gets that of `wait_any`.
static ORIGINAL: AtomicUsize = AtomicUsize::new(0);

extern "C" fn is_shutting_down() -> i32 {
    i32::from(exit::has_shutdown_started())
}

extern "C" fn is_aborted_or_shutting_down() -> i32 {
    let is_aborted = saki_thread::current().is_some_and(|thread| thread.pending_requests() & REQUEST_ABORT != 0);
    i32::from(is_aborted || exit::has_shutdown_started())
}

/// Whether an abort would have to wait, because the thread is in a finally block.
fn is_abort_deferred() -> bool {
    CurrentThread::with(|t| {
        // SAFETY: compiled code called `enter_native` before it called the P/Invoke's function; all frames since are
        // ours and hold no references.
        unsafe { saki_thread::leave_native(t.abi()) };
        let is_deferred = thread_aborts::abort_is_deferred(t);
        // SAFETY: the thread is RUNNING, and the frames here still hold no references.
        unsafe { saki_thread::enter_native(t.abi()) };
        is_deferred
    })
}

/// See the module header.
///
/// # Safety
/// The contract of the library's function. Compiled code calls it as native code.
unsafe extern "C" fn wait_any(signals: *const *mut c_void, count: i32, timeout_ms: i32, _callback: *const ()) -> i32 {
    // Acquire: pairs with the Release of the resolver.
    let original = ORIGINAL.load(Ordering::Acquire);
    if original == 0 {
        saki_base::bug!("the wait for signals without the library's function");
    }
    // SAFETY: the address of the library's function, which has this signature.
    let original: WaitAny = unsafe { std::mem::transmute(original) };
    let is_over: IsOver = if is_abort_deferred() { is_shutting_down } else { is_aborted_or_shutting_down };
    // SAFETY: the arguments of UnixSignal, which calls `original` by this signature, but for the function that ends the
    // wait.
    unsafe { original(signals, count, timeout_ms, is_over) }
}

/// The function that stands in for that of the library.
pub static OWN_FUNCTIONS: &[OwnFunction] = &[OwnFunction {
    library: "libMonoPosixHelper",
    name: "Mono_Unix_UnixSignal_WaitAny",
    address: wait_any as *const (),
    original: Some(&ORIGINAL),
}];
