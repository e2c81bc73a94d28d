//! Reading and writing fields by reflection.

use crate::constants::{constant_object, constant_of};
use crate::handles::{field_of, require_field};
use crate::invocation::pointer_object;
use crate::remoting;
use crate::runtime_type::this_type;
use saki_metadata::{TableId, Token};
use saki_runtime::exceptions::{self, ToManaged};
use saki_runtime::object::{self, unboxed};
use saki_runtime::{CurrentThread, InternalCall, Managed, ManagedField, ObjRef, class_init, proxies, statics};
use saki_types::{Field, Ty, universe};

/// Address of the value; `target` is the (boxed) object of an instance field.
fn address_of(t: CurrentThread, field: &'static Field, target: ObjRef) -> Managed<*mut u8> {
    if field.is_static() {
        if field.owner.is_open {
            let message =
                "Late bound operations cannot be performed on types for which ContainsGenericParameters is true.";
            return Err(exceptions::throw(t, "System", "InvalidOperationException", message));
        }
        class_init::ensure(t, field.owner)?;
        return match field.is_thread_static {
            true => saki_runtime::thread_statics::thread_static_address(t, field),
            false => statics::static_field_address(field).to_managed(t),
        };
    }
    if target.is_null() {
        return Err(exceptions::throw_default(t, "NullReferenceException"));
    }
    let offset = field.offset_bytes().to_managed(t)? as usize;
    Ok(match field.owner.is_value_type() {
        true => unboxed(target).wrapping_add(offset),
        false => target.field_ptr(offset),
    })
}

/// Boxes the value at `address`.
fn load(t: CurrentThread, ty: Ty, address: *const u8) -> Managed<ObjRef> {
    if ty.is_value_type() {
        return object::box_value(t, ty, address);
    }
    if ty.is_pointer() {
        // SAFETY: a pointer field.
        return pointer_object(t, ty, unsafe { *(address as *const usize) });
    }
    // SAFETY: a reference field.
    Ok(unsafe { *(address as *const ObjRef) })
}

/// Stores a boxed value at `address`, which lies in `holder` unless that is null.
fn store(t: CurrentThread, ty: Ty, address: *mut u8, holder: ObjRef, value: ObjRef) -> Managed<()> {
    if ty.is_nullable() {
        let size = ty.value_size_bytes().to_managed(t)? as usize;
        let (has_value, at) = object::nullable_offsets(t, ty)?;
        // SAFETY: a field of type Nullable<T>; `value` is null or a T.
        unsafe {
            std::ptr::write_bytes(address, 0, size);
            if !value.is_null() {
                object::copy_struct(t, address.add(at), unboxed(value), ty.args[0]);
                *address.add(has_value) = 1;
            }
        }
    } else if ty.is_value_type() || ty.is_pointer() {
        let size = ty.value_size_bytes().to_managed(t)? as usize;
        // SAFETY: a field of this type; the binder made `value` a box of it, pointers come as IntPtr.
        unsafe {
            match value.is_null() {
                true => std::ptr::write_bytes(address, 0, size),
                false if ty.is_pointer() => std::ptr::copy_nonoverlapping(unboxed(value), address, size),
                false => object::copy_struct(t, address, unboxed(value), ty),
            }
        }
    } else if holder.is_null() {
        // SAFETY: a static or the target of a TypedReference; the barrier finds out where it lies.
        unsafe { saki_gc::barrier::store_ref_unknown(t.managed(), address as *mut ObjRef, value) };
    } else {
        object::store_ref(t, holder, address as *mut ObjRef, value);
    }
    Ok(())
}

/// The value of a field, boxed. Constants come from metadata.
///
/// # Errors
/// NullReferenceException, TypeInitializationException, load errors.
pub fn get_value(t: CurrentThread, field: &'static Field, target: ObjRef) -> Managed<ObjRef> {
    let ty = field.ty().to_managed(t)?;
    if field.is_literal() {
        let token = Token::new(TableId::Field, field.rid);
        return match constant_of(t, field.image, token)? {
            Some(value) => constant_object(t, &value, Some(ty)),
            None => Ok(ObjRef::NULL),
        };
    }
    // A class with a field whose type is missing is unusable as a whole.
    if !field.owner.is_interface() && !field.owner.is_open {
        field.owner.instance_layout().to_managed(t)?;
    }
    if is_remote(field, target) {
        return remoting::get_field(t, target, field);
    }
    let address = address_of(t, field, target)?;
    load(t, ty, address)
}

