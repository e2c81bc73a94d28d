//! Native memory that is passed to and from managed code: GPtrArray, C strings, structs. Memory that this crate makes
//! is malloc'ed, because managed code frees it through `GPtrArrayFree` and `FreeAssemblyName`.

use saki_runtime::object::references::Plain;
use saki_runtime::{CurrentThread, ManagedField, Word};
use std::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;

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

/// A NUL-terminated string of the caller's, or null.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct NativeText<'t>(*const c_char, PhantomData<&'t CStr>);

saki_runtime::address_parameters! {
    /// One pointer.
    ['t] NativeText<'t>;
    /// One pointer.
    ['t] StructPlace<'t>;
}

impl<'t> NativeText<'t> {
    /// The text; None for null.
    pub fn get(self) -> Option<&'t CStr> {
        // SAFETY: the class library passes strings that it has marshalled for the time of the call.
        (!self.0.is_null()).then(|| unsafe { CStr::from_ptr(self.0) })
    }
}

/// The text of a C string; None for null.
///
/// # Safety
/// `text` is null or NUL-terminated.
pub unsafe fn text_of(text: *const c_char) -> Option<String> {
    // SAFETY: the function's contract; the text is copied before the function returns.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// A parameter of pointer or byref type that refers to a struct of the class library, whose fields are known by name.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct StructPlace<'t>(*mut u8, PhantomData<&'t u8>);

impl StructPlace<'_> {
    pub fn get<T: Plain>(self, field: &ManagedField) -> T {
        // SAFETY: the class library passes the address of such a struct, which lives as long as the call and has the
        // field.
        unsafe { self.0.add(field.offset_bytes()).cast::<T>().read() }
    }

    /// Sets a field of a plain type.
    pub fn set<T: Copy>(self, field: &ManagedField, value: T) {
        // SAFETY: the class library passes the address of such a struct, which lives as long as the call and has the
        // field.
        unsafe { self.0.add(field.offset_bytes()).cast::<T>().write(value) };
    }

    /// Sets a field of a reference type.
    pub fn set_ref(self, t: CurrentThread, field: &ManagedField, value: impl Word) {
        // SAFETY: the class library passes the address of such a struct, which has the field; it may lie on the stack
        // or in the heap.
        unsafe {
            let slot = self.0.add(field.offset_bytes()).cast();
            saki_gc::barrier::store_ref_unknown(t.managed(), slot, value.word());
        }
    }
}
