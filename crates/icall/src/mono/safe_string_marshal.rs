//! Mono.SafeStringMarshal: strings as malloc'ed UTF-8, for internal calls that take them so.

use saki_abi::ObjRef;
use saki_runtime::{InternalCall, Thread, exceptions, strings};

/// NUL-terminated UTF-8; null for null. Freed with `GFree`.
extern "C" fn string_to_utf8(t: Thread, string: ObjRef) -> *mut u8 {
    t.run(|| {
        if string.is_null() {
            return Ok(std::ptr::null_mut());
        }
        let text = strings::to_rust(string);
        // SAFETY: no preconditions.
        let memory = unsafe { libc::malloc(text.len() + 1) } as *mut u8;
        if memory.is_null() {
            return Err(exceptions::out_of_memory(t));
        }
        // SAFETY: `text.len() + 1` bytes were allocated.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), memory, text.len());
            memory.add(text.len()).write(0);
        }
        Ok(memory)
    })
}

extern "C" fn free(_t: Thread, memory: *mut libc::c_void) {
    // SAFETY: null, or from malloc, given back once.
    unsafe { libc::free(memory) };
}

pub const TABLE: &[InternalCall] = &[
    ("Mono.SafeStringMarshal::StringToUtf8", string_to_utf8 as *const ()),
    ("Mono.SafeStringMarshal::GFree", free as *const ()),
];