/// Whether `target` is a transparent proxy, which has none of its class's fields itself.
fn is_remote(field: &'static Field, target: ObjRef) -> bool {
    !field.is_static() && field.owner.is_marshal_by_ref() && !target.is_null() && proxies::is_proxy(target)
}

/// Sets a field to a value that the binder has converted to its type.
///
/// # Errors
/// As `get_value`.
pub fn set_value(t: CurrentThread, field: &'static Field, target: ObjRef, value: ObjRef) -> Managed<()> {
    if is_remote(field, target) {
        return remoting::set_field(t, target, field, value);
    }
    let ty = field.ty().to_managed(t)?;
    let address = address_of(t, field, target)?;
    let holder = if field.is_static() { ObjRef::NULL } else { target };
    store(t, ty, address, holder, value)
}

fn get_value_internal(t: CurrentThread, this: ObjRef, target: ObjRef) -> ObjRef {
    t.run(|| {
        let field = require_field(t, this)?;
        if field.image.assembly().reflection_only {
            let message =
                "It is illegal to get the value on a field on a type loaded using the ReflectionOnly methods.";
            return Err(exceptions::throw(t, "System", "InvalidOperationException", message));
        }
        get_value(t, field, target)
    })
}

fn set_value_internal(t: CurrentThread, field: ObjRef, target: ObjRef, value: ObjRef) {
    t.run(|| {
        let field = require_field(t, field)?;
        if field.image.assembly().reflection_only {
            let message =
                "It is illegal to set the value on a field on a type loaded using the ReflectionOnly methods.";
            return Err(exceptions::throw(t, "System", "InvalidOperationException", message));
        }
        set_value(t, field, target, value)
    });
}

fn get_raw_constant_value(t: CurrentThread, this: ObjRef) -> ObjRef {
    t.run(|| {
        let field = require_field(t, this)?;
        match constant_of(t, field.image, Token::new(TableId::Field, field.rid))? {
            Some(value) => constant_object(t, &value, None),
            None => Err(exceptions::throw_default(t, "InvalidOperationException")),
        }
    })
}

static TYPED_REFERENCE_TYPE: ManagedField = ManagedField::corlib("System", "TypedReference", "type");
static TYPED_REFERENCE_VALUE: ManagedField = ManagedField::corlib("System", "TypedReference", "Value");

/// (address of the field, the object it lies in or null) within what a TypedReference points to.
fn place_in(t: CurrentThread, field: &'static Field, reference: *const u8) -> Managed<(*mut u8, ObjRef)> {
    // SAFETY: the caller's TypedReference.
    let (ty, value) = unsafe {
        let ty = *(reference.add(TYPED_REFERENCE_TYPE.offset_bytes()) as *const usize);
        (crate::handles::ty(ty), *(reference.add(TYPED_REFERENCE_VALUE.offset_bytes()) as *const *mut u8))
    };
    let Some(ty) = ty.filter(|_| !value.is_null()) else {
        return Err(exceptions::throw_default(t, "NullReferenceException"));
    };
    let offset = field.offset_bytes().to_managed(t)? as usize;
    if ty.is_value_type() {
        return Ok((value.wrapping_add(offset), ObjRef::NULL));
    }
    // SAFETY: a TypedReference to a variable of reference type.
    let target = unsafe { *(value as *const ObjRef) };
    if target.is_null() {
        return Err(exceptions::throw_default(t, "NullReferenceException"));
    }
    Ok((target.field_ptr(offset), target))
}

/// `GetValueDirect(field, fieldType, TypedReference*, contextType)`
fn get_value_direct(t: CurrentThread, field: ObjRef, _ty: ObjRef, reference: *const u8, _context: ObjRef) -> ObjRef {
    t.run(|| {
        let field = require_field(t, field)?;
        let (address, _holder) = place_in(t, field, reference)?;
        load(t, field.ty().to_managed(t)?, address)
    })
}

