//! Walks of stacks by methods: those inlined into a frame are frames of their own.
//!
//! Left out: the frames that an exception collects (`thrown_frames`).

pub use crate::exception_trace::{NO_IL_OFFSET, TraceFrame, frames_in, frames_of, frozen};
use crate::thread::CurrentThread;
use saki_abi::position;
use saki_code::{CodeInfo, CodeKind};
use saki_thread::ManagedThread;
use saki_types::Method;
use saki_unwind::{Frame, Frames};

/// Calls `visit` with the frame's methods, inlined ones first.
pub(crate) fn for_each_method(frame: &Frame, visit: impl FnMut(TraceFrame)) {
    if let Some(info) = frame.code() {
        for_each_method_at(info, frame.native_offset().unwrap_or(0), visit);
    }
}

/// Calls `visit` with the methods of the instruction at this offset of a body, inlined ones first.
pub(crate) fn for_each_method_at(info: &CodeInfo, native_offset: u32, mut visit: impl FnMut(TraceFrame)) {
    if !matches!(info.kind, CodeKind::Method | CodeKind::NativeThunk | CodeKind::Filter) || info.method.is_null() {
        return;
    }
    let mut at = info.position(native_offset);
    while let Some((position, site)) = at.and_then(|p| Some((p, info.inline_site(p)?))) {
        // SAFETY: inline sites are recorded with their `&'static Method`.
        let method = unsafe { &*(site.method as *const Method) };
        let il_offset = position::unpack(position).1;
        visit(TraceFrame {
            method,
            il_offset,
            native_offset,
            is_inlined: true,
            is_wrapper: false,
            ends_earlier_throw: false,
        });
        at = Some(site.call_position);
    }
    // SAFETY: code of these kinds is placed with its `&'static Method`.
    let method = unsafe { &*(info.method as *const Method) };
    let il_offset = at.map_or(NO_IL_OFFSET, |p| position::unpack(p).1);
    visit(TraceFrame {
        method,
        il_offset,
        native_offset,
        is_inlined: false,
        is_wrapper: false,
        ends_earlier_throw: false,
    });
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
