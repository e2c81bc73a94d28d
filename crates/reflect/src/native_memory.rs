//! What crosses to managed code as native memory: GPtrArray, C strings, out parameters. All of it is malloc'ed, because
//! managed code frees it through `GPtrArrayFree` and `FreeAssemblyName`.

use saki_runtime::{CurrentThread, ObjRef};
use std::borrow::Cow;
use std::ffi::{CStr, c_char, c_void};

/// `Mono.RuntimeStructs.GPtrArray`.
#[repr(C)]
pub struct GPtrArray {
    pub data: *mut usize,
    pub len: i32,
}

/// malloc that does not return null.
pub fn allocate(size_bytes: usize) -> *mut c_void {
    // SAFETY: malloc has no preconditions.
    let memory = unsafe { libc::malloc(size_bytes.max(1)) };
    if memory.is_null() {
        saki_base::bug!("the C heap is exhausted");
    }
    memory
}

/// A GPtrArray of these pointers, for `Mono.RuntimeGPtrArrayHandle`; one block, which `GPtrArrayFree` frees.
pub fn pointer_array(items: &[usize]) -> *mut GPtrArray {
    let array = allocate(size_of::<GPtrArray>() + size_of_val(items)) as *mut GPtrArray;
    // SAFETY: the block was just allocated with room for both; the pointers are aligned behind the header.
    unsafe {
        let data = array.add(1) as *mut usize;
        std::ptr::copy_nonoverlapping(items.as_ptr(), data, items.len());
        array.write(GPtrArray { data, len: items.len() as i32 });
    }
    array
}

/// A malloc'ed NUL-terminated copy.
pub fn c_string(text: &str) -> *mut c_char {
    let memory = allocate(text.len() + 1) as *mut u8;
    // SAFETY: `text.len() + 1` bytes were allocated.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), memory, text.len());
        *memory.add(text.len()) = 0;
    }
    memory as *mut c_char
}

/// A malloc'ed copy of bytes.
pub fn byte_block(bytes: &[u8]) -> *mut u8 {
    let memory = allocate(bytes.len()) as *mut u8;
    // SAFETY: `bytes.len()` bytes were allocated.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory, bytes.len()) };
    memory
}

/// The text of a C string; None for null.
///
/// # Safety
/// `text` is null or NUL-terminated.
pub unsafe fn text_of(text: *const c_char) -> Option<String> {
    // SAFETY: the caller's promise; copied before it can go.
    unsafe { borrowed_text(text) }.map(Cow::into_owned)
}

/// As `text_of`, without a copy where that is possible.
///
/// # Safety
/// As `text_of`, and the text stays as long as the result.
pub unsafe fn borrowed_text<'a>(text: *const c_char) -> Option<Cow<'a, str>> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    Some(unsafe { CStr::from_ptr(text) }.to_string_lossy())
}

/// Stores a reference through an `out` or `ref` parameter, wherever that points.
#[expect(clippy::not_unsafe_ptr_arg_deref, reason = "every caller passes on the address of a managed variable")]
pub fn store_out(t: CurrentThread, slot: *mut ObjRef, value: ObjRef) {
    if !slot.is_null() {
        // SAFETY: managed code passes the address of a variable of its own; `t` is current.
        unsafe { saki_gc::barrier::store_ref_unknown(t.managed(), slot, value) };
    }
}
