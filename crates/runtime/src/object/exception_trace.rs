//! The frames that an exception holds, from its throw to the frame that it has reached.
//!
//! `Exception._stackTrace` is opaque to managed code. Saki keeps a `long[]` there: the number of frames, then for each
//! frame the method's address and (IL offset << 32 | native offset). It grows by doubling. Bodies inlined into a frame
//! are frames of their own, marked as part of the one that follows (`INLINED`), and so are wrappers around methods
//! (`WRAPPER`).
//!
//! .NET's ExceptionDispatchInfo takes a copy (`frozen`) and puts it into the exception again before it throws it: the
//! next throw goes on behind the frames of such a copy, and marks the last of them (`END_OF_THROW`).
//!
//! A trace with frames of dynamic methods must keep these methods. Where the class library's Exception has no field for
//! that, as .NET's, an `object[]` with the trace and a list of what it holds, pairs (object, rest), takes the trace's
//! place.
//!
//! Left out: which frames are added (`vm::stack_trace`).

use crate::exception_types::ExceptionType;
use crate::exceptions::{STACK_TRACE, Thrown};
use crate::fields::ManagedField;
use crate::references::{Array, Obj};
use crate::thread::{CurrentThread, Managed};
use saki_il::synth::delegate::VIRTUAL_CALL_POSITION;
use saki_types::{LibraryType, Method, Ty, universe};

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
    /// The frame is not the method's body but a wrapper around it: of a synchronized method the code that takes its
    /// lock.
    pub is_wrapper: bool,
    /// The frame is the last one of a throw whose trace ExceptionDispatchInfo has carried to a later throw.
    pub ends_earlier_throw: bool,
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

/// Bit of a native offset: the frame is an inlined body.
const INLINED: u32 = 1 << 31;
/// In place of the IL offset of a wrapper: native code called it. No body is that long.
pub(crate) const CALLED_BY_NATIVE: u32 = u32::MAX - 1;
/// Bit of a native offset: the frame is a wrapper.
const WRAPPER: u32 = 1 << 30;
/// Bit of a native offset: `TraceFrame::ends_earlier_throw`.
const END_OF_THROW: u32 = 1 << 29;
/// Bit of the word with the number of frames: the throw that made them is known to the program (`announce`).
const ANNOUNCED: i64 = 1 << 33;
/// Bit of the word with the number of frames: the trace is a copy that ExceptionDispatchInfo holds.
const FROZEN: i64 = 1 << 32;

/// What the trace holds, where the class library has a field for it.
static HELD: ManagedField = ManagedField::new(LibraryType::Exception, "_dynamicMethods");

/// An array in the place of a trace: the trace, and what it holds.
#[derive(Clone, Copy)]
struct Holder<'t>(Array<'t>);

impl<'t> Holder<'t> {
    /// The holder that a word of an exception is; None for a bare trace.
    fn in_place_of(trace: Obj<'t>) -> Option<Holder<'t>> {
        trace.as_array().filter(|array| array.ty().element() == Some(universe().object())).map(Holder)
    }

    fn new(t: CurrentThread<'t>, trace: Option<Trace<'t>>, held: Option<Obj<'t>>) -> Managed<Holder<'t>> {
        let holder = Holder(Array::new(t, universe().object(), 2)?);
        holder.set_trace(t, trace);
        holder.set_held(t, held);
        Ok(holder)
    }

    fn trace(self) -> Option<Trace<'t>> {
        self.0.get(0).and_then(Obj::as_array).map(Trace)
    }

    fn set_trace(self, t: CurrentThread<'t>, trace: Option<Trace<'t>>) {
        self.0.set(t, 0, trace.map(|trace| *trace.0));
    }

    fn held(self) -> Option<Obj<'t>> {
        self.0.get(1)
    }

    fn set_held(self, t: CurrentThread<'t>, held: Option<Obj<'t>>) {
        self.0.set(t, 1, held);
    }
}

