//! Converting values between managed storage and native slots, by `NativeType`.
//!
//! A native slot is `NativeType::size_bytes` of native memory: a struct field, an array element, or the word of a
//! parameter. Invariant: also when `to_native` fails half-way, `release` can free the slot, because slots start zeroed and
//! 0 owns nothing. Native memory is the C heap (`free`, `Marshal.FreeHGlobal`, `Marshal.FreeCoTaskMem`). Left out: which
//! registers structs by value travel in (`saki_il::synth::native_registers`).

use crate::any_object;
use crate::builder_text::{builder_units, new_builder, set_builder_units};
use crate::date;
use crate::delegates;
use crate::text;
use saki_abi::ObjRef;
use saki_abi::object::ARRAY_DATA_OFFSET;
use saki_il::synth::marshal::{BoolForm, NativeType, StringForm, data_offset_bytes, handle_class, native_layout};
use saki_il::synth::native_value::handle_ref_offset;
use saki_runtime::exceptions::{self, ToManaged};
use saki_runtime::object;
use saki_runtime::strings;
use saki_runtime::thread::{CurrentThread, Managed};
use saki_types::{ElementType, Ty};

/// Reads a word of native or managed memory at any alignment.
///
/// # Safety
/// `size_of::<T>()` bytes can be read at `address`.
pub unsafe fn read<T: Copy>(address: *const u8) -> T {
    // SAFETY: the caller's promise.
    unsafe { address.cast::<T>().read_unaligned() }
}

/// # Safety
/// `size_of::<T>()` bytes can be written at `address`; not for references in the heap.
pub unsafe fn write<T: Copy>(address: *mut u8, value: T) {
    // SAFETY: the caller's promise.
    unsafe { address.cast::<T>().write_unaligned(value) }
}

/// Stores a reference anywhere, with barrier.
pub fn store_reference(t: CurrentThread, slot: *mut u8, value: ObjRef) {
    let slot = slot.cast::<ObjRef>();
    // SAFETY: callers pass an aligned reference slot of an object they hold, of a static or of a stack.
    unsafe { slot.write(value) };
    saki_gc::barrier::after_store_unknown(t.managed(), slot);
}

fn units_of_native(form: StringForm) -> usize {
    match form {
        StringForm::Utf16 | StringForm::Bstr => 2,
        StringForm::Utf8 | StringForm::AnsiBstr => 1,
    }
}

fn size_of_native(t: CurrentThread, native: &NativeType) -> Managed<usize> {
    Ok(native.size_bytes().to_managed(t)? as usize)
}

/// Bytes from one element of an array of this type to the next.
pub fn element_stride(t: CurrentThread, element: Ty) -> Managed<usize> {
    if element.is_reference_type() {
        return Ok(8);
    }
    Ok(element.value_size_bytes().to_managed(t)? as usize)
}

fn argument_error(t: CurrentThread, message: &str) -> exceptions::Thrown {
    exceptions::throw(t, "System", "ArgumentException", message)
}

/// MarshalDirectiveException.
pub fn directive_error(t: CurrentThread, message: &str) -> exceptions::Thrown {
    exceptions::throw(t, "System.Runtime.InteropServices", "MarshalDirectiveException", message)
}

/// Offset of a handle object's `handle` field.
fn handle_offset(t: CurrentThread, ty: Ty) -> Managed<usize> {
    let base = handle_class(ty).to_managed(t)?.unwrap_or(ty);
    let field = base.find_field("handle").to_managed(t)?;
    match field {
        Some(field) => Ok(field.offset_bytes().to_managed(t)? as usize),
        None => Err(exceptions::throw(t, "System", "MissingFieldException", "SafeHandle.handle")),
    }
}

/// One byte cannot hold a non-ASCII character.
fn ansi_char(unit: u16) -> u8 {
    if unit < 0x80 { unit as u8 } else { b'?' }
}

