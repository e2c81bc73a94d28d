//! Stack traces: recording frames in an exception while it is thrown, and walking the live stack.
//!
//! `object::exception_trace` says how an exception holds its frames. Traces of exceptions also show, as Mono's do, wrapper frames: `Invoke` of delegates, stubs for proxies, the lock of a
//! synchronized method. Walks of the live stack leave these frames out.

use crate::exception_trace::{self, CALLED_BY_NATIVE, frame_count, last_frame};
pub use crate::exception_trace::{NO_IL_OFFSET, TraceFrame, frames_of};
use crate::exceptions::{self, Thrown};
use crate::profile_events;
use crate::profile_log::{self, LogEvents};
use crate::thread::{CurrentThread, Managed};
use saki_abi::{ObjRef, position};
use saki_code::{CodeInfo, CodeKind};
use saki_thread::ManagedThread;
use saki_types::method::impl_flags;
use saki_types::{Method, MethodKind, RemotingStub};
use saki_unwind::{Frame, Frames};
use std::sync::atomic::Ordering;

/// Calls `visit` with the frame's methods, inlined ones first.
pub(crate) fn for_each_method(frame: &Frame, visit: impl FnMut(TraceFrame)) {
    if let Some(info) = frame.code() {
        for_each_method_at(info, frame.native_offset().unwrap_or(0), visit);
    }
}

/// As `for_each_method`, of the instruction at this offset of a body.
pub(crate) fn for_each_method_at(info: &CodeInfo, native_offset: u32, mut visit: impl FnMut(TraceFrame)) {
    if !matches!(info.kind, CodeKind::Method | CodeKind::NativeThunk | CodeKind::Filter) || info.method.is_null() {
        return;
    }
    let mut at = info.position(native_offset);
    while let Some((position, site)) = at.and_then(|p| Some((p, info.inline_site(p)?))) {
        // SAFETY: inline sites are recorded with their `&'static Method`.
        let method = unsafe { &*(site.method as *const Method) };
        let il_offset = position::unpack(position).1;
        visit(TraceFrame { method, il_offset, native_offset, is_inlined: true, is_wrapper: false });
        at = Some(site.call_position);
    }
    // SAFETY: code of these kinds is placed with its `&'static Method`.
    let method = unsafe { &*(info.method as *const Method) };
    let il_offset = at.map_or(NO_IL_OFFSET, |p| position::unpack(p).1);
    visit(TraceFrame { method, il_offset, native_offset, is_inlined: false, is_wrapper: false });
}

/// The wrapper that a frame is, if traces show it; `exception` has the frames inside it.
fn wrapper_of(exception: ObjRef, frame: &Frame) -> Option<TraceFrame> {
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
    // Relaxed: only compared.
    if method.owner.is_delegate() && method.runtime.code.load(Ordering::Relaxed) != info.start {
        // The entry that native code calls for the delegate: shown as the wrapper of the method that it called in turn.
        let called = frames_of(exception).into_iter().rev().find(|inner| !inner.is_wrapper)?;
        return Some(TraceFrame { il_offset: CALLED_BY_NATIVE, native_offset: 0, is_wrapper: true, ..called });
    }
    let il_offset = frame.position().map_or(NO_IL_OFFSET, |p| position::unpack(p).1);
    Some(TraceFrame { method, il_offset, native_offset: 0, is_inlined: false, is_wrapper: true })
}

/// The wrapper that takes the lock, if `exception` was thrown out of a synchronized method last.
fn wrapper_left(exception: ObjRef) -> Option<TraceFrame> {
    let last = last_frame(exception)?;
    let is_left = !last.is_wrapper
        && last.method.impl_flags & impl_flags::SYNCHRONIZED != 0
        && !(last.method.is_internal_call() || last.method.is_pinvoke());
    is_left.then_some(TraceFrame { il_offset: NO_IL_OFFSET, native_offset: 0, is_wrapper: true, ..last })
}

/// Frames in the trace of a stack overflow: the innermost ones, of perhaps a million.
const MAX_OVERFLOW_FRAMES: usize = 1000;

/// Appends a frame. Without memory for it the frame is left out.
pub fn append(t: CurrentThread, exception: ObjRef, frame: &Frame) {
    if profile_events::is_listening_to_throws() && frame_count(exception) == 0 {
        profile_events::thrown(t, exception);
    }
    if profile_log::is_on(LogEvents::EXCEPTION) && frame_count(exception) == 0 {
        profile_log::events::thrown(t, exception);
    }
    if frame_count(exception) >= MAX_OVERFLOW_FRAMES && exceptions::is_stack_overflow(exception) {
        return;
    }
    let add = |method| {
        if let Err(Thrown(())) = hold_and_add(t, exception, method) {
            t.take_pending();
        }
    };
    // Only now: a synchronized method that catches the exception is not left.
    wrapper_left(exception).into_iter().for_each(add);
    for_each_method(frame, add);
    wrapper_of(exception, frame).into_iter().for_each(add);
}

/// The exception keeps a dynamic method that its trace names.
fn hold_and_add(t: CurrentThread, exception: ObjRef, frame: TraceFrame) -> Managed<()> {
    if frame.method.is_dynamic() {
        crate::dynamic_methods::hold_by_exception(t, exception, frame.method);
    }
    exception_trace::add(t, exception, frame)
}

/// The managed frames of the current thread, innermost first; internal calls are frames of their own.
pub fn walk(t: CurrentThread) -> Vec<TraceFrame> {
    // SAFETY: the current thread's own stack, walked from the thunk that called the runtime.
    let frames = unsafe { Frames::of_thread(t.abi()) };
    let mut methods = Vec::new();
    frames.for_each(|frame| for_each_method(&frame, |method| methods.push(method)));
    methods
}

/// The managed frames of a stopped thread, innermost first, at most `max_frames`; and how many there are.
pub(crate) fn walk_stopped(thread: &ManagedThread, max_frames: usize) -> (Vec<TraceFrame>, usize) {
    // SAFETY: stopped threads are in the runtime or in native code, and their frames above that do not change.
    let frames = unsafe { Frames::of_thread(thread.abi()) };
    let (mut methods, mut depth) = (Vec::new(), 0);
    frames.for_each(|frame| {
        for_each_method(&frame, |method| {
            depth += 1;
            if depth <= max_frames {
                methods.push(method);
            }
        });
    });
    (methods, depth)
}

/// The caller of an internal call: the innermost frame that is not an internal call's wrapper; `skip` more frames up.
pub fn caller(t: CurrentThread, skip: usize) -> Option<&'static Method> {
    walk(t).into_iter().map(|f| f.method).filter(|m| !m.is_internal_call()).nth(skip)
}
