//! Mono.RuntimeGPtrArrayHandle: native lists that managed code walks.

use saki_runtime::{CurrentThread, InternalCall};

/// `array`: a `Mono.RuntimeStructs.GPtrArray` with its pointers in one malloc'ed block, which a reflection call made.
fn free_pointer_array(_t: CurrentThread, array: *mut libc::c_void) {
    // SAFETY: null, or from malloc; managed code gives the array back once.
    unsafe { libc::free(array) };
}

/// The internal calls of `Mono.RuntimeGPtrArrayHandle`.
pub const TABLE: &[InternalCall] =
    &[InternalCall::new("Mono.RuntimeGPtrArrayHandle::GPtrArrayFree", &free_pointer_array)];
