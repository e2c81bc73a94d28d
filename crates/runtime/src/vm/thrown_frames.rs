//! Recording frames in an exception while it is thrown.
//!
//! Traces of exceptions also show, as Mono's do, wrapper frames: `Invoke` of delegates, stubs for proxies, the lock of
//! a synchronized method. Walks of the live stack (`stack_trace`) leave these frames out.

use crate::call_trace;
use crate::entries::compiled_code;
use crate::exception_trace::{self, CALLED_BY_NATIVE, NO_IL_OFFSET, TraceFrame, frame_count, frames_of, last_frame};
use crate::exceptions::{self, Thrown};
use crate::profile_events;
use crate::profile_log::{self, LogEvents};
use crate::references::Obj;
use crate::stack_trace::for_each_method;
use crate::thread::{CurrentThread, Managed};
use saki_abi::position;
use saki_code::CodeKind;
use saki_types::method::impl_flags;
use saki_types::{Method, MethodKind, RemotingStub};
use saki_unwind::Frame;

/// The wrapper that a frame is, if traces show it; `exception` has the frames inside it.
fn wrapper_of(exception: Obj, frame: &Frame) -> Option<TraceFrame> {
    let info = frame.code().filter(|info| info.kind == CodeKind::Stub)?;
    // SAFETY: null or the `&'static Method` that the code was placed with.
    let method = unsafe { (info.method as *const Method).as_ref() }?;
    let is_shown = match method.kind {
        MethodKind::Remoting(stub) => matches!(stub, RemotingStub::Invoke(_) | RemotingStub::Call(_)),
        _ => method.owner.is_delegate() && matches!(method.name, "Invoke" | "EndInvoke"),
    };
    if !is_shown {
        return None;
    }
    if method.owner.is_delegate() && compiled_code(method) != Some(info.start) {
        // The code is the entry that native code calls for the delegate; it is shown as the wrapper of the method that it called.
        let called = frames_of(exception).into_iter().rev().find(|inner| !inner.is_wrapper)?;
        let wrapper = TraceFrame { is_wrapper: true, ends_earlier_throw: false, ..called };
        return Some(TraceFrame { il_offset: CALLED_BY_NATIVE, native_offset: 0, ..wrapper });
    }
    let il_offset = frame.position().map_or(NO_IL_OFFSET, |p| position::unpack(p).1);
    let ends_earlier_throw = false;
    Some(TraceFrame { method, il_offset, native_offset: 0, is_inlined: false, is_wrapper: true, ends_earlier_throw })
}

/// The wrapper that takes the lock, if the last frame that `exception` left is that of a synchronized method.
fn wrapper_left(exception: Obj) -> Option<TraceFrame> {
    let last = last_frame(exception)?;
    let is_left = !last.is_wrapper
        && last.method.impl_flags & impl_flags::SYNCHRONIZED != 0
        && !(last.method.is_internal_call() || last.method.is_pinvoke());
    let wrapper = TraceFrame { is_wrapper: true, ends_earlier_throw: false, ..last };
    is_left.then_some(TraceFrame { il_offset: NO_IL_OFFSET, native_offset: 0, ..wrapper })
}

/// The most frames in the trace of a stack overflow: the innermost ones, of perhaps a million.
const MAX_OVERFLOW_FRAMES: usize = 1000;

/// Appends a frame, which is left out if there is no memory for it.
pub fn append(t: CurrentThread, exception: Obj, frame: &Frame) {
    if profile_events::is_listening_to_throws() && frame_count(exception) == 0 {
        profile_events::thrown(t, exception);
    }
    if profile_log::is_on(LogEvents::EXCEPTION) && frame_count(exception) == 0 {
        profile_log::events::thrown(t, exception);
    }
    if call_trace::is_enabled() && frame_count(exception) == 0 {
        call_trace::thrown(t, exception);
    }
    if frame_count(exception) >= MAX_OVERFLOW_FRAMES && exceptions::is_stack_overflow(t, exception) {
        return;
    }
    let add = |method| {
        if let Err(Thrown(())) = hold_and_add(t, exception, method) {
            t.take_pending();
        }
    };
    // The wrapper is added only when an outer frame is reached: a synchronized method that catches the exception is not
    // left.
    wrapper_left(exception).into_iter().for_each(add);
    for_each_method(frame, add);
    wrapper_of(exception, frame).into_iter().for_each(add);
}

/// Adds a frame, and makes the exception keep the frame's method if it is a dynamic one.
fn hold_and_add(t: CurrentThread, exception: Obj, frame: TraceFrame) -> Managed<()> {
    if frame.method.is_dynamic() {
        crate::dynamic_methods::hold_by_exception(t, exception, frame.method);
    }
    exception_trace::add(t, exception, frame)
}
