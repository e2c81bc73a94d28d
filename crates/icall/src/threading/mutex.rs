//! System.Threading.Mutex.

use super::native_events::{created, object_name, opened};
use super::waitables::{self, Created, Kind, KindName};
use crate::arguments::write_out;
use saki_runtime::{CurrentThread, InternalCall};

fn create_mutex(t: CurrentThread, owned: u8, name: *const u16, length: i32, is_new: *mut u8) -> usize {
    let (owner, depth) = if owned != 0 { (t.id(), 1) } else { (0, 0) };
    let outcome = waitables::create(Kind::Mutex { owner, depth, is_abandoned: false }, object_name(name, length));
    write_out(is_new, u8::from(!matches!(outcome, Created::Existing(_))));
    created(outcome).0
}

fn open_mutex(_t: CurrentThread, name: *const u16, length: i32, _rights: i32, error: *mut i32) -> usize {
    let (handle, code) = opened(name, length, KindName::Mutex);
    write_out(error, code.0);
    handle
}

fn release_mutex(t: CurrentThread, handle: usize) -> i32 {
    i32::from(waitables::release_mutex(handle, t.id()).is_ok())
}

pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Threading.Mutex::CreateMutex_icall", &create_mutex),
    InternalCall::new("System.Threading.Mutex::OpenMutex_icall", &open_mutex),
    InternalCall::new("System.Threading.Mutex::ReleaseMutex_internal", &release_mutex),
];