/// Fills a zeroed native slot from the managed value at `managed`.
///
/// # Errors
/// ArgumentException for values that do not fit, MarshalDirectiveException, OutOfMemoryException.
///
/// # Safety
/// `managed` holds a value of the type that `native` was made from; `slot` has the native size, zeroed.
pub unsafe fn to_native(t: CurrentThread, native: &NativeType, managed: *const u8, slot: *mut u8) -> Managed<()> {
    // SAFETY: for the whole body: the caller's promise; each arm reads and writes as many bytes as its type has.
    unsafe {
        match native {
            NativeType::Void => {}
            NativeType::Same { size_bytes, .. } => std::ptr::copy(managed, slot, *size_bytes as usize),
            NativeType::Bool(form) => {
                let truth = *managed != 0;
                match form {
                    BoolForm::Int32 => write(slot, i32::from(truth)),
                    BoolForm::Byte => *slot = u8::from(truth),
                    BoolForm::Variant => write(slot, -i16::from(truth)),
                }
            }
            NativeType::AnsiChar => {
                *slot = ansi_char(read(managed));
            }
            NativeType::FixedChars { count } => {
                for index in 0..*count as usize {
                    *slot.add(index) = ansi_char(read(managed.add(2 * index)));
                }
            }
            NativeType::String(form) => {
                let string: ObjRef = read(managed);
                if !string.is_null() {
                    write(slot, text::native_copy(t, *form, strings::units(string))?);
                }
            }
            NativeType::StringBuilder(form) => {
                let builder: ObjRef = read(managed);
                if !builder.is_null() {
                    write(slot, builder_to_native(t, *form, builder)?);
                }
            }
            NativeType::FixedString { units, wide } => {
                fixed_string_to_native(read(managed), slot, *units as usize, *wide)
            }
            NativeType::FixedArray { element, element_type, count } => {
                let array: ObjRef = read(managed);
                let count = *count as usize;
                if array.is_null() {
                    return Ok(());
                }
                if object::array_length(array) < count {
                    return Err(argument_error(
                        t,
                        "Type could not be marshaled because the length of an embedded array instance does not match the declared length in the layout.",
                    ));
                }
                elements_to_native(t, element, element_type, array, slot, count)?;
            }
            NativeType::Array { element, element_type, .. } => {
                let array: ObjRef = read(managed);
                if !array.is_null() {
                    let length = object::array_length(array);
                    // One zero element more ends string arrays for C.
                    let block = text::allocate(t, size_of_native(t, element)? * (length + 1))?;
                    write(slot, block);
                    elements_to_native(t, element, element_type, array, block, length)?;
                }
            }
            NativeType::Struct(ty) => fields_to_native(t, ty, managed, slot)?,
            NativeType::ClassInline(ty) => {
                let object: ObjRef = read(managed);
                if !object.is_null() {
                    fields_to_native(t, ty, data_of(object, ty), slot)?;
                }
            }
            NativeType::ClassPointer(ty) => {
                let object: ObjRef = read(managed);
                if !object.is_null() {
                    let size = native_layout(ty).to_managed(t)?.size_bytes;
                    let block = text::allocate(t, size as usize)?;
                    write(slot, block);
                    fields_to_native(t, ty, data_of(object, ty), block)?;
                }
            }
            NativeType::Delegate(_) => {
                let delegate: ObjRef = read(managed);
                if !delegate.is_null() {
                    write(slot, delegates::function_pointer(t, delegate)?);
                }
            }
            NativeType::SafeHandle(ty) | NativeType::CriticalHandle(ty) => {
                let handle: ObjRef = read(managed);
                if handle.is_null() {
                    return Err(argument_error(t, "A null handle cannot be marshalled."));
                }
                write(slot, *handle.field_ptr::<usize>(handle_offset(t, ty)?));
            }
            NativeType::HandleRef(ty) => {
                let offset = handle_ref_offset(ty).to_managed(t)?;
                std::ptr::copy(managed.add(offset as usize), slot, size_of::<usize>());
            }
            NativeType::Date => write(slot, date::to_ole(read::<u64>(managed))),
            NativeType::AnyObject(charset) => {
                let object: ObjRef = read(managed);
                if !object.is_null() {
                    write(slot, any_object::to_native(t, object, *charset)?);
                }
            }
            NativeType::NullObject { .. } => {
                if !read::<ObjRef>(managed).is_null() {
                    return Err(directive_error(t, "Objects and interfaces other than null need COM."));
                }
            }
            NativeType::Custom { .. } => {
                return Err(directive_error(t, "A custom-marshalled value inside another value."));
            }
            NativeType::Refused(why) => return Err(directive_error(t, why)),
        }
    }
    Ok(())
}

