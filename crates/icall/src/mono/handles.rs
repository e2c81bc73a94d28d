//! Mono.RuntimeGPtrArrayHandle: native lists that managed code walks.

use saki_runtime::{InternalCall, Thread};

/// `Mono.RuntimeStructs.GPtrArray`, made with malloc by reflection calls.
#[repr(C)]
struct PointerArray {
    data: *mut *mut libc::c_void,
    length: i32,
}

extern "C" fn free_pointer_array(_t: Thread, array: *mut PointerArray) {
    if array.is_null() {
        return;
    }
    // SAFETY: both blocks came from malloc, and managed code gives the array back once.
    unsafe {
        libc::free((*array).data.cast());
        libc::free(array.cast());
    }
}

pub const TABLE: &[InternalCall] = &[("Mono.RuntimeGPtrArrayHandle::GPtrArrayFree", free_pointer_array as *const ())];
