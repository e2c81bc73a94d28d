//! System.Threading.Mutex.

use super::native_events::{created, object_name, opened};
use saki_runtime::exec::waitables::{self, Created, Kind, KindName};
use saki_runtime::{CurrentThread, InternalCall, Place};

fn create_mutex(t: CurrentThread, owned: bool, name: *const u16, length: i32, is_new: Place<u8>) -> usize {
    let (owner, depth) = if owned { (t.id(), 1) } else { (0, 0) };
    let outcome = waitables::create(Kind::Mutex { owner, depth, is_abandoned: false }, object_name(name, length));
    is_new.set(u8::from(!matches!(outcome, Created::Existing(_))));
    created(outcome).0
}

fn open_mutex(_t: CurrentThread, name: *const u16, length: i32, _rights: i32, error: Place<i32>) -> usize {
    let (handle, code) = opened(name, length, KindName::Mutex);
    error.set(code.0);
    handle
}

fn release_mutex(t: CurrentThread, handle: usize) -> bool {
    waitables::release_mutex(handle, t.id()).is_ok()
}

/// The internal calls of `System.Threading.Mutex`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Threading.Mutex::CreateMutex_icall", &create_mutex),
    InternalCall::new("System.Threading.Mutex::OpenMutex_icall", &open_mutex),
    InternalCall::new("System.Threading.Mutex::ReleaseMutex_internal", &release_mutex),
];
