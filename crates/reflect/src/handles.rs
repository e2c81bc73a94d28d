//! Native handles inside reflection objects: what an `IntPtr` or a reflection object stands for.

use crate::known;
use crate::members::{Event, Property};
use saki_runtime::exceptions;
use saki_runtime::object::type_of;
use saki_runtime::{CurrentThread, Managed, ManagedField, ObjRef};
use saki_types::{Assembly, Field, Image, Method, Ty, Type};

pub static METHOD_HANDLE: ManagedField = ManagedField::corlib("System.Reflection", "RuntimeMethodInfo", "mhandle");
pub static METHOD_REFLECTED: ManagedField = ManagedField::corlib("System.Reflection", "RuntimeMethodInfo", "reftype");
pub static CONSTRUCTOR_HANDLE: ManagedField =
    ManagedField::corlib("System.Reflection", "RuntimeConstructorInfo", "mhandle");
pub static CONSTRUCTOR_REFLECTED: ManagedField =
    ManagedField::corlib("System.Reflection", "RuntimeConstructorInfo", "reftype");
pub static FIELD_CLASS: ManagedField = ManagedField::corlib("System.Reflection", "RuntimeFieldInfo", "klass");
pub static FIELD_HANDLE: ManagedField = ManagedField::corlib("System.Reflection", "RuntimeFieldInfo", "fhandle");
pub static PROPERTY_CLASS: ManagedField = ManagedField::corlib("System.Reflection", "RuntimePropertyInfo", "klass");
pub static PROPERTY_HANDLE: ManagedField = ManagedField::corlib("System.Reflection", "RuntimePropertyInfo", "prop");
pub static EVENT_CLASS: ManagedField = ManagedField::corlib("System.Reflection", "RuntimeEventInfo", "klass");
pub static EVENT_HANDLE: ManagedField = ManagedField::corlib("System.Reflection", "RuntimeEventInfo", "handle");
pub static ASSEMBLY_HANDLE: ManagedField =
    ManagedField::corlib("System.Reflection", "RuntimeAssembly", "_mono_assembly");
pub static MODULE_HANDLE: ManagedField = ManagedField::corlib("System.Reflection", "RuntimeModule", "_impl");
pub static ASSEMBLY_BUILDER_HANDLE: ManagedField =
    ManagedField::corlib("System.Reflection.Emit", "AssemblyBuilder", "_mono_assembly");
pub static MODULE_BUILDER_HANDLE: ManagedField =
    ManagedField::corlib("System.Reflection.Emit", "ModuleBuilder", "_impl");
pub static DYNAMIC_METHOD_HANDLE: ManagedField =
    ManagedField::corlib("System.Reflection.Emit", "DynamicMethod", "mhandle");

macro_rules! from_handle {
    ($($(#[$doc:meta])* $name:ident -> $ty:ty;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            /// `handle` is 0 or the address of such a thing; they are never freed.
            pub unsafe fn $name(handle: usize) -> Option<&'static $ty> {
                // SAFETY: the caller's promise.
                (handle != 0).then(|| unsafe { &*(handle as *const $ty) })
            }
        )*
    };
}

from_handle! {
    /// The type of a `MonoType*` or `MonoClass*`.
    ty -> Type;
    /// The method of a RuntimeMethodHandle's value.
    method -> Method;
    /// The field of a RuntimeFieldHandle's value.
    field -> Field;
    /// The property of a RuntimePropertyHandle's value.
    property -> Property;
    /// The event of a RuntimeEventHandle's value.
    event -> Event;
    /// The image of a RuntimeModule's `_impl`.
    image -> Image;
    /// The assembly of a RuntimeAssembly's `_mono_assembly`.
    assembly -> Assembly;
}

/// The address that stands for a handle.
pub fn address<T>(of: &'static T) -> usize {
    of as *const T as usize
}

/// The method of a RuntimeMethodInfo, RuntimeConstructorInfo or finished DynamicMethod (not null); None for builders.
pub fn method_of(object: ObjRef) -> Option<&'static Method> {
    let ty = type_of(object);
    let handle = if known::RUNTIME_METHOD_INFO.is(ty) {
        METHOD_HANDLE.get::<usize>(object)
    } else if known::RUNTIME_CONSTRUCTOR_INFO.is(ty) {
        CONSTRUCTOR_HANDLE.get::<usize>(object)
    } else if known::DYNAMIC_METHOD.is(ty) {
        DYNAMIC_METHOD_HANDLE.get::<usize>(object)
    } else {
        return None;
    };
    // SAFETY: the field holds a method's address.
    unsafe { method(handle) }
}

