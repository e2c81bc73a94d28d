//! Values of fields and properties: `mono/metadata/object.h`.
//!
//! Values are passed as Mono passes them: a place gets the value, or the reference, or the pointer; what is stored is
//! the address of a value, or the object itself, or the pointer itself.

use crate::call::{call_catching, call_managed, call_quietly, held, some};
use crate::invoke::invoke;
use saki_abi::ObjRef;
use saki_gc::barrier;
use saki_reflect::field_access;
use saki_reflect::members::Property;
use saki_runtime::exec::thread_statics;
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::object::{self, statics};
use saki_runtime::vm::domains::Domain;
use saki_runtime::{CurrentThread, Managed, Word};
use saki_types::{Field, Ty};
use std::ffi::c_int;
use std::ptr;

/// Where a static field lies.
fn static_place(t: CurrentThread, field: &'static Field) -> Managed<*mut u8> {
    if field.is_thread_static {
        return thread_statics::thread_static_address(t, field);
    }
    statics::static_field_address(field).to_managed(t)
}

/// Where an instance field lies.
///
/// # Safety
/// `object` is an object that has the field.
unsafe fn instance_place(t: CurrentThread, object: ObjRef, field: &'static Field) -> Managed<*mut u8> {
    let offset = field.offset_bytes().to_managed(t)? as usize;
    let header_bytes = saki_abi::object::OBJECT_HEADER_BYTES as usize;
    let from_start = if field.owner.is_value_type() { offset + header_bytes } else { offset };
    Ok(object.field_ptr(from_start))
}

/// Stores what `value` stands for; null is zeros.
///
/// # Safety
/// A variable of type `ty` lies at `place`; `value` is as the header says.
unsafe fn store(t: CurrentThread, ty: Ty, place: *mut u8, value: *mut u8) -> Managed<()> {
    if ty.is_value_type() {
        let size_bytes = ty.value_size_bytes().to_managed(t)? as usize;
        if value.is_null() {
            // SAFETY: a variable of this size; zeros need no barrier.
            unsafe { ptr::write_bytes(place, 0, size_bytes) };
        } else {
            // SAFETY: values of this type lie at both addresses.
            unsafe { object::copy_struct(t, place, value, ty) };
        }
    } else if ty.is_reference_type() {
        // SAFETY: a variable of a reference, and an object or null.
        unsafe { barrier::store_ref_unknown(t.managed(), place.cast(), ObjRef(value.cast())) };
    } else {
        // SAFETY: a variable of a pointer.
        unsafe { place.cast::<*mut u8>().write(value) };
    }
    Ok(())
}

/// Copies the variable to the host's place, which gets a reference or a pointer itself.
///
/// # Safety
/// A variable of type `ty` lies at `place`; `value` has room for it.
unsafe fn fetch(t: CurrentThread, ty: Ty, place: *const u8, value: *mut u8) -> Managed<()> {
    let size_bytes =
        if ty.is_value_type() { ty.value_size_bytes().to_managed(t)? as usize } else { size_of::<usize>() };
    // SAFETY: both have room for the variable; the collector sees the host's frames, and needs no barrier for them.
    unsafe { barrier::bulk_copy(t.managed(), value, place, size_bytes) };
    Ok(())
}

/// Sets an instance field; static fields are left alone.
///
/// # Safety
/// `object` is an object that has the field; `value` is the address of a value, or the object, or the pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_field_set_value(object: ObjRef, field: &'static Field, value: *mut u8) {
    if field.is_static() {
        return;
    }
    call_managed("mono_field_set_value", |t| {
        let ty = field.ty().to_managed(t)?;
        // SAFETY: the object has the field.
        let place = unsafe { instance_place(t, object, field) }?;
        // SAFETY: the field's variable, and the host's value.
        unsafe { store(t, ty, place, value) }
    });
}

/// Copies an instance field to the host's place; static fields are left alone.
///
/// # Safety
/// `object` is an object that has the field; `value` has room for it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_field_get_value(object: ObjRef, field: &'static Field, value: *mut u8) {
    const FUNCTION: &str = "mono_field_get_value";
    if field.is_static() {
        return;
    }
    // SAFETY: the host's object.
    unsafe { some(FUNCTION, object) };
    call_managed(FUNCTION, |t| {
        let ty = field.ty().to_managed(t)?;
        // SAFETY: the object has the field.
        let place = unsafe { instance_place(t, object, field) }?;
        // SAFETY: the field's variable, and the host's room.
        unsafe { fetch(t, ty, place, value) }
    });
}

/// Sets a static field; constants are left alone. The class constructor is not run.
///
/// # Safety
/// `value` is the address of a value, or the object, or the pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_field_static_set_value(_class: Ty, field: &'static Field, value: *mut u8) {
    if !field.is_static() || field.is_literal() {
        return;
    }
    call_managed("mono_field_static_set_value", |t| {
        let ty = field.ty().to_managed(t)?;
        let place = static_place(t, field)?;
        // SAFETY: the field's variable, and the host's value.
        unsafe { store(t, ty, place, value) }
    });
}

