//! Stack traces: recording frames in an exception while it is thrown, and walking the live stack.
//!
//! `Exception._stackTrace` is opaque to managed code. Saki keeps a `long[]` there: the number of frames, then for each frame
//! the method's address and (IL offset << 32 | native offset). It grows by doubling. Bodies inlined into a frame are frames of
//! their own, marked as part of the one that follows (`INLINED`).
//!
//! Traces of exceptions also show, as Mono's do, wrapper frames (`WRAPPER`): `Invoke` of delegates, stubs for proxies, the lock of a
//! synchronized method. Walks of the live stack leave these frames out.

use crate::exceptions::{self, Thrown};
use crate::fields::ManagedField;
use crate::object;
use crate::profile_events;
use crate::profile_log::{self, LogEvents};
use crate::thread::{CurrentThread, Managed};
use saki_abi::{ObjRef, position};
use saki_code::{CodeInfo, CodeKind};
use saki_il::synth::delegate::VIRTUAL_CALL_POSITION;
use saki_thread::ManagedThread;
use saki_types::method::impl_flags;
use saki_types::{Method, MethodKind, RemotingStub, universe};
use saki_unwind::{Frame, Frames};
use std::sync::atomic::Ordering;

static STACK_TRACE: ManagedField = ManagedField::corlib("System", "Exception", "_stackTrace");

/// IL offset of a frame whose position is not known.
pub const NO_IL_OFFSET: u32 = u32::MAX;

/// One frame of a trace.
#[derive(Clone, Copy, Debug)]
pub struct TraceFrame {
    pub method: &'static Method,
    /// `NO_IL_OFFSET` when not known.
    pub il_offset: u32,
    /// Bytes from the start of the method's code (for an inlined body: of the code it was inlined into).
    pub native_offset: u32,
    /// The next frame's method has this one inlined.
    pub is_inlined: bool,
    /// The frame is not the method's body but a wrapper around it: of a synchronized method the code that takes its lock.
    pub is_wrapper: bool,
}

impl TraceFrame {
    /// For the wrapper of a delegate's call: whether it looks the method up on its first argument.
    pub fn is_virtual_delegate_call(&self) -> bool {
        self.is_wrapper && self.il_offset == VIRTUAL_CALL_POSITION
    }

    /// For a wrapper: whether native code called the method through it, by way of a delegate.
    pub fn is_called_by_native_code(&self) -> bool {
        self.is_wrapper && self.il_offset == CALLED_BY_NATIVE
    }
}

/// In a native offset: the frame is an inlined body.
const INLINED: u32 = 1 << 31;
/// In place of the IL offset of a wrapper: native code called it. No body is that long.
const CALLED_BY_NATIVE: u32 = u32::MAX - 1;
/// In a native offset: the frame is a wrapper.
const WRAPPER: u32 = 1 << 30;

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

const FIRST_FRAMES: usize = 8;
const WORDS_PER_FRAME: usize = 2;

/// `throw` starts a new trace; the traces that ExceptionDispatchInfo has put in stay in front of it.
pub fn reset(t: CurrentThread, exception: ObjRef) {
    STACK_TRACE.set_ref(t, exception, ObjRef::NULL);
}

/// `rethrow` continues the trace; the frame that caught the exception is recorded again, at the position of the rethrow.
pub fn forget_catching_frame(exception: ObjRef) {
    let trace = STACK_TRACE.get_ref(exception);
    if !trace.is_null() {
        let at = words(trace);
        // SAFETY: word 0 of a trace array is its number of frames.
        let mut count = (unsafe { *at } as usize).saturating_sub(1);
        // SAFETY: entries below the number of frames are in the array. The bodies inlined into the frame go with it.
        while count > 0 && unsafe { *at.add(count * WORDS_PER_FRAME) } as u32 & INLINED != 0 {
            count -= 1;
        }
        // SAFETY: as above.
        unsafe { *at = count as i64 };
    }
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
        if let Err(Thrown(())) = try_append(t, exception, method) {
            t.take_pending();
        }
    };
    // Only now: a synchronized method that catches the exception is not left.
    wrapper_left(exception).into_iter().for_each(add);
    for_each_method(frame, add);
    wrapper_of(exception, frame).into_iter().for_each(add);
}

fn words(trace: ObjRef) -> *mut i64 {
    object::element_address(trace, 0, 8) as *mut i64
}

fn try_append(t: CurrentThread, exception: ObjRef, frame: TraceFrame) -> Managed<()> {
    if frame.method.is_dynamic() {
        crate::dynamic_methods::hold_by_exception(t, exception, frame.method);
    }
    let mut trace = STACK_TRACE.get_ref(exception);
    // SAFETY: word 0 of a trace array is its number of frames.
    let count = if trace.is_null() { 0 } else { unsafe { *words(trace) as usize } };
    let needed = 1 + (count + 1) * WORDS_PER_FRAME;
    if trace.is_null() || needed > object::array_length(trace) {
        let capacity = 1 + WORDS_PER_FRAME * (count * 2).max(FIRST_FRAMES);
        let grown = object::new_array(t, universe().int64(), capacity)?;
        if !trace.is_null() {
            // SAFETY: the old array holds `1 + count * WORDS_PER_FRAME` used words, the new one more.
            unsafe { std::ptr::copy_nonoverlapping(words(trace), words(grown), 1 + count * WORDS_PER_FRAME) };
        }
        STACK_TRACE.set_ref(t, exception, grown);
        trace = grown;
    }
    let at = words(trace);
    let inlined = if frame.is_inlined { INLINED } else { 0 };
    let native_offset = frame.native_offset | inlined | if frame.is_wrapper { WRAPPER } else { 0 };
    // SAFETY: `needed` words are there.
    unsafe {
        *at.add(1 + count * WORDS_PER_FRAME) = frame.method as *const Method as i64;
        *at.add(2 + count * WORDS_PER_FRAME) = (i64::from(frame.il_offset) << 32) | i64::from(native_offset);
        *at = count as i64 + 1;
    }
    Ok(())
}

/// The frames recorded in an exception, innermost first.
pub fn frames_of(exception: ObjRef) -> Vec<TraceFrame> {
    let trace = STACK_TRACE.get_ref(exception);
    if trace.is_null() {
        return Vec::new();
    }
    // SAFETY: word 0 of a trace array is its number of frames.
    let count = unsafe { *words(trace) as usize };
    (0..count).map(|index| frame_at(trace, index)).collect()
}

fn frame_count(exception: ObjRef) -> usize {
    let trace = STACK_TRACE.get_ref(exception);
    // SAFETY: word 0 of a trace array is its number of frames.
    if trace.is_null() { 0 } else { unsafe { *words(trace) as usize } }
}

fn last_frame(exception: ObjRef) -> Option<TraceFrame> {
    let last = frame_count(exception).checked_sub(1)?;
    Some(frame_at(STACK_TRACE.get_ref(exception), last))
}

/// Frame `index`, which is less than the number of frames.
fn frame_at(trace: ObjRef, index: usize) -> TraceFrame {
    let at = words(trace);
    // SAFETY: the layout described in the module header.
    let (method, position) =
        unsafe { (*at.add(1 + index * WORDS_PER_FRAME) as *const Method, *at.add(2 + index * WORDS_PER_FRAME)) };
    TraceFrame {
        // SAFETY: `try_append` stored the address of a method that the exception holds.
        method: unsafe { &*method },
        il_offset: (position >> 32) as u32,
        native_offset: position as u32 & !(INLINED | WRAPPER),
        is_inlined: position as u32 & INLINED != 0,
        is_wrapper: position as u32 & WRAPPER != 0,
    }
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
