//! Internal calls of `System.Runtime.InteropServices.Marshal`: memory, strings, structures, function pointers.
//!
//! HGlobal and CoTaskMem memory is the C heap. Invariant: calls that are not in the table (COM; slots are numbered by
//! `icall`) throw NotImplementedException. Results narrower than 32 bits are returned as `i32`.

use crate::structure;
use crate::text::{self, free_string, managed_copy, native_copy};
use crate::{delegates, resolve};
use saki_abi::ObjRef;
use saki_il::synth::marshal::StringForm;
use saki_runtime::InternalCall;
use saki_runtime::exceptions;
use saki_runtime::fields::ManagedField;
use saki_runtime::object;
use saki_runtime::references::{Obj, Str, Word};
use saki_runtime::strings;
use saki_runtime::thread::{CurrentThread, Managed};
use saki_runtime::type_objects;
use saki_types::Method;

/// `RuntimeMethodInfo.mhandle`.
static METHOD_HANDLE: ManagedField = ManagedField::corlib("System.Reflection", "RuntimeMethodInfo", "mhandle");

/// The default minimum block: allocating 0 bytes gives memory.
const MIN_BLOCK_BYTES: usize = 4;

fn checked(t: CurrentThread, block: *mut libc::c_void) -> Managed<usize> {
    if block.is_null() { Err(exceptions::out_of_memory(t)) } else { Ok(block as usize) }
}

fn argument_null(t: CurrentThread, pointer: usize, name: &str) -> Managed<()> {
    if pointer == 0 { Err(exceptions::throw_argument_null(t, name)) } else { Ok(()) }
}

/// # Safety
/// `t` is the current thread.
fn alloc_hglobal(t: CurrentThread, bytes: usize) -> usize {
    // SAFETY: plain allocation.
    t.run(|| checked(t, unsafe { libc::malloc(bytes.max(MIN_BLOCK_BYTES)) }))
}

/// # Safety
/// `t` is the current thread.
fn alloc_co_task_mem(t: CurrentThread, bytes: i32) -> usize {
    // SAFETY: plain allocation; a negative size is too large.
    t.run(|| checked(t, unsafe { libc::malloc((bytes as isize as usize).max(MIN_BLOCK_BYTES)) }))
}

/// # Safety
/// `t` is the current thread; `block` is 0 or a block of the C heap that nothing uses any more.
fn re_alloc_hglobal(t: CurrentThread, block: usize, bytes: usize) -> usize {
    // SAFETY: managed code passes memory of `alloc_hglobal`.
    t.run(|| checked(t, unsafe { libc::realloc(block as *mut _, bytes.max(MIN_BLOCK_BYTES)) }))
}

/// # Safety
/// `t` is the current thread; `block` is 0 or a block of the C heap that nothing uses any more.
fn re_alloc_co_task_mem(t: CurrentThread, block: usize, bytes: i32) -> usize {
    // SAFETY: managed code passes memory of `alloc_co_task_mem`.
    t.run(|| checked(t, unsafe { libc::realloc(block as *mut _, (bytes as isize as usize).max(MIN_BLOCK_BYTES)) }))
}

/// # Safety
/// `block` is 0 or a block of the C heap that nothing uses any more.
fn free_block(_t: CurrentThread, block: usize) {
    // SAFETY: managed code passes memory of the functions above, or null.
    unsafe { libc::free(block as *mut _) }
}

/// # Safety
/// `string` is 0 or a BSTR that nothing uses any more.
fn free_bstr(_t: CurrentThread, string: usize) {
    // SAFETY: managed code passes a BSTR or null.
    unsafe { free_string(StringForm::Bstr, string as *mut u8) }
}

/// # Safety
/// `t` is the current thread; `length` characters can be read at `units`, unless that is null.
fn buffer_to_bstr(t: CurrentThread, units: *const u16, length: i32) -> usize {
    // SAFETY: managed code passes that many pinned characters.
    t.run(|| Ok(native_copy(t, StringForm::Bstr, unsafe { units_at(units, length) })? as usize))
}

/// # Safety
/// `t` is the current thread; `length` characters can be read at `units`, unless that is null.
fn string_to_hglobal_ansi(t: CurrentThread, units: *const u16, length: i32) -> usize {
    if units.is_null() {
        return 0;
    }
    // SAFETY: as above.
    t.run(|| Ok(native_copy(t, StringForm::Utf8, unsafe { units_at(units, length) })? as usize))
}

