//! Wait handles: System.Threading.WaitHandle, the Win32-like functions behind events, semaphores and mutexes, and the
//! semaphore of the thread pool.
//!
//! Error codes go through errno, which the generated stubs of P/Invokes read. Left out: mutexes that other processes
//! know (named mutexes are known in this process, `waitables`).

use crate::events::{self, WaitSource};
use saki_icall::threading::wait_handle::wait;
use saki_os::error::set_errno;
use saki_runtime::exec::waitables::{self, Created, Kind, KindName, OpenError};
use saki_runtime::{CurrentThread, InternalCall, Managed};

/// Win32 error codes.
const SUCCESS: i32 = 0;
const FILE_NOT_FOUND: i32 = 2;
const INVALID_HANDLE: i32 = 6;
const ALREADY_EXISTS: i32 = 183;

/// `WaitHandle.WaitFailed`.
const WAIT_FAILED: i32 = -1;
/// What `wait` returns for an unknown handle.
const UNKNOWN_HANDLE: i32 = 0x7fff_ffff;
/// The limit of `WaitHandle.WaitAny`.
const MAX_HANDLES: usize = 64;

fn outcome(code: i32) -> i32 {
    if code == UNKNOWN_HANDLE { WAIT_FAILED } else { code }
}

/// Waits for handles, and tells listeners, unless it is over at once.
fn wait_for(t: CurrentThread, handles: &[usize], for_all: bool, milliseconds: i32) -> Managed<i32> {
    const TIMED_OUT: i32 = 0x102;
    if !events::wants_waits() || milliseconds == 0 {
        return wait(t, handles, for_all, milliseconds, None).map(outcome);
    }
    match wait(t, handles, for_all, 0, None)? {
        TIMED_OUT => {
            let wait = || wait(t, handles, for_all, milliseconds, None).map(outcome);
            events::tell_wait(t, WaitSource::Handles, 0, wait)
        }
        end => Ok(outcome(end)),
    }
}

fn wait_one(t: CurrentThread, handle: isize, milliseconds: i32, _is_trivial: bool) -> Managed<i32> {
    wait_for(t, &[handle.cast_unsigned()], false, milliseconds)
}

fn wait_one_native(t: CurrentThread, handle: isize, milliseconds: i32, _is_trivial: i32) -> Managed<i32> {
    wait_one(t, handle, milliseconds, false)
}

fn wait_prioritized(t: CurrentThread, handle: isize, milliseconds: i32) -> Managed<i32> {
    wait_one(t, handle, milliseconds, true)
}

fn wait_multiple(
    t: CurrentThread,
    handles: *const usize,
    count: i32,
    is_for_all: bool,
    milliseconds: i32,
) -> Managed<i32> {
    let count = usize::try_from(count).unwrap_or(0);
    if !(1..=MAX_HANDLES).contains(&count) {
        return Ok(WAIT_FAILED);
    }
    // SAFETY: managed code passes the address of `count` handles on its stack.
    let copy = unsafe { saki_icall::threading::wait_handle::copy_of(handles, count) };
    wait_for(t, &copy[..count], is_for_all && count > 1, milliseconds)
}

fn wait_multiple_native(
    t: CurrentThread,
    handles: *const usize,
    count: i32,
    for_all: i32,
    milliseconds: i32,
) -> Managed<i32> {
    wait_multiple(t, handles, count, for_all != 0, milliseconds)
}

fn signal_and_wait(t: CurrentThread, to_signal: isize, to_wait: isize, milliseconds: i32) -> Managed<i32> {
    wait(t, &[to_wait.cast_unsigned()], false, milliseconds, Some(to_signal.cast_unsigned())).map(outcome)
}

/// The name of an object; None for null. The prefix says who sees a named object, which is this process always.
fn object_name(name: *const u16) -> Option<String> {
    if name.is_null() {
        return None;
    }
    let text = crate::text::text_at(name);
    let bare = ["Local\\", "Global\\"].iter().find_map(|prefix| text.strip_prefix(prefix).map(str::to_owned));
    Some(bare.unwrap_or(text))
}

fn created(outcome: Created) -> isize {
    let (handle, code) = match outcome {
        Created::New(handle) => (handle, SUCCESS),
        Created::Existing(handle) => (handle, ALREADY_EXISTS),
        Created::NameTaken => (0, INVALID_HANDLE),
    };
    set_errno(code);
    handle.cast_signed()
}

/// `CREATE_EVENT_MANUAL_RESET` and `CREATE_EVENT_INITIAL_SET`.
const MANUAL_RESET: u32 = 1;
const INITIALLY_SET: u32 = 2;

fn create_event(_t: CurrentThread, _security: isize, name: *const u16, flags: u32, _access: u32) -> isize {
    let kind = Kind::Event { is_manual: flags & MANUAL_RESET != 0, is_set: flags & INITIALLY_SET != 0 };
    created(waitables::create(kind, object_name(name)))
}

