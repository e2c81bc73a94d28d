//! A call of the host: its thread becomes managed if it is none, runs the function, and goes back to native code.
//!
//! Exceptions for which a function has no place go where Mono lets them go: to the managed code that called the host's
//! code, whose frames are left (`code::return_from_native_call`), or else to the end of the process, as unhandled.

use crate::machine;
use saki_abi::ObjRef;
use saki_interop::reverse_calls::ReverseCall;
use saki_runtime::exec::{callback_exceptions, thread_data};
use saki_runtime::vm::unhandled;
use saki_runtime::{CurrentThread, Managed, Obj, Word};
use saki_types::LoadResult;
use std::cell::Cell;
use std::mem::MaybeUninit;

thread_local! {
    /// Where managed code stands that waits for the machine, which waits for the host's function that the thread runs
    /// (`CurrentThread::exit_frame`); None outside such functions.
    static ASKED_AT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Runs a function of the host's in the middle of the machine's work; the thread is in native code meanwhile, if it is
/// a managed one. Exceptions cannot leave the function: frames of the machine's lie between it and managed code.
pub(crate) fn in_host_code<R>(body: impl FnOnce() -> R) -> R {
    let Some(thread) = saki_thread::current().filter(|thread| !thread.is_in_safe_region()) else { return body() };
    // SAFETY: the structure of this thread, which is RUNNING.
    let t = unsafe { CurrentThread::from_abi(thread.abi()) };
    let before = ASKED_AT.replace(Some(t.exit_frame()));
    // What the host loads is not what the caller looks for.
    let raises_resolve = thread_data::of(t).caller_raises_resolve().replace(false);
    thread.pin();
    // SAFETY: the thread is RUNNING; collections look at the frames above, and hold the thread.
    unsafe { saki_thread::enter_native(thread.abi()) };
    let result = body();
    // SAFETY: `enter_native` above.
    unsafe { saki_thread::leave_native(thread.abi()) };
    thread.unpin();
    thread_data::of(t).caller_raises_resolve().set(raises_resolve);
    ASKED_AT.set(before);
    result
}

/// The host's thread comes in. A host that has started no machine is told so.
fn enter(function: &str) -> (ReverseCall, CurrentThread<'static>) {
    if !machine::is_started() {
        machine::end(function, "is called, and no machine runs");
    }
    let call = ReverseCall::enter();
    // SAFETY: the structure of this thread, which is RUNNING. No reference that the function gives away outlives what
    // the collector sees: the host's frames, too, are scanned.
    let t = unsafe { CurrentThread::from_abi(call.abi()) };
    (call, t)
}

/// How many bytes of the stack below a call of the API are cleared when it ends.
const CLEARED_BYTES: usize = 4 << 10;
/// As many once in some milliseconds: what deeper calls have left goes with them.
const DEEPLY_CLEARED_BYTES: usize = 64 << 10;
/// Least rest of the stack below which so much is cleared.
const DEEP_REST_BYTES: usize = 4 * DEEPLY_CLEARED_BYTES;

// Of the OS thread, whose stack it is: threads are native here.
thread_local! {
    /// Where the thread would have allocated next when its stack was last cleared, and from which address down.
    static CLEARED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    /// When more of it was last cleared.
    static DEEPLY_CLEARED: Cell<u64> = const { Cell::new(0) };
}

/// Overwrites what the call has left below, if the thread has allocated objects since that was last done, or it was
/// done further down. Otherwise frames of the host, which are scanned and have holes, would keep objects that the
/// call's frames had in these places.
#[inline(always)]
fn clear_stack_below(call: &ReverseCall) {
    if !call.may_have_run_managed_code() {
        return;
    }
    // SAFETY: the structure of this thread, which alone reads and writes the fields.
    let (cursor, limit) = unsafe { ((*call.abi()).alloc_cursor, (*call.abi()).stack_limit) };
    let (cleared_cursor, cleared_address) = CLEARED.get();
    let here = (&raw const cursor).addr();
    if cursor == cleared_cursor && here <= cleared_address {
        return;
    }
    CLEARED.set((cursor, here));
    let tick = saki_os::clock::tick_ns();
    if DEEPLY_CLEARED.replace(tick) != tick && here.saturating_sub(limit) > DEEP_REST_BYTES {
        clear_stack::<DEEPLY_CLEARED_BYTES>();
    } else {
        clear_stack::<CLEARED_BYTES>();
    }
}

/// Not in line: its frame lies where the call's frames were.
#[inline(never)]
fn clear_stack<const N: usize>() {
    let mut bytes = [const { MaybeUninit::<u8>::uninit() }; N];
    bytes.fill(MaybeUninit::new(0));
    std::hint::black_box(&mut bytes);
}

/// The host's thread goes back.
fn leave(call: ReverseCall) {
    clear_stack_below(&call);
    // SAFETY: references in the frames above are seen, since collections hold threads in native code.
    unsafe { call.leave() };
}

/// Runs a function of the API.
pub(crate) fn call<R>(function: &str, body: impl FnOnce(CurrentThread<'static>) -> R) -> R {
    let (call, t) = enter(function);
    let result = body(t);
    leave(call);
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

zero_is_nothing! { () i32 u32 i64 usize u64 u8 u16 }

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

/// Runs a function that loads types or members: what cannot be loaded is nothing.
pub(crate) fn load<R: Nothing>(function: &str, body: impl FnOnce() -> LoadResult<R>) -> R {
    call(function, |_| body().unwrap_or_else(|_| R::nothing()))
}

/// Runs a function whose exceptions Mono drops: what throws gives nothing.
pub(crate) fn call_quietly<R: Nothing>(function: &str, body: impl FnOnce(CurrentThread<'static>) -> Managed<R>) -> R {
    call(function, |t| {
        body(t).unwrap_or_else(|_| {
            t.take_exception();
            R::nothing()
        })
    })
}

/// The next item of a list, and the number of items that the host has then got in its iterator; null after the last.
///
/// # Safety
/// `iter` is null or the host's variable.
pub(crate) unsafe fn next<T: Copy>(iter: *mut usize, list: &[T]) -> Option<T> {
    if iter.is_null() {
        return None;
    }
    // SAFETY: not null, so the host's variable.
    let index = unsafe { iter.read() };
    let item = list.get(index).copied()?;
    // SAFETY: not null, so the host's variable.
    unsafe { iter.write(index + 1) };
    Some(item)
}

/// Writes to a variable of the host's that may be missing.
///
/// # Safety
/// `place` is null or the host's variable.
pub(crate) unsafe fn put<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: not null, so the host's variable.
        unsafe { place.write(value) };
    }
}

/// Runs a function that may throw and cannot tell the host.
pub(crate) fn call_managed<R: Nothing>(function: &str, body: impl FnOnce(CurrentThread<'static>) -> Managed<R>) -> R {
    let (call, t) = enter(function);
    let result = body(t);
    let is_thrown = result.is_err();
    if is_thrown {
        keep_for_caller(t);
    }
    leave(call);
    if is_thrown {
        // SAFETY: the current thread is in native code again, and `body`, which owned what it was given, is gone.
        unsafe { saki_code::return_from_native_call(t.abi()) };
    }
    result.unwrap_or_else(|_| R::nothing())
}

/// The pending exception waits for the managed code that called the host's code; without such code, or if the machine's
/// called it, it is unhandled.
fn keep_for_caller(t: CurrentThread) {
    if t.exit_frame() == 0 || ASKED_AT.get() == Some(t.exit_frame()) {
        unhandled::report_and_exit(t);
    }
    let exception = t.take_exception();
    callback_exceptions::keep(t, exception);
}

/// Throws an exception in the managed code that called the host's code, whose frames are left. Returns only if that
/// cannot be done: the call passed more arguments in memory than its stub copies.
pub(crate) fn raise(function: &str, exception: Obj) {
    let thread = call(function, |t| {
        t.set_pending(exception);
        keep_for_caller(t);
        t.abi()
    });
    // SAFETY: the current thread is in native code again; nothing here owns anything.
    unsafe { saki_code::return_from_native_call(thread) };
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