/// Makes an exception keep an object, with the frames that its trace will have.
///
/// # Errors
/// OutOfMemoryException.
pub(crate) fn hold(t: CurrentThread, exception: Obj, object: Obj) -> Managed<()> {
    let has_field = HELD.is_there();
    let known = STACK_TRACE.obj(exception).filter(|_| !has_field);
    let holder = known.and_then(Holder::in_place_of);
    let list = if has_field { HELD.obj(exception) } else { holder.and_then(Holder::held) };
    if list.and_then(Obj::as_array).is_some_and(|pair| pair.get(0) == Some(object)) {
        return Ok(());
    }
    let pair = Array::new(t, universe().object(), 2)?;
    pair.set(t, 0, Some(object));
    pair.set(t, 1, list);
    match holder {
        _ if has_field => HELD.set_ref(t, exception, pair),
        Some(holder) => holder.set_held(t, Some(*pair)),
        None => STACK_TRACE.set_ref(t, exception, Holder::new(t, Trace::of(exception), Some(*pair))?.0),
    }
    Ok(())
}

/// The exceptions of calls whose callee cannot be compiled, or found.
const CALL_FAILURES: &[ExceptionType] = &[
    ExceptionType::AmbiguousImplementation,
    ExceptionType::AmbiguousMatch,
    ExceptionType::BadImageFormat,
    ExceptionType::FileLoad,
    ExceptionType::FileNotFound,
    ExceptionType::InvalidProgram,
    ExceptionType::MissingField,
    ExceptionType::MissingMethod,
    ExceptionType::TypeLoad,
];

const FIRST_FRAMES: usize = 8;
const WORDS_PER_FRAME: usize = 2;

/// The words of a trace.
#[derive(Clone, Copy)]
struct Trace<'t>(Array<'t>);