/// Where an object's fields begin.
fn data_of(object: ObjRef, ty: Ty) -> *mut u8 {
    object.field_ptr(data_offset_bytes(ty) as usize)
}

/// Fills native struct memory from managed fields at `data` (a value, or an object's data).
///
/// # Errors
/// As `to_native`.
///
/// # Safety
/// As `to_native`, for all fields of `ty`.
pub unsafe fn fields_to_native(t: CurrentThread, ty: Ty, data: *const u8, slot: *mut u8) -> Managed<()> {
    let layout = native_layout(ty).to_managed(t)?;
    if let Some(why) = &layout.refused {
        return Err(directive_error(t, why));
    }
    for field in &layout.fields {
        let offset = field.field.offset_bytes().to_managed(t)? - data_offset_bytes(field.field.owner);
        // SAFETY: field offsets lie inside both layouts.
        unsafe { to_native(t, &field.native, data.add(offset as usize), slot.add(field.offset_bytes as usize))? };
    }
    Ok(())
}

/// Fills native elements from those of an array.
///
/// # Errors
/// As `to_native`.
///
/// # Safety
/// `array` has at least `count` elements of `element_type`; `block` has room for their native forms, zeroed.
pub unsafe fn elements_to_native(
    t: CurrentThread,
    element: &NativeType,
    element_type: Ty,
    array: ObjRef,
    block: *mut u8,
    count: usize,
) -> Managed<()> {
    let stride = element_stride(t, element_type)?;
    let native_stride = size_of_native(t, element)?;
    for index in 0..count {
        let managed = array.field_ptr::<u8>(ARRAY_DATA_OFFSET as usize + index * stride);
        // SAFETY: `index < count`.
        unsafe { to_native(t, element, managed, block.add(index * native_stride))? };
    }
    Ok(())
}

/// # Safety
/// `slot` has room for `units` units.
unsafe fn fixed_string_to_native(string: ObjRef, slot: *mut u8, units: usize, wide: bool) {
    if units == 0 {
        return;
    }
    let text = text::units_of(string);
    if wide {
        let text = &text[..text.len().min(units - 1)];
        // SAFETY: shorter than the slot, which is zeroed.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr().cast(), slot, text.len() * 2) };
    } else {
        let bytes = text::utf8_of(text);
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), slot, bytes.len().min(units - 1)) };
    }
}

fn builder_to_native(t: CurrentThread, form: StringForm, builder: ObjRef) -> Managed<*mut u8> {
    let (units, capacity) = builder_units(builder);
    let content = match units_of_native(form) {
        2 => text::bytes_of(&units).to_vec(),
        _ => text::utf8_of(&units),
    };
    let bytes = ((capacity + 1) * units_of_native(form)).max(content.len() + 2);
    let block = text::allocate(t, bytes)?;
    // SAFETY: the block is at least as long.
    unsafe { std::ptr::copy_nonoverlapping(content.as_ptr(), block, content.len()) };
    Ok(block)
}

/// The text of a builder's native buffer.
///
/// # Safety
/// `block` holds terminated text of this form.
unsafe fn builder_text(form: StringForm, block: *const u8) -> Vec<u16> {
    match units_of_native(form) {
        // SAFETY: the caller's promise.
        2 => unsafe { text::wide_units(block) },
        // SAFETY: as above.
        _ => String::from_utf8_lossy(unsafe { text::c_bytes(block) }).encode_utf16().collect(),
    }
}