/// # Safety
/// `t` is the current thread; `length` characters can be read at `units`, unless that is null.
fn string_to_hglobal_uni(t: CurrentThread, units: *const u16, length: i32) -> usize {
    if units.is_null() {
        return 0;
    }
    // SAFETY: as above.
    t.run(|| Ok(native_copy(t, StringForm::Utf16, unsafe { units_at(units, length) })? as usize))
}

/// # Safety
/// `length` units can be read at `units`.
unsafe fn units_at<'a>(units: *const u16, length: i32) -> &'a [u16] {
    match usize::try_from(length) {
        // SAFETY: the caller's promise.
        Ok(length) if !units.is_null() => unsafe { std::slice::from_raw_parts(units, length) },
        _ => &[],
    }
}

/// # Safety
/// `t` is the current thread; `native` is 0 or the address of a string that ends with a zero byte.
fn ptr_to_string_ansi<'t>(t: CurrentThread<'t>, native: usize) -> Managed<Option<Str<'t>>> {
    // SAFETY: managed code passes a C string or null.
    unsafe { managed_copy(t, StringForm::Utf8, native as *const u8) }
}

/// # Safety
/// `t` is the current thread; `native` is 0, or `length` bytes can be read there.
fn ptr_to_string_ansi_length(t: CurrentThread, native: usize, length: i32) -> ObjRef {
    t.run(|| {
        argument_null(t, native, "ptr")?;
        let Ok(length) = usize::try_from(length) else {
            return Err(exceptions::throw(t, "System", "ArgumentException", "len"));
        };
        // SAFETY: managed code passes that many bytes.
        strings::new_string_utf8(t, unsafe { std::slice::from_raw_parts(native as *const u8, length) })
    })
}

/// # Safety
/// `t` is the current thread; `native` is 0 or the address of a UTF-16 string that ends with a zero unit.
fn ptr_to_string_uni<'t>(t: CurrentThread<'t>, native: usize) -> Managed<Option<Str<'t>>> {
    // SAFETY: managed code passes a terminated UTF-16 string or null.
    unsafe { managed_copy(t, StringForm::Utf16, native as *const u8) }
}

/// # Safety
/// `t` is the current thread; `native` is 0, or `length` UTF-16 units can be read there.
fn ptr_to_string_uni_length(t: CurrentThread, native: usize, length: i32) -> ObjRef {
    t.run(|| {
        argument_null(t, native, "ptr")?;
        let Ok(length) = usize::try_from(length) else {
            return Err(exceptions::throw(t, "System", "ArgumentException", "len"));
        };
        // SAFETY: managed code passes that many units.
        strings::new_string_utf16(t, &unsafe { text::copied_units(native as *const u8, length) })
    })
}

/// # Safety
/// `t` is the current thread; `native` is 0 or a BSTR.
fn ptr_to_string_bstr<'t>(t: CurrentThread<'t>, native: usize) -> Managed<Option<Str<'t>>> {
    argument_null(t, native, "ptr")?;
    // SAFETY: managed code passes a BSTR.
    unsafe { managed_copy(t, StringForm::Bstr, native as *const u8) }
}

/// # Safety
/// `t` is the current thread; `class` is null or a live RuntimeType.
fn size_of(t: CurrentThread, class: ObjRef) -> i32 {
    t.run(|| Ok(structure::size_of(t, type_objects::require(t, class, "t")?)? as i32))
}

/// # Safety
/// `t` is the current thread; `class` is null or a live RuntimeType, `field` null or a live string.
fn offset_of(t: CurrentThread, class: ObjRef, field: ObjRef) -> usize {
    t.run(|| {
        let ty = type_objects::require(t, class, "t")?;
        if field.is_null() {
            return Err(exceptions::throw_argument_null(t, "fieldName"));
        }
        structure::offset_of(t, ty, &String::from_utf16_lossy(strings::units(field)))
    })
}

/// # Safety
/// `address` is 0 or has room for the native structure of `source`, and holds one if `delete_old` says so.
fn structure_to_ptr<'t>(t: CurrentThread<'t>, source: Option<Obj<'t>>, address: usize, delete_old: i32) -> Managed<()> {
    let source = source.ok_or_else(|| exceptions::throw_argument_null(t, "structure"))?;
    argument_null(t, address, "ptr")?;
    // SAFETY: managed code passes memory for the structure. The flag is one byte.
    unsafe { structure::structure_to_ptr(t, source, address as *mut u8, delete_old as u8 != 0) }
}

