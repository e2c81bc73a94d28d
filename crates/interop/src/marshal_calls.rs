//! Internal calls of `System.Runtime.InteropServices.Marshal`: memory, strings, structures, function pointers.
//!
//! HGlobal and CoTaskMem memory is the C heap. Invariant: calls that are not in the table (COM; slots are numbered by
//! `icall`) throw NotImplementedException.

use crate::structure;
use crate::text::{self, free_string, managed_copy, native_copy};
use crate::{delegates, resolve};
use saki_il::synth::marshal::StringForm;
use saki_runtime::ExceptionType;
use saki_runtime::object::{exceptions, type_objects};
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, ManagedField, Obj, Str};
use saki_types::{LibraryType, Method};

/// `RuntimeMethodInfo.mhandle`.
static METHOD_HANDLE: ManagedField = ManagedField::new(LibraryType::RuntimeMethodInfo, "mhandle");

/// The size of the smallest block: allocating 0 bytes gives memory, too.
const MIN_BLOCK_BYTES: usize = 4;

fn checked(t: CurrentThread, block: *mut libc::c_void) -> Managed<usize> {
    if block.is_null() { Err(exceptions::out_of_memory(t)) } else { Ok(block as usize) }
}

/// # Errors
/// ArgumentNullException for a null pointer.
fn argument_null<T>(t: CurrentThread, pointer: *const T, name: &str) -> Managed<()> {
    if pointer.is_null() { Err(exceptions::throw_argument_null(t, name)) } else { Ok(()) }
}

/// # Errors
/// ArgumentNullException.
fn non_null<T>(t: CurrentThread, object: Option<T>, name: &str) -> Managed<T> {
    object.ok_or_else(|| exceptions::throw_argument_null(t, name))
}

fn alloc_hglobal(t: CurrentThread, bytes: usize) -> Managed<usize> {
    // SAFETY: plain allocation.
    checked(t, unsafe { libc::malloc(bytes.max(MIN_BLOCK_BYTES)) })
}

/// A negative size counts as too large.
fn alloc_co_task_mem(t: CurrentThread, bytes: i32) -> Managed<usize> {
    alloc_hglobal(t, bytes as isize as usize)
}

/// `block` is 0 or a block of the C heap that nothing uses any more.
fn re_alloc_hglobal(t: CurrentThread, block: usize, bytes: usize) -> Managed<usize> {
    // SAFETY: managed code passes memory of `alloc_hglobal`, or null.
    checked(t, unsafe { libc::realloc(block as *mut _, bytes.max(MIN_BLOCK_BYTES)) })
}

/// `block` is 0 or a block of the C heap that nothing uses any more. A negative size counts as too large.
fn re_alloc_co_task_mem(t: CurrentThread, block: usize, bytes: i32) -> Managed<usize> {
    re_alloc_hglobal(t, block, bytes as isize as usize)
}

/// `block` is 0 or a block of the C heap that nothing uses any more.
fn free_block(_t: CurrentThread, block: usize) {
    // SAFETY: managed code passes memory of the functions above, or null.
    unsafe { libc::free(block as *mut _) }
}

/// `string` is 0 or a BSTR that nothing uses any more.
fn free_bstr(_t: CurrentThread, string: usize) {
    // SAFETY: managed code passes a BSTR or null.
    unsafe { free_string(StringForm::Bstr, string as *mut u8) }
}

/// A native copy of pinned characters. No characters for null or a negative length.
fn buffer_to_bstr(t: CurrentThread, units: *const u16, length: i32) -> Managed<*mut u8> {
    // SAFETY: managed code passes that many pinned characters.
    native_copy(t, StringForm::Bstr, unsafe { units_at(units, length) })
}

fn string_to_hglobal_ansi(t: CurrentThread, units: *const u16, length: i32) -> Managed<*mut u8> {
    if units.is_null() {
        return Ok(std::ptr::null_mut());
    }
    // SAFETY: not null; Marshal passes a string's units with its length.
    native_copy(t, StringForm::Utf8, unsafe { units_at(units, length) })
}

fn string_to_hglobal_uni(t: CurrentThread, units: *const u16, length: i32) -> Managed<*mut u8> {
    if units.is_null() {
        return Ok(std::ptr::null_mut());
    }
    // SAFETY: not null; Marshal passes a string's units with its length.
    native_copy(t, StringForm::Utf16, unsafe { units_at(units, length) })
}