/// Makes the managed value at `managed` from a native slot.
///
/// # Errors
/// MarshalDirectiveException, OutOfMemoryException.
///
/// # Safety
/// `slot` holds a native value; `managed` has room for the managed type and is a valid place to store it.
pub unsafe fn to_managed(t: CurrentThread, native: &NativeType, slot: *const u8, managed: *mut u8) -> Managed<()> {
    // SAFETY: the caller's promise.
    unsafe { to_managed_of_length(t, native, slot, managed, None) }
}

/// As `to_managed`; `length`: elements of an array that native code made, when known.
///
/// # Errors
/// As `to_managed`.
///
/// # Safety
/// As `to_managed`.
pub unsafe fn to_managed_of_length(
    t: CurrentThread,
    native: &NativeType,
    slot: *const u8,
    managed: *mut u8,
    length: Option<usize>,
) -> Managed<()> {
    // SAFETY: for the whole body: the caller's promise; each arm reads and writes as many bytes as its type has.
    unsafe {
        match native {
            NativeType::Void => {}
            NativeType::Same { size_bytes, .. } => std::ptr::copy(slot, managed, *size_bytes as usize),
            NativeType::Bool(form) => {
                let truth = match form {
                    BoolForm::Int32 => read::<i32>(slot) != 0,
                    BoolForm::Byte => *slot != 0,
                    BoolForm::Variant => read::<i16>(slot) != 0,
                };
                *managed = u8::from(truth);
            }
            NativeType::AnsiChar => write(managed, u16::from(*slot)),
            NativeType::FixedChars { count } => {
                for index in 0..*count as usize {
                    write(managed.add(2 * index), u16::from(*slot.add(index)));
                }
            }
            NativeType::String(form) => {
                let string = text::managed_copy(t, *form, read(slot))?;
                store_reference(t, managed, string);
            }
            NativeType::FixedString { units, wide } => {
                let string = fixed_string_to_managed(t, slot, *units as usize, *wide)?;
                store_reference(t, managed, string);
            }
            NativeType::FixedArray { element, element_type, count } => {
                let array = object::new_array(t, element_type, *count as usize)?;
                elements_to_managed(t, element, element_type, slot, array)?;
                store_reference(t, managed, array);
            }
            NativeType::Array { element, element_type, count } => {
                let block: *const u8 = read(slot);
                let array = match (block.is_null(), length.or(count.constant.map(|n| n as usize))) {
                    (true, _) => ObjRef::NULL,
                    (false, Some(length)) => {
                        let array = object::new_array(t, element_type, length)?;
                        elements_to_managed(t, element, element_type, block, array)?;
                        array
                    }
                    (false, None) => {
                        return Err(directive_error(t, "The length of an array from native code is not known."));
                    }
                };
                store_reference(t, managed, array);
            }
            NativeType::Struct(ty) => fields_to_managed(t, ty, slot, managed)?,
            NativeType::ClassInline(ty) => {
                let object = object::new_instance(t, ty)?;
                fields_to_managed(t, ty, slot, data_of(object, ty))?;
                store_reference(t, managed, object);
            }
            NativeType::ClassPointer(ty) => {
                let block: *const u8 = read(slot);
                let object = if block.is_null() {
                    ObjRef::NULL
                } else {
                    let object = object::new_instance(t, ty)?;
                    fields_to_managed(t, ty, block, data_of(object, ty))?;
                    object
                };
                store_reference(t, managed, object);
            }
            NativeType::Delegate(ty) => {
                let address: usize = read(slot);
                let delegate = delegates::delegate_for(t, address, ty)?;
                store_reference(t, managed, delegate);
            }
            NativeType::SafeHandle(ty) | NativeType::CriticalHandle(ty) => {
                // A field: the object stays, its handle may not change.
                let handle: ObjRef = read(managed);
                if handle.is_null() || *handle.field_ptr::<usize>(handle_offset(t, ty)?) != read::<usize>(slot) {
                    return Err(exceptions::throw(
                        t,
                        "System",
                        "NotSupportedException",
                        "A handle field cannot be changed by native code.",
                    ));
                }
            }
            NativeType::Date => match date::from_ole(read::<f64>(slot)) {
                Some(data) => write(managed, data),
                None => return Err(argument_error(t, "Not a legal OleAut date.")),
            },
            // The handle belongs to managed code; what native code made of it is not looked at.
            NativeType::HandleRef(_) => {}
            NativeType::NullObject { size_bytes } => {
                if std::slice::from_raw_parts(slot, *size_bytes as usize).iter().any(|&byte| byte != 0) {
                    return Err(directive_error(t, "Objects and interfaces other than null need COM."));
                }
            }
            NativeType::StringBuilder(form) => {
                let block: *const u8 = read(slot);
                let builder = if block.is_null() { ObjRef::NULL } else { new_builder(t, &builder_text(*form, block))? };
                store_reference(t, managed, builder);
            }
            NativeType::Custom { .. } | NativeType::AnyObject(_) => {
                return Err(directive_error(t, "The value cannot come from native code."));
            }
            NativeType::Refused(why) => return Err(directive_error(t, why)),
        }
    }
    Ok(())
}