/// Managed code throws what the error code says.
fn change_event(handle: isize, is_set: bool) -> i32 {
    let is_known = waitables::set_event(handle.cast_unsigned(), is_set);
    set_errno(if is_known { SUCCESS } else { INVALID_HANDLE });
    i32::from(is_known)
}

fn set_event(_t: CurrentThread, handle: isize) -> i32 {
    change_event(handle, true)
}

fn reset_event(_t: CurrentThread, handle: isize) -> i32 {
    change_event(handle, false)
}

fn close_handle(_t: CurrentThread, handle: isize) -> i32 {
    i32::from(waitables::close(handle.cast_unsigned()))
}

fn create_semaphore(
    _t: CurrentThread,
    _security: isize,
    count: i32,
    max: i32,
    name: *const u16,
    _flags: u32,
    _access: u32,
) -> isize {
    created(waitables::create(Kind::Semaphore { count, max }, object_name(name)))
}

fn release_semaphore(_t: CurrentThread, handle: isize, add: i32, before: *mut i32) -> i32 {
    let (count, succeeded) = match waitables::release_semaphore(handle.cast_unsigned(), add) {
        Ok(count) => (count, true),
        Err((_, count)) => (count, false),
    };
    if !before.is_null() {
        // SAFETY: managed code passes the addresses of locals, which live as long as the call.
        unsafe { before.write(count) };
    }
    i32::from(succeeded)
}

fn create_mutex(t: CurrentThread, is_owned: i32, name: *const u16, _errors: *mut u8, _errors_bytes: u32) -> isize {
    let (owner, depth) = if is_owned != 0 { (t.id(), 1) } else { (0, 0) };
    created(waitables::create(Kind::Mutex { owner, depth, is_abandoned: false }, object_name(name)))
}

fn open_mutex(_t: CurrentThread, name: *const u16, _errors: *mut u8, _errors_bytes: u32) -> isize {
    let (handle, code) = match waitables::open(&object_name(name).unwrap_or_default(), KindName::Mutex) {
        Ok(handle) => (handle, SUCCESS),
        Err(OpenError::NameTaken) => (0, INVALID_HANDLE),
        Err(OpenError::UnknownName) => (0, FILE_NOT_FOUND),
    };
    set_errno(code);
    handle.cast_signed()
}

/// 10: all objects are of this process, whoever its user is.
fn create_mutex_10(
    t: CurrentThread,
    is_owned: i32,
    name: *const u16,
    _is_of_user: i32,
    errors: *mut u8,
    errors_bytes: u32,
) -> isize {
    create_mutex(t, is_owned, name, errors, errors_bytes)
}

fn open_mutex_10(t: CurrentThread, name: *const u16, _is_of_user: i32, errors: *mut u8, errors_bytes: u32) -> isize {
    open_mutex(t, name, errors, errors_bytes)
}

fn release_mutex(t: CurrentThread, handle: isize) -> i32 {
    i32::from(waitables::release_mutex(handle.cast_unsigned(), t.id()).is_ok())
}

/// The internal calls of wait handles.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net9 System.Threading.WaitHandle::WaitOneCore", &wait_one),
    InternalCall::new("@net10 QCall::WaitHandle_WaitOneCore", &wait_one_native),
    InternalCall::new("@net9 System.Threading.WaitHandle::WaitMultipleIgnoringSyncContext", &wait_multiple),
    InternalCall::new("@net10 QCall::WaitHandle_WaitMultipleIgnoringSyncContext", &wait_multiple_native),
    InternalCall::new("@net9 System.Threading.WaitHandle::SignalAndWaitNative", &signal_and_wait),
    InternalCall::new("@net10 QCall::WaitHandle_SignalAndWait", &signal_and_wait),
    InternalCall::new("@net9 QCall::WaitHandle_CorWaitOnePrioritizedNative", &wait_prioritized),
    InternalCall::new("@net10 QCall::WaitHandle_WaitOnePrioritized", &wait_prioritized),
    InternalCall::new("@net QCall::CreateEventExW", &create_event),
    InternalCall::new("@net QCall::SetEvent", &set_event),
    InternalCall::new("@net QCall::ResetEvent", &reset_event),
    InternalCall::new("@net QCall::CloseHandle", &close_handle),
    InternalCall::new("@net QCall::CreateSemaphoreExW", &create_semaphore),
    InternalCall::new("@net QCall::ReleaseSemaphore", &release_semaphore),
    InternalCall::new("@net9 QCall::PAL_CreateMutexW", &create_mutex),
    InternalCall::new("@net10 QCall::PAL_CreateMutexW", &create_mutex_10),
    InternalCall::new("@net9 QCall::PAL_OpenMutexW", &open_mutex),
    InternalCall::new("@net10 QCall::PAL_OpenMutexW", &open_mutex_10),
    InternalCall::new("@net QCall::ReleaseMutex", &release_mutex),
];
