//! The frames that an exception holds, from its throw to the frame that it has reached.
//!
//! `Exception._stackTrace` is opaque to managed code. Saki keeps a `long[]` there: the number of frames, then for each frame
//! the method's address and (IL offset << 32 | native offset). It grows by doubling. Bodies inlined into a frame are frames of
//! their own, marked as part of the one that follows (`INLINED`), and so are wrappers around methods (`WRAPPER`).
//!
//! Left out: which frames are added (`vm::stack_trace`).

use crate::exceptions::STACK_TRACE;
use crate::object;
use crate::thread::{CurrentThread, Managed};
use saki_abi::ObjRef;
use saki_il::synth::delegate::VIRTUAL_CALL_POSITION;
use saki_types::{Method, universe};

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
pub(crate) const CALLED_BY_NATIVE: u32 = u32::MAX - 1;
/// In a native offset: the frame is a wrapper.
const WRAPPER: u32 = 1 << 30;

const FIRST_FRAMES: usize = 8;
const WORDS_PER_FRAME: usize = 2;

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

fn words(trace: ObjRef) -> *mut i64 {
    object::element_address(trace, 0, 8) as *mut i64
}

/// Adds a frame, whose method the caller keeps from being freed.
///
/// # Errors
/// OutOfMemoryException.
pub(crate) fn add(t: CurrentThread, exception: ObjRef, frame: TraceFrame) -> Managed<()> {
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

pub(crate) fn frame_count(exception: ObjRef) -> usize {
    let trace = STACK_TRACE.get_ref(exception);
    // SAFETY: word 0 of a trace array is its number of frames.
    if trace.is_null() { 0 } else { unsafe { *words(trace) as usize } }
}

pub(crate) fn last_frame(exception: ObjRef) -> Option<TraceFrame> {
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
        // SAFETY: `add` stored the address of a method that the exception holds.
        method: unsafe { &*method },
        il_offset: (position >> 32) as u32,
        native_offset: position as u32 & !(INLINED | WRAPPER),
        is_inlined: position as u32 & INLINED != 0,
        is_wrapper: position as u32 & WRAPPER != 0,
    }
}