/// Makes managed fields at `data` from native struct memory.
///
/// # Errors
/// As `to_managed`.
///
/// # Safety
/// As `to_managed`, for all fields of `ty`.
pub unsafe fn fields_to_managed(t: CurrentThread, ty: Ty, slot: *const u8, data: *mut u8) -> Managed<()> {
    let layout = native_layout(ty).to_managed(t)?;
    if let Some(why) = &layout.refused {
        return Err(directive_error(t, why));
    }
    for field in &layout.fields {
        let offset = field.field.offset_bytes().to_managed(t)? - data_offset_bytes(field.field.owner);
        if matches!(&field.native, NativeType::Array { count, .. } if count.constant.is_none()) {
            let message = format!("Field '{:?}': the length of an array from native code is not known.", field.field);
            return Err(directive_error(t, &message));
        }
        // SAFETY: field offsets lie inside both layouts.
        unsafe { to_managed(t, &field.native, slot.add(field.offset_bytes as usize), data.add(offset as usize))? };
    }
    Ok(())
}

/// Makes the elements of an array from native ones.
///
/// # Errors
/// As `to_managed`.
///
/// # Safety
/// `block` holds the native forms of all of `array`'s elements.
pub unsafe fn elements_to_managed(
    t: CurrentThread,
    element: &NativeType,
    element_type: Ty,
    block: *const u8,
    array: ObjRef,
) -> Managed<()> {
    let stride = element_stride(t, element_type)?;
    let native_stride = size_of_native(t, element)?;
    for index in 0..object::array_length(array) {
        let managed = array.field_ptr::<u8>(ARRAY_DATA_OFFSET as usize + index * stride);
        // SAFETY: `index` is within the array.
        unsafe { to_managed(t, element, block.add(index * native_stride), managed)? };
    }
    Ok(())
}

/// # Safety
/// `units` units can be read at `slot`.
unsafe fn fixed_string_to_managed(t: CurrentThread, slot: *const u8, units: usize, wide: bool) -> Managed<ObjRef> {
    if wide {
        // SAFETY: the caller's promise.
        let all = unsafe { text::copied_units(slot, units) };
        let length = all.iter().position(|u| *u == 0).unwrap_or(units);
        return strings::new_string_utf16(t, &all[..length]);
    }
    // The last byte of an ANSI string is its terminator, whatever stands there; a UTF-16 string may fill its field.
    // SAFETY: the caller's promise.
    let all = unsafe { std::slice::from_raw_parts(slot, units.saturating_sub(1)) };
    let length = all.iter().position(|b| *b == 0).unwrap_or(all.len());
    strings::new_string_utf8(t, &all[..length])
}

/// Place of an element of an array of references.
fn array_slot(array: ObjRef, index: usize) -> *mut u8 {
    array.field_ptr(ARRAY_DATA_OFFSET as usize + index * size_of::<ObjRef>())
}

