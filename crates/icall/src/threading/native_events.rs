//! System.Threading.NativeEventCalls: events, and closing of every kind of wait handle.

use crate::arguments::units_at;
use crate::io::errors::Win32Error;
use saki_runtime::exec::waitables::{self, Created, Kind, KindName, OpenError};
use saki_runtime::{CurrentThread, InternalCall, Place};

const INVALID_HANDLE_VALUE: usize = usize::MAX;

/// The name of an object; None for null.
pub(super) fn object_name(name: *const u16, length: i32) -> Option<String> {
    // SAFETY: the managed caller pins the string for the call.
    (!name.is_null()).then(|| String::from_utf16_lossy(unsafe { units_at(name, length) }))
}

/// The outcome of creating an object as the class library expects it: handle and error code.
pub(super) fn created(outcome: Created) -> (usize, Win32Error) {
    match outcome {
        Created::New(handle) => (handle, Win32Error::SUCCESS),
        Created::Existing(handle) => (handle, Win32Error::ALREADY_EXISTS),
        Created::NameTaken => (0, Win32Error::INVALID_HANDLE),
    }
}

/// Opens an object by name: handle and error code.
pub(super) fn opened(name: *const u16, length: i32, kind: KindName) -> (usize, Win32Error) {
    match waitables::open(&object_name(name, length).unwrap_or_default(), kind) {
        Ok(handle) => (handle, Win32Error::SUCCESS),
        Err(OpenError::NameTaken) => (INVALID_HANDLE_VALUE, Win32Error::INVALID_HANDLE),
        Err(OpenError::UnknownName) => (0, Win32Error::FILE_NOT_FOUND),
    }
}

fn create_event(
    _t: CurrentThread,
    is_manual: bool,
    is_set: bool,
    name: *const u16,
    length: i32,
    error: Place<i32>,
) -> usize {
    let kind = Kind::Event { is_manual, is_set };
    let (handle, code) = created(waitables::create(kind, object_name(name, length)));
    error.set(code.0);
    handle
}

fn open_event(_t: CurrentThread, name: *const u16, length: i32, _rights: i32, error: Place<i32>) -> usize {
    let (handle, code) = opened(name, length, KindName::Event);
    error.set(code.0);
    handle
}

fn set_event(_t: CurrentThread, handle: usize) -> bool {
    waitables::set_event(handle, true)
}

fn reset_event(_t: CurrentThread, handle: usize) -> bool {
    waitables::set_event(handle, false)
}

fn close_event(_t: CurrentThread, handle: usize) {
    waitables::close(handle);
}

/// The internal calls of `System.Threading.NativeEventCalls`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Threading.NativeEventCalls::CloseEvent_internal", &close_event),
    InternalCall::new("System.Threading.NativeEventCalls::CreateEvent_icall", &create_event),
    InternalCall::new("System.Threading.NativeEventCalls::OpenEvent_icall", &open_event),
    InternalCall::new("System.Threading.NativeEventCalls::ResetEvent_internal", &reset_event),
    InternalCall::new("System.Threading.NativeEventCalls::SetEvent_internal", &set_event),
];