/// # Safety
/// `length` units can be read at `units`, unless that is null.
unsafe fn units_at<'a>(units: *const u16, length: i32) -> &'a [u16] {
    match usize::try_from(length) {
        // SAFETY: `length` units can be read at `units`, which is not null here.
        Ok(length) if !units.is_null() => unsafe { std::slice::from_raw_parts(units, length) },
        _ => &[],
    }
}

fn ptr_to_string_ansi<'t>(t: CurrentThread<'t>, native: *const u8) -> Managed<Option<Str<'t>>> {
    // SAFETY: managed code passes a string that ends with a zero byte, or null.
    unsafe { managed_copy(t, StringForm::Utf8, native) }
}

/// The length that managed code passes.
///
/// # Errors
/// ArgumentException for a negative one.
fn checked_length(t: CurrentThread, length: i32) -> Managed<usize> {
    usize::try_from(length).map_err(|_| exceptions::throw(t, ExceptionType::Argument, "len"))
}

fn ptr_to_string_ansi_length<'t>(t: CurrentThread<'t>, native: *const u8, length: i32) -> Managed<Str<'t>> {
    argument_null(t, native, "ptr")?;
    let length = checked_length(t, length)?;
    // SAFETY: managed code passes that many bytes.
    Str::from_utf8(t, unsafe { std::slice::from_raw_parts(native, length) })
}

fn ptr_to_string_uni<'t>(t: CurrentThread<'t>, native: *const u8) -> Managed<Option<Str<'t>>> {
    // SAFETY: managed code passes a UTF-16 string that ends with a zero unit, or null.
    unsafe { managed_copy(t, StringForm::Utf16, native) }
}

fn ptr_to_string_uni_length<'t>(t: CurrentThread<'t>, native: *const u8, length: i32) -> Managed<Str<'t>> {
    argument_null(t, native, "ptr")?;
    let length = checked_length(t, length)?;
    // SAFETY: managed code passes that many units.
    Str::from_units(t, &unsafe { text::copied_units(native, length) })
}

fn ptr_to_string_bstr<'t>(t: CurrentThread<'t>, native: *const u8) -> Managed<Option<Str<'t>>> {
    argument_null(t, native, "ptr")?;
    // SAFETY: managed code passes a BSTR.
    unsafe { managed_copy(t, StringForm::Bstr, native) }
}

fn size_of(t: CurrentThread, class: Option<Obj>) -> Managed<i32> {
    Ok(structure::size_of(t, type_objects::require(t, class, "t")?)? as i32)
}

fn offset_of(t: CurrentThread, class: Option<Obj>, field: Option<Str>) -> Managed<usize> {
    let ty = type_objects::require(t, class, "t")?;
    let field = non_null(t, field, "fieldName")?;
    structure::offset_of(t, ty, &field.to_rust())
}

/// `address` is 0 or has room for the object's native structure, and holds one if `delete_old` says so.
fn structure_to_ptr<'t>(
    t: CurrentThread<'t>,
    source: Option<Obj<'t>>,
    address: *mut u8,
    delete_old: bool,
) -> Managed<()> {
    let source = non_null(t, source, "structure")?;
    argument_null(t, address, "ptr")?;
    // SAFETY: managed code passes memory for the structure.
    unsafe { structure::structure_to_ptr(t, source, address, delete_old) }
}

fn ptr_to_structure<'t>(t: CurrentThread<'t>, address: *mut u8, destination: Option<Obj<'t>>) -> Managed<()> {
    argument_null(t, address, "ptr")?;
    let destination = non_null(t, destination, "structure")?;
    // SAFETY: managed code passes a native structure of the object's type.
    unsafe { structure::ptr_to_structure(t, address, destination) }
}

fn ptr_to_structure_type<'t>(t: CurrentThread<'t>, address: *mut u8, class: Option<Obj>) -> Managed<Option<Obj<'t>>> {
    if address.is_null() {
        return Ok(None);
    }
    let ty = type_objects::require(t, class, "structureType")?;
    // SAFETY: managed code passes a native structure of this type.
    unsafe { structure::ptr_to_new_structure(t, address, ty) }
}

fn destroy_structure(t: CurrentThread, address: *mut u8, class: Option<Obj>) -> Managed<()> {
    argument_null(t, address, "ptr")?;
    let ty = type_objects::require(t, class, "structureType")?;
    // SAFETY: managed code passes a native structure of this type.
    unsafe { structure::destroy_structure(t, address, ty) }
}