/// Copies what native code changed behind a by-value pointer into the object that was passed.
///
/// # Errors
/// As `to_managed`.
///
/// # Safety
/// `slot` was made by `to_native` from the value at `managed`.
pub unsafe fn update_managed(t: CurrentThread, native: &NativeType, slot: *const u8, managed: *mut u8) -> Managed<()> {
    // SAFETY: for the whole body: the caller's promise.
    unsafe {
        let object: ObjRef = read(managed);
        let block: *const u8 = read(slot);
        if object.is_null() || block.is_null() {
            return Ok(());
        }
        match native {
            NativeType::Array { element, .. } if matches!(**element, NativeType::StringBuilder(_)) => {
                for index in 0..object::array_length(object) {
                    let builder = array_slot(object, index);
                    update_managed(t, element, block.add(index * size_of::<usize>()), builder)?;
                }
                Ok(())
            }
            NativeType::Array { element, element_type, .. } => {
                elements_to_managed(t, element, element_type, block, object)
            }
            NativeType::AnyObject(charset) => any_object::update(t, object, *charset, block as usize),
            NativeType::ClassPointer(ty) => fields_to_managed(t, ty, block, data_of(object, ty)),
            NativeType::StringBuilder(form) => set_builder_units(t, object, &builder_text(*form, block)),
            _ => Ok(()),
        }
    }
}

/// Frees what a slot owns; the slot itself stays. `length`: elements of an array, when known.
///
/// # Errors
/// Load errors.
///
/// # Safety
/// `slot` was filled by `to_native` (or by native code in its place) and is not used again.
pub unsafe fn release(t: CurrentThread, native: &NativeType, slot: *mut u8, length: Option<usize>) -> Managed<()> {
    // SAFETY: for the whole body: the caller's promise.
    unsafe {
        match native {
            NativeType::String(form) => text::free_string(*form, read(slot)),
            NativeType::StringBuilder(_) => text::free(read(slot)),
            NativeType::FixedArray { element, count, .. } if element.owns_memory().to_managed(t)? => {
                let stride = size_of_native(t, element)?;
                for index in 0..*count as usize {
                    release(t, element, slot.add(index * stride), None)?;
                }
            }
            NativeType::Array { element, count, .. } => {
                let block: *mut u8 = read(slot);
                if block.is_null() {
                    return Ok(());
                }
                let length = length.or(count.constant.map(|n| n as usize)).unwrap_or(0);
                if element.owns_memory().to_managed(t)? {
                    let stride = size_of_native(t, element)?;
                    for index in 0..length {
                        release(t, element, block.add(index * stride), None)?;
                    }
                }
                text::free(block);
            }
            NativeType::Struct(ty) | NativeType::ClassInline(ty) => release_fields(t, ty, slot)?,
            NativeType::ClassPointer(ty) => {
                let block: *mut u8 = read(slot);
                if !block.is_null() {
                    release_fields(t, ty, block)?;
                    text::free(block);
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Frees what the fields of native struct memory own, and zeroes those pointers.
///
/// # Errors
/// Load errors.
///
/// # Safety
/// `slot` holds a native struct of `ty`.
pub unsafe fn release_fields(t: CurrentThread, ty: Ty, slot: *mut u8) -> Managed<()> {
    for field in &native_layout(ty).to_managed(t)?.fields {
        // SAFETY: field offsets lie inside the layout.
        let address = unsafe { slot.add(field.offset_bytes as usize) };
        // SAFETY: the field's slot.
        unsafe { release(t, &field.native, address, None)? };
        if matches!(field.native, NativeType::String(_) | NativeType::Array { .. } | NativeType::ClassPointer(_)) {
            // SAFETY: as above; a pointer slot.
            unsafe { write(address, 0usize) };
        }
    }
    Ok(())
}

/// Whether a type's element type is held as a reference.
pub fn is_reference(ty: Ty) -> bool {
    ty.is_reference_type() && ty.element_type != ElementType::Void
}