/// # Safety
/// `address` is 0 or holds a native structure of the type of `destination`.
fn ptr_to_structure<'t>(t: CurrentThread<'t>, address: usize, destination: Option<Obj<'t>>) -> Managed<()> {
    argument_null(t, address, "ptr")?;
    let destination = destination.ok_or_else(|| exceptions::throw_argument_null(t, "structure"))?;
    // SAFETY: managed code passes a structure of the object's type.
    unsafe { structure::ptr_to_structure(t, address as *mut u8, destination) }
}

/// # Safety
/// `t` is the current thread; `class` is null or a live RuntimeType; `address` is 0 or holds a native structure of the
/// type.
fn ptr_to_structure_type<'t>(t: CurrentThread<'t>, address: usize, class: Option<Obj<'t>>) -> Managed<Option<Obj<'t>>> {
    if address == 0 {
        return Ok(None);
    }
    let ty = type_objects::require(t, class.word(), "structureType")?;
    // SAFETY: managed code passes a structure of this type.
    unsafe { structure::ptr_to_new_structure(t, address as *mut u8, ty) }
}

/// # Safety
/// `t` is the current thread; `class` is null or a live RuntimeType; `address` is 0 or holds a native structure of the
/// type.
fn destroy_structure(t: CurrentThread, address: usize, class: ObjRef) {
    t.run(|| {
        argument_null(t, address, "ptr")?;
        let ty = type_objects::require(t, class, "structureType")?;
        // SAFETY: managed code passes a structure of this type.
        unsafe { structure::destroy_structure(t, address as *mut u8, ty) }
    });
}

/// The part of an array that a copy names: (first byte, byte count).
fn array_part(t: CurrentThread, array: ObjRef, start: i32, length: i32, array_name: &str) -> Managed<(*mut u8, usize)> {
    if array.is_null() {
        return Err(exceptions::throw_argument_null(t, array_name));
    }
    let element_bytes = object::vtable(array).element_size_bytes as usize;
    let total = object::array_length(array);
    let (Ok(start), Ok(length)) = (usize::try_from(start), usize::try_from(length)) else {
        return Err(exceptions::throw(t, "System", "ArgumentOutOfRangeException", "startIndex or length is negative."));
    };
    if start > total || length > total - start {
        return Err(exceptions::throw(
            t,
            "System",
            "ArgumentOutOfRangeException",
            "Index and length must stay within the array.",
        ));
    }
    Ok((object::element_address(array, start, element_bytes), length * element_bytes))
}

/// # Safety
/// `t` is the current thread; `source` is null or a live array; `destination` is 0 or has room for `length` of its
/// elements.
fn copy_to_unmanaged(
    t: CurrentThread,
    source: ObjRef,
    start: i32,
    destination: usize,
    length: i32,
    _pinned_source: *const u8,
) {
    t.run(|| {
        let (from, bytes) = array_part(t, source, start, length, "source")?;
        argument_null(t, destination, "destination")?;
        // SAFETY: within the array; managed code passes that much memory.
        unsafe { std::ptr::copy(from, destination as *mut u8, bytes) };
        Ok(())
    });
}

/// # Safety
/// `t` is the current thread; `destination` is null or a live array of numbers; `source` is 0 or holds `length` of its
/// elements.
fn copy_from_unmanaged(
    t: CurrentThread,
    source: usize,
    start: i32,
    destination: ObjRef,
    length: i32,
    _pinned_destination: *const u8,
) {
    t.run(|| {
        let (to, bytes) = array_part(t, destination, start, length, "destination")?;
        argument_null(t, source, "source")?;
        // SAFETY: within the array; managed code passes that much memory. Only arrays of numbers come here.
        unsafe { std::ptr::copy(source as *const u8, to, bytes) };
        Ok(())
    });
}

/// # Safety
/// `array` is null or a live array.
fn address_of_element(_t: CurrentThread, array: ObjRef, index: i32) -> usize {
    if array.is_null() {
        return 0;
    }
    object::element_address(array, index as isize as usize, object::vtable(array).element_size_bytes as usize) as usize
}

/// # Safety
/// `t` is the current thread.
fn get_last_error(t: CurrentThread) -> i32 {
    // SAFETY: the current thread's own struct.
    unsafe { (*t.abi()).last_error }
}

/// # Safety
/// `t` is the current thread.
fn set_last_error(t: CurrentThread, error: i32) {
    // SAFETY: as above.
    unsafe { (*t.abi()).last_error = error }
}