impl<'t> Trace<'t> {
    /// The trace of an exception; None before the first frame.
    fn of(exception: Obj<'t>) -> Option<Trace<'t>> {
        STACK_TRACE.obj(exception).and_then(Trace::in_word)
    }

    /// The trace that an exception's word holds.
    fn in_word(word: Obj<'t>) -> Option<Trace<'t>> {
        match Holder::in_place_of(word) {
            Some(holder) => holder.trace(),
            None => word.as_array().map(Trace),
        }
    }

    fn capacity(self) -> usize {
        self.0.length()
    }

    fn word(self, index: usize) -> *mut i64 {
        assert!(index < self.capacity(), "word {index} of a trace of {}", self.capacity());
        self.0.element_address(index).cast()
    }

    fn get(self, index: usize) -> i64 {
        // SAFETY: a word of the array, which is a `long[]`, by the check in `word`.
        unsafe { self.word(index).read() }
    }

    fn set(self, index: usize, value: i64) {
        // SAFETY: a word of the array, which is a `long[]`, by the check in `word`.
        unsafe { self.word(index).write(value) };
    }

    /// The number of frames.
    fn frame_count(self) -> usize {
        self.get(0) as u32 as usize
    }

    /// A copy of the used words.
    fn copied(self, t: CurrentThread<'t>) -> Managed<Trace<'t>> {
        let words = 1 + self.frame_count() * WORDS_PER_FRAME;
        let copy = Trace(Array::new(t, universe().int64(), words)?);
        (0..words).for_each(|index| copy.set(index, self.get(index)));
        Ok(copy)
    }

    /// Whether the frame with this number, counted from 1, is an inlined body.
    fn is_inlined(self, number: usize) -> bool {
        self.get(number * WORDS_PER_FRAME) as u32 & INLINED != 0
    }

    /// Frame `index`, which is less than the number of frames.
    fn frame(self, index: usize) -> TraceFrame {
        let (method, position) = (self.get(1 + index * WORDS_PER_FRAME), self.get(2 + index * WORDS_PER_FRAME));
        TraceFrame {
            // SAFETY: `add` stored the address of a method that the exception holds.
            method: unsafe { &*(method as *const Method) },
            il_offset: (position >> 32) as u32,
            native_offset: position as u32 & !(INLINED | WRAPPER | END_OF_THROW),
            is_inlined: position as u32 & INLINED != 0,
            is_wrapper: position as u32 & WRAPPER != 0,
            ends_earlier_throw: position as u32 & END_OF_THROW != 0,
        }
    }
}

/// A copy of the exception's trace for ExceptionDispatchInfo, with what it holds; None before the first frame.
///
/// # Errors
/// OutOfMemoryException.
pub fn frozen<'t>(t: CurrentThread<'t>, exception: Obj<'t>) -> Managed<Option<Array<'t>>> {
    let Some(trace) = Trace::of(exception) else { return Ok(None) };
    let copy = trace.copied(t)?;
    copy.set(0, trace.frame_count() as i64 | FROZEN);
    holding_the_same(t, exception, copy).map(Some)
}

/// What stands for a copy of the exception's trace: the copy, or a holder of it that holds what the exception holds.
fn holding_the_same<'t>(t: CurrentThread<'t>, exception: Obj<'t>, copy: Trace<'t>) -> Managed<Array<'t>> {
    match STACK_TRACE.obj(exception).and_then(Holder::in_place_of) {
        Some(holder) => Holder::new(t, Some(copy), holder.held()).map(|holder| holder.0),
        None => Ok(copy.0),
    }
}

/// To be called when the exception is thrown anew: it begins with an empty trace, or goes on behind one that
/// ExceptionDispatchInfo has put back.
pub(crate) fn begin(t: CurrentThread, exception: Obj) {
    let restored = Trace::of(exception).filter(|trace| trace.get(0) & FROZEN != 0);
    // Without memory for a copy the earlier frames are lost.
    let copy = restored.and_then(|trace| match continued(t, exception, trace) {
        Ok(copy) => Some(copy),
        Err(_) => {
            t.take_pending();
            None
        }
    });
    STACK_TRACE.set_ref(t, exception, copy);
}

/// A copy of the exception's trace, behind which the next throw goes on.
fn continued<'t>(t: CurrentThread<'t>, exception: Obj<'t>, trace: Trace<'t>) -> Managed<Array<'t>> {
    let copy = trace.copied(t)?;
    let count = copy.frame_count();
    copy.set(0, count as i64);
    if count > 0 {
        let last = count * WORDS_PER_FRAME;
        copy.set(last, copy.get(last) | i64::from(END_OF_THROW));
    }
    holding_the_same(t, exception, copy)
}

/// The frames of a trace: the object in `Exception._stackTrace`, or a copy of it.
pub fn frames_in(trace: Obj) -> Vec<TraceFrame> {
    Trace::in_word(trace).map_or_else(Vec::new, |trace| (0..trace.frame_count()).map(|at| trace.frame(at)).collect())
}

/// `rethrow` continues the trace; the frame that caught the exception is recorded again, at the position of the
/// rethrow.
pub fn forget_catching_frame(exception: Obj) {
    if let Some(trace) = Trace::of(exception) {
        let mut count = trace.frame_count().saturating_sub(1);
        // The bodies inlined into the frame go with it.
        while count > 0 && trace.is_inlined(count) {
            count -= 1;
        }
        trace.set(0, count as i64);
    }
}