/// The address and length in bytes of the part of an array that a copy concerns.
fn array_part(
    t: CurrentThread,
    array: Option<Array>,
    start: i32,
    length: i32,
    array_name: &str,
) -> Managed<(*mut u8, usize)> {
    let array = non_null(t, array, array_name)?;
    let total = array.length();
    let (Ok(start), Ok(length)) = (usize::try_from(start), usize::try_from(length)) else {
        return Err(exceptions::throw(t, ExceptionType::ArgumentOutOfRange, "startIndex or length is negative."));
    };
    if start > total || length > total - start {
        return Err(exceptions::throw(
            t,
            ExceptionType::ArgumentOutOfRange,
            "Index and length must stay within the array.",
        ));
    }
    Ok((array.element_address(start), length * array.element_size_bytes()))
}

/// `destination` is null or has room for `length` elements of the array.
fn copy_to_unmanaged(
    t: CurrentThread,
    source: Option<Array>,
    start: i32,
    destination: *mut u8,
    length: i32,
    _pinned_source: *const u8,
) -> Managed<()> {
    let (from, bytes) = array_part(t, source, start, length, "source")?;
    argument_null(t, destination, "destination")?;
    // SAFETY: within the array, which stays where it is until the next safepoint; managed code passes that much memory.
    unsafe { std::ptr::copy(from, destination, bytes) };
    Ok(())
}

/// `source` is null or holds `length` elements for an array of numbers.
fn copy_from_unmanaged(
    t: CurrentThread,
    source: *const u8,
    start: i32,
    destination: Option<Array>,
    length: i32,
    _pinned_destination: *const u8,
) -> Managed<()> {
    let (to, bytes) = array_part(t, destination, start, length, "destination")?;
    argument_null(t, source, "source")?;
    // SAFETY: within the array, which is one of numbers and stays where it is until the next safepoint; so many bytes
    // can be read.
    unsafe { std::ptr::copy(source, to, bytes) };
    Ok(())
}

/// The index is not checked, as documented.
fn address_of_element(_t: CurrentThread, array: Option<Array>, index: i32) -> *mut u8 {
    let Some(array) = array else { return std::ptr::null_mut() };
    array.element_address(0).wrapping_offset(index as isize * array.element_size_bytes() as isize)
}

fn get_last_error(t: CurrentThread) -> i32 {
    // SAFETY: the current thread's own struct.
    unsafe { (*t.abi()).last_error }
}

fn set_last_error(t: CurrentThread, error: i32) {
    // SAFETY: the current thread's own struct.
    unsafe { (*t.abi()).last_error = error }
}

/// `address` is a C function of the delegate's signature.
fn delegate_for_pointer<'t>(t: CurrentThread<'t>, address: usize, class: Option<Obj>) -> Managed<Option<Obj<'t>>> {
    let ty = type_objects::require(t, class, "t")?;
    if !ty.is_delegate() {
        return Err(exceptions::throw_argument(t, "Type is not a delegate", "t"));
    }
    delegates::delegate_for(t, address, ty)
}

fn pointer_for_delegate(t: CurrentThread, delegate: Option<Obj>) -> Managed<usize> {
    let delegate = non_null(t, delegate, "d")?;
    delegates::function_pointer(t, delegate)
}

/// There are no COM objects.
fn is_com_object(_t: CurrentThread, _object: Option<Obj>) -> bool {
    false
}

fn prelink(t: CurrentThread, method: Option<Obj>) -> Managed<()> {
    let method = non_null(t, method, "m")?;
    // A class of the program's own may derive from MethodInfo.
    if !method.ty().is(LibraryType::RuntimeMethodInfo) {
        return Err(exceptions::throw_argument(t, "MethodInfo must be a runtime MethodInfo object.", "m"));
    }
    let method = METHOD_HANDLE.get::<usize>(method) as *const Method;
    // SAFETY: null, or the address of a `&'static Method`.
    match unsafe { method.as_ref() } {
        Some(method) if method.is_pinvoke() => resolve::resolve_native(t, method).map(|_| ()),
        _ => Ok(()),
    }
}

fn prelink_all(t: CurrentThread, class: Option<Obj>) -> Managed<()> {
    let ty = type_objects::require(t, class, "c")?;
    for method in exceptions::ToManaged::to_managed(ty.methods(), t)? {
        if method.is_pinvoke() {
            resolve::resolve_native(t, method)?;
        }
    }
    Ok(())
}

macro_rules! table {
    ($($name:literal = $function:ident;)*) => {
        /// The internal calls of `System.Runtime.InteropServices.Marshal`.
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
