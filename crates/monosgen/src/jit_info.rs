//! Compiled code of `mono/metadata/appdomain.h`: which method an address belongs to.

use crate::call::call;
use crate::host_records;
use saki_types::Method;
use std::ffi::{c_int, c_void};

/// What `MonoJitInfo` stands for: a body of a method when it was asked for. The code may be gone, the record stays.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MonoJitInfo {
    method: &'static Method,
    start: usize,
    size_bytes: u32,
}

impl MonoJitInfo {
    /// The method, the first address of the code and its bytes.
    pub(crate) fn parts(&self) -> (&'static Method, usize, u32) {
        (self.method, self.start, self.size_bytes)
    }

    /// By which the record is found again.
    pub(crate) fn key(&self) -> (usize, usize) {
        (self.start, std::ptr::from_ref(self.method).addr())
    }
}

/// The method's code that an address lies in; null if there is none. It lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn mono_jit_info_table_find(_domain: *const c_void, address: *const c_void) -> *const MonoJitInfo {
    call("mono_jit_info_table_find", |_| {
        // The body stays until the walk ends.
        let _walk = saki_code::walks().enter();
        let Some(code) = saki_code::lookup(address.addr()).filter(|code| !code.method.is_null()) else {
            return std::ptr::null();
        };
        // SAFETY: code with a method is placed with its `&'static Method`.
        let method = unsafe { &*code.method.cast::<Method>() };
        host_records::jit_info(MonoJitInfo { method, start: code.start, size_bytes: code.len_bytes })
    })
}

/// The first address of the code.
#[unsafe(no_mangle)]
pub extern "C" fn mono_jit_info_get_code_start(info: &MonoJitInfo) -> *const c_void {
    std::ptr::with_exposed_provenance(info.start)
}

/// Bytes of the code.
#[unsafe(no_mangle)]
pub extern "C" fn mono_jit_info_get_code_size(info: &MonoJitInfo) -> c_int {
    info.size_bytes as c_int
}

/// The method of the code.
#[unsafe(no_mangle)]
pub extern "C" fn mono_jit_info_get_method(info: &MonoJitInfo) -> &'static Method {
    info.method
}