/// # Safety
/// `t` is the current thread; `class` is null or a live RuntimeType; `address` is a C function of the delegate's
/// signature.
fn delegate_for_pointer<'t>(t: CurrentThread<'t>, address: usize, class: Option<Obj<'t>>) -> Managed<Option<Obj<'t>>> {
    let ty = type_objects::require(t, class.word(), "t")?;
    if !ty.is_delegate() {
        return Err(exceptions::throw_argument(t, "Type is not a delegate", "t"));
    }
    delegates::delegate_for(t, address, ty)
}

/// # Safety
/// `t` is the current thread; `delegate` is null or a live delegate.
fn pointer_for_delegate<'t>(t: CurrentThread<'t>, delegate: Option<Obj<'t>>) -> Managed<usize> {
    let delegate = delegate.ok_or_else(|| exceptions::throw_argument_null(t, "d"))?;
    delegates::function_pointer(t, delegate)
}

/// # Safety
/// None: the arguments are not used.
fn is_com_object(_t: CurrentThread, _object: ObjRef) -> i32 {
    0
}

/// # Safety
/// `t` is the current thread; `method` is null or a live RuntimeMethodInfo.
fn prelink(t: CurrentThread, method: ObjRef) {
    t.run(|| {
        if method.is_null() {
            return Err(exceptions::throw_argument_null(t, "m"));
        }
        let method = METHOD_HANDLE.get::<usize>(method) as *const Method;
        // SAFETY: null, or the address of a `&'static Method`.
        match unsafe { method.as_ref() } {
            Some(method) if method.is_pinvoke() => resolve::resolve_native(t, method).map(|_| ()),
            _ => Ok(()),
        }
    });
}

/// # Safety
/// `t` is the current thread; `class` is null or a live RuntimeType.
fn prelink_all(t: CurrentThread, class: ObjRef) {
    t.run(|| {
        let ty = type_objects::require(t, class, "c")?;
        for method in exceptions::ToManaged::to_managed(ty.methods(), t)? {
            if method.is_pinvoke() {
                resolve::resolve_native(t, method)?;
            }
        }
        Ok(())
    });
}

macro_rules! table {
    ($($name:literal = $function:ident;)*) => {
        pub const TABLE: &[InternalCall] = &[
            $(InternalCall::new(concat!("System.Runtime.InteropServices.Marshal::", $name), &$function),)*
        ];
    };
}

table! {
    "AllocCoTaskMem" = alloc_co_task_mem;
    "AllocCoTaskMemSize" = alloc_hglobal;
    "AllocHGlobal" = alloc_hglobal;
    "BufferToBSTR" = buffer_to_bstr;
    "DestroyStructure" = destroy_structure;
    "FreeBSTR" = free_bstr;
    "FreeCoTaskMem" = free_block;
    "FreeHGlobal" = free_block;
    "GetDelegateForFunctionPointerInternal" = delegate_for_pointer;
    "GetFunctionPointerForDelegateInternal" = pointer_for_delegate;
    "GetLastWin32Error" = get_last_error;
    "IsComObject" = is_com_object;
    "OffsetOf" = offset_of;
    "Prelink" = prelink;
    "PrelinkAll" = prelink_all;
    "PtrToStringAnsi(System.IntPtr)" = ptr_to_string_ansi;
    "PtrToStringAnsi(System.IntPtr,System.Int32)" = ptr_to_string_ansi_length;
    "PtrToStringBSTR" = ptr_to_string_bstr;
    "PtrToStringUni(System.IntPtr)" = ptr_to_string_uni;
    "PtrToStringUni(System.IntPtr,System.Int32)" = ptr_to_string_uni_length;
    "PtrToStructure(System.IntPtr,System.Object)" = ptr_to_structure;
    "PtrToStructure(System.IntPtr,System.Type)" = ptr_to_structure_type;
    "ReAllocCoTaskMem" = re_alloc_co_task_mem;
    "ReAllocHGlobal" = re_alloc_hglobal;
    "SetLastWin32Error" = set_last_error;
    "SizeOf" = size_of;
    "StringToHGlobalAnsi" = string_to_hglobal_ansi;
    "StringToHGlobalUni" = string_to_hglobal_uni;
    "StructureToPtr" = structure_to_ptr;
    "UnsafeAddrOfPinnedArrayElement" = address_of_element;
    "copy_from_unmanaged_fixed" = copy_from_unmanaged;
    "copy_to_unmanaged_fixed" = copy_to_unmanaged;
}