/// Copies a static field or a constant to the host's place. The class constructor is not run.
///
/// # Safety
/// `value` has room for the field.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_field_static_get_value(_class: Ty, field: &'static Field, value: *mut u8) {
    if !field.is_static() {
        return;
    }
    call_quietly("mono_field_static_get_value", |t| {
        let ty = field.ty().to_managed(t)?;
        if !field.is_literal() {
            let place = static_place(t, field)?;
            // SAFETY: the field's variable, and the host's room.
            return unsafe { fetch(t, ty, place, value) };
        }
        let constant = field_access::get_value(t, field, None)?;
        if ty.is_value_type() {
            // SAFETY: the box of a constant of this type, and the host's room.
            return constant.map_or(Ok(()), |constant| unsafe { fetch(t, ty, constant.data(), value) });
        }
        // SAFETY: the host's room for a reference.
        unsafe { value.cast::<ObjRef>().write(constant.word()) };
        Ok(())
    });
}

/// The value of a field, boxed; of a constant too.
///
/// # Safety
/// `object` is an object that has the field, or anything for static fields.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_field_get_value_object(
    _domain: Option<&'static Domain>,
    field: &'static Field,
    object: ObjRef,
) -> ObjRef {
    // SAFETY: the host's object, for an instance field.
    let target = if field.is_static() { None } else { unsafe { held(object) } };
    call_quietly("mono_field_get_value_object", |t| Ok(field_access::get_value(t, field, target)?.word()))
}

/// Calls the property's setter; `params` has its arguments, the value last.
///
/// # Safety
/// That of `mono_runtime_invoke`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_property_set_value(
    property: &'static Property,
    object: *mut u8,
    params: *mut *mut u8,
    exc: *mut ObjRef,
) {
    const FUNCTION: &str = "mono_property_set_value";
    let Some(setter) = property.setter else { crate::machine::end(FUNCTION, "gets a property without a setter") };
    // SAFETY: the host's object and arguments, and its room for an exception.
    unsafe { call_catching(FUNCTION, exc, |t| invoke(t, setter, object, params).map(drop)) }
}

/// Calls the property's getter; `params` has its arguments, or is null. The result is boxed if it is a value.
///
/// # Safety
/// That of `mono_runtime_invoke`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_property_get_value(
    property: &'static Property,
    object: *mut u8,
    params: *mut *mut u8,
    exc: *mut ObjRef,
) -> ObjRef {
    const FUNCTION: &str = "mono_property_get_value";
    let Some(getter) = property.getter else { crate::machine::end(FUNCTION, "gets a property without a getter") };
    // SAFETY: the host's object and arguments, and its room for an exception.
    unsafe { call_catching(FUNCTION, exc, |t| invoke(t, getter, object, params)) }
}

/// The value of an instance field, boxed, also of an object that a proxy stands for.
///
/// # Safety
/// `object` is an object that has the field.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_load_remote_field_new(object: ObjRef, _class: Ty, field: &'static Field) -> ObjRef {
    const FUNCTION: &str = "mono_load_remote_field_new";
    // SAFETY: the host's object.
    let target = unsafe { some(FUNCTION, object) };
    call_quietly(FUNCTION, |t| Ok(field_access::get_value(t, field, Some(target))?.word()))
}

/// Sets an instance field to what is in a box, also of an object that a proxy stands for.
///
/// # Safety
/// `object` is an object that has the field; `value` is null or an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_store_remote_field_new(object: ObjRef, _class: Ty, field: &'static Field, value: ObjRef) {
    const FUNCTION: &str = "mono_store_remote_field_new";
    // SAFETY: the host's object, and null or its value.
    let (target, value) = unsafe { (some(FUNCTION, object), held(value)) };
    call_quietly(FUNCTION, |t| field_access::set_value(t, field, Some(target), value));
}

/// The value of an instance field of the object that a proxy stands for: its address, or in `result` the reference,
/// whose address is given then. Null if it cannot be had.
///
/// # Safety
/// `object` is an object that has the field; `result` is the host's room for a reference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_load_remote_field(
    object: ObjRef,
    class: Ty,
    field: &'static Field,
    result: *mut ObjRef,
) -> *mut u8 {
    // SAFETY: the host's object.
    let value = unsafe { mono_load_remote_field_new(object, class, field) };
    // SAFETY: the host's room; the collector sees its frames.
    unsafe { result.write(value) };
    match call_quietly("mono_load_remote_field", |t| Ok(c_int::from(field.ty().to_managed(t)?.is_value_type()))) {
        // SAFETY: null, or the box that the host's room holds.
        1 => unsafe { held(value) }.map_or(ptr::null_mut(), |boxed| boxed.data()),
        _ => result.cast(),
    }
}

/// Sets an instance field of the object that a proxy stands for: to the value at an address, or to the object.
///
/// # Safety
/// `object` is an object that has the field; `value` is the address of a value of its type, or null or an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_store_remote_field(object: ObjRef, _class: Ty, field: &'static Field, value: *mut u8) {
    const FUNCTION: &str = "mono_store_remote_field";
    // SAFETY: the host's object.
    let target = unsafe { some(FUNCTION, object) };
    call_quietly(FUNCTION, |t| {
        let ty = field.ty().to_managed(t)?;
        let value = match ty.is_value_type() {
            // SAFETY: the host's value.
            true => unsafe { saki_runtime::Obj::boxed(t, ty, value) }?,
            // SAFETY: null or the host's object.
            false => unsafe { held(ObjRef(value.cast())) },
        };
        field_access::set_value(t, field, Some(target), value)
    });
}
