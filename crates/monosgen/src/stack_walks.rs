//! The managed frames of the calling thread, for `mono/metadata/loader.h`.

use crate::call::call;
use saki_os::FaultContext;
use saki_runtime::vm::domains::{self, Domain};
use saki_types::Method;
use saki_unwind::{Frames, Interrupted};
use std::ffi::{c_int, c_void};
use std::ptr;

/// Looks at a frame; 1 to stop.
type StackWalk = unsafe extern "C" fn(Option<&'static Method>, i32, i32, c_int, *mut c_void) -> c_int;

/// Shows the managed frames of the calling thread, the innermost first, until the host's function gives 1.
///
/// # Safety
/// `function` may be called with `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_stack_walk(function: StackWalk, data: *mut c_void) {
    let frames = call("mono_stack_walk", saki_runtime::vm::stack_trace::walk);
    for frame in frames {
        let (native, il) = (frame.native_offset as i32, frame.il_offset as i32);
        // SAFETY: the host's function and its data.
        if unsafe { function(Some(frame.method), native, il, 1, data) } != 0 {
            return;
        }
    }
}

/// [`mono_stack_walk`]: positions in CIL cost nothing.
///
/// # Safety
/// `function` may be called with `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_stack_walk_no_il(function: StackWalk, data: *mut c_void) {
    // SAFETY: the host's function and its data.
    unsafe { mono_stack_walk(function, data) };
}

/// Looks at a frame: the method, its domain, where its code begins and the place there; 1 to stop.
type AsyncStackWalk =
    unsafe extern "C" fn(Option<&'static Method>, Option<&'static Domain>, *const c_void, c_int, *mut c_void) -> c_int;

/// Shows the managed frames of the calling thread, which a signal has interrupted, the innermost first, until the
/// host's function gives 1. For handlers of signals: takes no lock. In native code the walk begins where managed code
/// called it last; a method that was inlined has no frame of its own.
///
/// # Safety
/// `context` is what the handler got, on the thread that it runs on; `function` may be called with `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_stack_walk_async_safe(function: AsyncStackWalk, context: *mut c_void, data: *mut c_void) {
    let Some(thread) = saki_thread::current() else { return };
    // SAFETY: the handler's argument; the signal's number and its other argument are not asked for.
    let context = unsafe { FaultContext::from_raw(0, ptr::null_mut(), context) };
    let at = Interrupted { pc: context.pc(), sp: context.sp(), fp: context.fp(), link: None };
    // The bodies stay until the walk ends.
    let _walk = saki_code::walks().enter();
    // SAFETY: the current thread with its registers; it runs this handler meanwhile.
    for frame in unsafe { Frames::of_context(thread.abi(), at) } {
        let (Some(code), Some(offset)) = (frame.code(), frame.native_offset()) else { continue };
        // SAFETY: code with a method is placed with its `&'static Method`.
        let Some(method) = (unsafe { code.method.cast::<Method>().as_ref() }) else { continue };
        let domain = domains::of_universe(method.owner.universe());
        let start = ptr::with_exposed_provenance(code.start);
        // SAFETY: the host's function and its data.
        if unsafe { function(Some(method), Some(domain), start, offset as c_int, data) } != 0 {
            return;
        }
    }
}
