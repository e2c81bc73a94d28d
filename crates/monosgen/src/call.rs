//! A call of the host: its thread becomes managed if it is none, runs the function, and goes back to native code.
//!
//! Exceptions for which a function has no place go where Mono lets them go: to the managed code that called the host's
//! code, when that returns, or else to the end of the process, as unhandled.

use crate::machine;
use saki_abi::ObjRef;
use saki_interop::reverse_calls::ReverseCall;
use saki_runtime::exec::callback_exceptions;
use saki_runtime::vm::unhandled;
use saki_runtime::{CurrentThread, Managed, Obj, Word};

/// Runs a function of the API. A host that has started no machine is told so.
pub(crate) fn call<R>(function: &str, body: impl FnOnce(CurrentThread<'static>) -> R) -> R {
    if !machine::is_started() {
        machine::end(function, "is called, and no machine runs");
    }
    let call = ReverseCall::enter();
    // SAFETY: the structure of this thread, which is RUNNING. No reference that `body` gives away outlives what the
    // collector sees: the host's frames, too, are scanned.
    let t = unsafe { CurrentThread::from_abi(call.abi()) };
    let result = body(t);
    // SAFETY: references in the frames above are seen, since collections hold threads in native code.
    unsafe { call.leave() };
    result
}

/// The result of a function that has failed.
pub(crate) trait Nothing {
    /// What Mono's functions give then: null, zero.
    fn nothing() -> Self;
}

impl Nothing for ObjRef {
    fn nothing() -> Self {
        ObjRef::NULL
    }
}

impl<T> Nothing for Option<T> {
    fn nothing() -> Self {
        None
    }
}

macro_rules! zero_is_nothing {
    ($($ty:ty)*) => { $(
        impl Nothing for $ty {
            fn nothing() -> Self {
                Self::default()
            }
        }
    )* };
}

zero_is_nothing! { () i32 u32 usize u64 }

impl<T> Nothing for *mut T {
    fn nothing() -> Self {
        std::ptr::null_mut()
    }
}

impl<T> Nothing for *const T {
    fn nothing() -> Self {
        std::ptr::null()
    }
}

/// Runs a function that may throw and cannot tell the host.
pub(crate) fn call_managed<R: Nothing>(function: &str, body: impl FnOnce(CurrentThread<'static>) -> Managed<R>) -> R {
    if !machine::is_started() {
        machine::end(function, "is called, and no machine runs");
    }
    let call = ReverseCall::enter();
    // SAFETY: the structure of this thread, which is RUNNING; see `call` for the references.
    let t = unsafe { CurrentThread::from_abi(call.abi()) };
    let result = body(t).unwrap_or_else(|_| {
        let exception = t.take_exception();
        if !call.is_of_native_code() {
            unhandled::report_and_exit(with_pending(t, exception));
        }
        callback_exceptions::keep(t, exception);
        R::nothing()
    });
    // SAFETY: references in the frames above are seen, since collections hold threads in native code.
    unsafe { call.leave() };
    result
}

fn with_pending<'t>(t: CurrentThread<'t>, exception: Obj<'t>) -> CurrentThread<'t> {
    t.set_pending(exception);
    t
}

/// Runs a function that has a place for what it throws. Without the place it is [`call_managed`].
///
/// # Safety
/// `exc` is null or has room for an object.
pub(crate) unsafe fn call_catching<R: Nothing>(
    function: &str,
    exc: *mut ObjRef,
    body: impl FnOnce(CurrentThread<'static>) -> Managed<R>,
) -> R {
    if exc.is_null() {
        return call_managed(function, body);
    }
    call(function, |t| {
        let result = body(t);
        let thrown = if result.is_err() { Some(t.take_exception()) } else { None };
        // SAFETY: not null, so the host's room for an object.
        unsafe { exc.write(thrown.word()) };
        result.unwrap_or_else(|_| R::nothing())
    })
}

/// The object in the host's hands.
///
/// # Safety
/// `object` is null or an object that the host holds, on its stack or by a handle.
pub(crate) unsafe fn held(object: ObjRef) -> Option<Obj<'static>> {
    // SAFETY: null or an object, which the host's frame or handle keeps alive; the collector sees those frames.
    unsafe { Obj::from_word(object) }
}

/// The object in the host's hands, which may not be null.
///
/// # Safety
/// That of [`held`].
pub(crate) unsafe fn some(function: &str, object: ObjRef) -> Obj<'static> {
    // SAFETY: null or an object that the host holds.
    match unsafe { held(object) } {
        Some(object) => object,
        None => machine::end(function, "gets null for an object"),
    }
}