fn set_value_direct(
    t: CurrentThread,
    field: ObjRef,
    _ty: ObjRef,
    reference: *const u8,
    value: ObjRef,
    _context: ObjRef,
) {
    t.run(|| {
        let field = require_field(t, field)?;
        let (address, holder) = place_in(t, field, reference)?;
        store(t, field.ty().to_managed(t)?, address, holder, value)
    });
}

/// `TypedReference.InternalMakeTypedReference(void* result, object target, IntPtr[] fields, RuntimeType lastFieldType)`
fn make_typed_reference(t: CurrentThread, result: *mut u8, target: ObjRef, fields: ObjRef, last_type: ObjRef) {
    static CLASS: ManagedField = ManagedField::corlib("System", "TypedReference", "Type");
    t.run(|| {
        if target.is_null() || fields.is_null() {
            return Err(exceptions::throw_argument_null(t, "target"));
        }
        let last_type = this_type(t, last_type)?;
        let mut at = unboxed(target);
        for index in 0..object::array_length(fields) {
            // SAFETY: an IntPtr[] of RuntimeFieldHandle values.
            let handle = unsafe { *(object::element_address(fields, index, 8) as *const usize) };
            // SAFETY: as above.
            let Some(field) = (unsafe { crate::handles::field(handle) }) else {
                return Err(exceptions::throw_argument_null(t, "flds"));
            };
            let offset = field.offset_bytes().to_managed(t)? as usize;
            at = match field.owner.is_value_type() {
                true => at.wrapping_add(offset),
                false => target.field_ptr(offset),
            };
        }
        let handle = crate::handles::address(last_type);
        // SAFETY: the caller's TypedReference.
        unsafe {
            *(result.add(TYPED_REFERENCE_TYPE.offset_bytes()) as *mut usize) = handle;
            *(result.add(TYPED_REFERENCE_VALUE.offset_bytes()) as *mut *mut u8) = at;
            *(result.add(CLASS.offset_bytes()) as *mut usize) = handle;
        }
        Ok(())
    });
}

/// Bytes from the start of the fields; 0 for constants, which have no storage.
fn get_field_offset(t: CurrentThread, this: ObjRef) -> i32 {
    t.run(|| {
        let Some(field) = field_of(this).filter(|field| !field.is_literal()) else { return Ok(0) };
        let offset = field.offset_bytes().to_managed(t)? as i32;
        let is_from_object_start = !field.is_static() && !field.owner.is_value_type();
        Ok(if is_from_object_start { offset - saki_abi::object::OBJECT_HEADER_BYTES as i32 } else { offset })
    })
}

/// `TypedReference.InternalToObject(void*)`
fn typed_reference_to_object(t: CurrentThread, reference: *const u8) -> ObjRef {
    t.run(|| {
        // SAFETY: the caller's TypedReference.
        let (ty, value) = unsafe {
            let ty = *(reference.add(TYPED_REFERENCE_TYPE.offset_bytes()) as *const usize);
            (crate::handles::ty(ty), *(reference.add(TYPED_REFERENCE_VALUE.offset_bytes()) as *const *const u8))
        };
        let Some(ty) = ty.filter(|_| !value.is_null()) else {
            return Err(exceptions::throw_default(t, "NullReferenceException"));
        };
        match ty.is_pointer() {
            true => object::box_value(t, universe().uintptr(), value),
            false => load(t, ty, value),
        }
    })
}

pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Reflection.RuntimeFieldInfo::GetValueInternal", &get_value_internal),
    InternalCall::new("System.Reflection.RuntimeFieldInfo::UnsafeGetValue", &get_value_internal),
    InternalCall::new("System.Reflection.RuntimeFieldInfo::SetValueInternal", &set_value_internal),
    InternalCall::new("System.Reflection.RuntimeFieldInfo::GetRawConstantValue", &get_raw_constant_value),
    InternalCall::new("System.Reflection.RuntimeFieldInfo::GetFieldOffset", &get_field_offset),
    InternalCall::new("System.RuntimeFieldHandle::SetValueInternal", &set_value_internal),
    InternalCall::new("System.RuntimeFieldHandle::GetValueDirect", &get_value_direct),
    InternalCall::new("System.RuntimeFieldHandle::SetValueDirect", &set_value_direct),
    InternalCall::new("System.TypedReference::InternalMakeTypedReference", &make_typed_reference),
    InternalCall::new("System.TypedReference::InternalToObject", &typed_reference_to_object),
];