/// The RuntimeType that a method object was got from.
pub fn reflected_type_of(object: ObjRef) -> ObjRef {
    if known::RUNTIME_CONSTRUCTOR_INFO.is(type_of(object)) {
        CONSTRUCTOR_REFLECTED.get_ref(object)
    } else {
        METHOD_REFLECTED.get_ref(object)
    }
}

/// As `method_of`, throwing for other objects.
///
/// # Errors
/// ArgumentNullException, NotSupportedException.
pub fn require_method(t: CurrentThread, object: ObjRef) -> Managed<&'static Method> {
    if object.is_null() {
        return Err(exceptions::throw_argument_null(t, "method"));
    }
    method_of(object)
        .ok_or_else(|| exceptions::throw(t, "System", "NotSupportedException", "The method is not a runtime method."))
}

/// The field of a RuntimeFieldInfo (not null); None for others.
pub fn field_of(object: ObjRef) -> Option<&'static Field> {
    // SAFETY: the field holds a `Field`'s address.
    known::RUNTIME_FIELD_INFO.is(type_of(object)).then(|| unsafe { field(FIELD_HANDLE.get::<usize>(object)) }).flatten()
}

/// As `field_of`, throwing for other objects.
///
/// # Errors
/// ArgumentNullException, NotSupportedException.
pub fn require_field(t: CurrentThread, object: ObjRef) -> Managed<&'static Field> {
    if object.is_null() {
        return Err(exceptions::throw_argument_null(t, "field"));
    }
    field_of(object)
        .ok_or_else(|| exceptions::throw(t, "System", "NotSupportedException", "The field is not a runtime field."))
}

/// The property of a RuntimePropertyInfo (not null) and the type it was got from.
pub fn property_of(object: ObjRef) -> Option<(&'static Property, Ty)> {
    if !known::RUNTIME_PROPERTY_INFO.is(type_of(object)) {
        return None;
    }
    // SAFETY: the fields hold a `Property`'s and a `Type`'s address.
    unsafe { Some((property(PROPERTY_HANDLE.get(object))?, ty(PROPERTY_CLASS.get(object))?)) }
}

/// The event of a RuntimeEventInfo (not null) and the type it was got from.
pub fn event_of(object: ObjRef) -> Option<(&'static Event, Ty)> {
    if !known::RUNTIME_EVENT_INFO.is(type_of(object)) {
        return None;
    }
    // SAFETY: the fields hold an `Event`'s and a `Type`'s address.
    unsafe { Some((event(EVENT_HANDLE.get(object))?, ty(EVENT_CLASS.get(object))?)) }
}

/// The assembly of a RuntimeAssembly or AssemblyBuilder (not null); None for others.
pub fn assembly_of(object: ObjRef) -> Option<&'static Assembly> {
    let ty = type_of(object);
    if known::ASSEMBLY_BUILDER.is(ty) {
        // SAFETY: 0 or the address of an `Assembly`.
        return unsafe { assembly(ASSEMBLY_BUILDER_HANDLE.get(object)) };
    }
    // SAFETY: the field holds an `Assembly`'s address.
    known::RUNTIME_ASSEMBLY.is(ty).then(|| unsafe { assembly(ASSEMBLY_HANDLE.get(object)) }).flatten()
}

/// As `assembly_of`, throwing for other objects.
///
/// # Errors
/// ArgumentNullException, NotSupportedException.
pub fn require_assembly(t: CurrentThread, object: ObjRef) -> Managed<&'static Assembly> {
    if object.is_null() {
        return Err(exceptions::throw_argument_null(t, "assembly"));
    }
    assembly_of(object).ok_or_else(|| {
        exceptions::throw(t, "System", "NotSupportedException", "The assembly is not a runtime assembly.")
    })
}

/// The image of a RuntimeModule (not null); None for ModuleBuilders and resource modules.
pub fn image_of(object: ObjRef) -> Option<&'static Image> {
    // SAFETY: the field holds an `Image`'s address.
    known::RUNTIME_MODULE.is(type_of(object)).then(|| unsafe { image(MODULE_HANDLE.get(object)) }).flatten()
}