/// Adds a frame, whose method the caller keeps from being freed.
///
/// # Errors
/// OutOfMemoryException.
pub(crate) fn add(t: CurrentThread, exception: Obj, frame: TraceFrame) -> Managed<()> {
    let known = Trace::of(exception);
    let count = known.map_or(0, Trace::frame_count);
    let needed = 1 + (count + 1) * WORDS_PER_FRAME;
    let trace = match known.filter(|trace| needed <= trace.capacity()) {
        Some(trace) => trace,
        None => {
            let capacity = 1 + WORDS_PER_FRAME * (count * 2).max(FIRST_FRAMES);
            let grown = Trace(Array::new(t, universe().int64(), capacity)?);
            if let Some(known) = known {
                (0..=count * WORDS_PER_FRAME).for_each(|index| grown.set(index, known.get(index)));
            }
            match STACK_TRACE.obj(exception).and_then(Holder::in_place_of) {
                Some(holder) => holder.set_trace(t, Some(grown)),
                None => STACK_TRACE.set_ref(t, exception, grown.0),
            }
            grown
        }
    };
    let inlined = if frame.is_inlined { INLINED } else { 0 };
    let end = if frame.ends_earlier_throw { END_OF_THROW } else { 0 };
    let native_offset = frame.native_offset | inlined | end | if frame.is_wrapper { WRAPPER } else { 0 };
    trace.set(1 + count * WORDS_PER_FRAME, frame.method as *const Method as i64);
    trace.set(2 + count * WORDS_PER_FRAME, (i64::from(frame.il_offset) << 32) | i64::from(native_offset));
    trace.set(0, (count as i64 + 1) | (trace.get(0) & ANNOUNCED));
    Ok(())
}

/// True for the first question about a throw or rethrow whose first frame is there.
pub(crate) fn announce(exception: Obj) -> bool {
    let Some(trace) = Trace::of(exception) else { return false };
    let word = trace.get(0);
    let is_new = trace.frame_count() > 0 && word & (ANNOUNCED | FROZEN) == 0;
    if is_new {
        trace.set(0, word | ANNOUNCED);
    }
    is_new
}

/// Makes `callee` the first frame of an exception that was thrown because the call could not be made, as in .NET, whose
/// stubs throw it as the method's. Not for exceptions that have frames already, which managed code has thrown.
pub(crate) fn begin_in_callee(t: CurrentThread, thrown: Thrown, callee: &'static Method) -> Thrown {
    begin_in(t, thrown, callee, 1, |ty| CALL_FAILURES.iter().any(|kind| kind.is(ty)))
}

/// Makes `callee`, a P/Invoke method, the first frames of an exception that its wrapper throws before it calls native
/// code. In .NET that is the making of a stub, with a frame, and the search for the function, with another one. Not
/// for exceptions that have frames already.
pub fn begin_in_stub(t: CurrentThread, thrown: Thrown, callee: &'static Method, frames: usize) -> Thrown {
    begin_in(t, thrown, callee, frames, |_| true)
}

fn begin_in(
    t: CurrentThread,
    thrown: Thrown,
    callee: &'static Method,
    frames: usize,
    is_meant: impl Fn(Ty) -> bool,
) -> Thrown {
    if saki_types::load_texts::are_mono() {
        return thrown;
    }
    let Some(exception) = t.take_pending() else { return thrown };
    let is_of_call = frame_count(exception) == 0 && is_meant(exception.ty());
    let frames = if is_of_call { frames } else { 0 };
    for _ in 0..frames {
        let frame = TraceFrame {
            method: callee,
            il_offset: NO_IL_OFFSET,
            native_offset: 0,
            is_inlined: false,
            is_wrapper: false,
            ends_earlier_throw: false,
        };
        // Without memory for it the frame is left out.
        if add(t, exception, frame).is_err() {
            t.take_pending();
        }
    }
    t.throw(exception)
}

/// The frames recorded in an exception, innermost first.
pub fn frames_of(exception: Obj) -> Vec<TraceFrame> {
    Trace::of(exception).map_or_else(Vec::new, |trace| (0..trace.frame_count()).map(|at| trace.frame(at)).collect())
}

pub(crate) fn frame_count(exception: Obj) -> usize {
    Trace::of(exception).map_or(0, Trace::frame_count)
}

pub(crate) fn last_frame(exception: Obj) -> Option<TraceFrame> {
    let trace = Trace::of(exception)?;
    Some(trace.frame(trace.frame_count().checked_sub(1)?))
}
