//! System.Threading.Semaphore (System.dll).

use super::native_events::{created, object_name, opened};
use crate::io::errors::Win32Error;
use saki_runtime::exec::waitables::{self, Kind, KindName};
use saki_runtime::{CurrentThread, InternalCall, Place};

fn create_semaphore(
    _t: CurrentThread,
    count: i32,
    max: i32,
    name: *const u16,
    length: i32,
    error: Place<i32>,
) -> usize {
    let (handle, code) = if max <= 0 || !(0..=max).contains(&count) {
        (0, Win32Error::INVALID_PARAMETER)
    } else {
        created(waitables::create(Kind::Semaphore { count, max }, object_name(name, length)))
    };
    error.set(code.0);
    handle
}

fn open_semaphore(_t: CurrentThread, name: *const u16, length: i32, _rights: i32, error: Place<i32>) -> usize {
    let (handle, code) = opened(name, length, KindName::Semaphore);
    error.set(code.0);
    handle
}

fn release_semaphore(_t: CurrentThread, handle: usize, add: i32, before: Place<i32>) -> bool {
    let (count, succeeded) = match waitables::release_semaphore(handle, add) {
        Ok(count) => (count, true),
        Err((_, count)) => (count, false),
    };
    before.set(count);
    succeeded
}

/// The internal calls of `System.Threading.Semaphore`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Threading.Semaphore::CreateSemaphore_icall", &create_semaphore),
    InternalCall::new("System.Threading.Semaphore::OpenSemaphore_icall", &open_semaphore),
    InternalCall::new("System.Threading.Semaphore::ReleaseSemaphore_internal", &release_semaphore),
];
