//! Native handles: the record that an `IntPtr` or a reflection object stands for.

use crate::members::{EventDefinition, Property};
use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions;
use saki_runtime::object::references::Plain;
use saki_runtime::{CurrentThread, Managed, ManagedField, Obj};
use saki_types::{Assembly, Field, Image, LibraryType, Method, Ty, Type};

/// The `Method` of a method.
pub static METHOD_HANDLE: ManagedField = ManagedField::new(LibraryType::RuntimeMethodInfo, "mhandle");
/// The type through which it was found.
pub static METHOD_REFLECTED: ManagedField = ManagedField::new(LibraryType::RuntimeMethodInfo, "reftype");
/// The `Method` of a constructor.
pub static CONSTRUCTOR_HANDLE: ManagedField = ManagedField::new(LibraryType::RuntimeConstructorInfo, "mhandle");
/// The type through which it was found.
pub static CONSTRUCTOR_REFLECTED: ManagedField = ManagedField::new(LibraryType::RuntimeConstructorInfo, "reftype");
/// The class that declares a field.
pub static FIELD_CLASS: ManagedField = ManagedField::new(LibraryType::RuntimeFieldInfo, "klass");
/// The `Field`.
pub static FIELD_HANDLE: ManagedField = ManagedField::new(LibraryType::RuntimeFieldInfo, "fhandle");
/// The class that declares a property.
pub static PROPERTY_CLASS: ManagedField = ManagedField::new(LibraryType::RuntimePropertyInfo, "klass");
/// The `Property`.
pub static PROPERTY_HANDLE: ManagedField = ManagedField::new(LibraryType::RuntimePropertyInfo, "prop");
/// The class that declares an event.
pub static EVENT_CLASS: ManagedField = ManagedField::new(LibraryType::RuntimeEventInfo, "klass");
/// The `EventDefinition`.
pub static EVENT_HANDLE: ManagedField = ManagedField::new(LibraryType::RuntimeEventInfo, "handle");
/// The `Assembly`.
pub static ASSEMBLY_HANDLE: ManagedField = ManagedField::new(LibraryType::RuntimeAssembly, "_mono_assembly");
/// The `Image` of a module.
pub static MODULE_HANDLE: ManagedField = ManagedField::new(LibraryType::RuntimeModule, "_impl");
/// The `Assembly` of a builder.
pub static ASSEMBLY_BUILDER_HANDLE: ManagedField = ManagedField::new(LibraryType::AssemblyBuilder, "_mono_assembly");
/// The `Image` of a builder.
pub static MODULE_BUILDER_HANDLE: ManagedField = ManagedField::new(LibraryType::ModuleBuilder, "_impl");
/// The `Method` of a dynamic method.
pub static DYNAMIC_METHOD_HANDLE: ManagedField = ManagedField::new(LibraryType::DynamicMethod, "mhandle");

/// How managed code names a record of the virtual machine: the value of a RuntimeTypeHandle, of a RuntimeMethodHandle
/// and so on, and what reflection objects hold in a field. It may be null.
///
/// Invariant: a handle comes from a field of the class library or from compiled code, and both got it from this crate.
#[repr(transparent)]
pub struct Handle<T: 'static>(*const T);

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<T> {}

saki_runtime::address_parameters! {
    /// One pointer.
    [T] Handle<T>;
}

// SAFETY: a pointer; the header says which values fields of the class library hold.
unsafe impl<T> Plain for Handle<T> {}

impl<T> Handle<T> {
    /// The record; None for null.
    pub fn get(self) -> Option<&'static T> {
        // SAFETY: by the invariant a handle is null or the address of such a record, which is not freed while a handle
        // names it.
        unsafe { self.0.as_ref() }
    }

    /// The record's address; 0 for null.
    pub fn address(self) -> usize {
        self.0.addr()
    }
}

/// The value of a record's handle: its address.
pub fn address<T>(of: &'static T) -> usize {
    of as *const T as usize
}

/// The method of a RuntimeMethodInfo, RuntimeConstructorInfo or finished DynamicMethod; None for builders.
pub fn method_of(object: Obj) -> Option<&'static Method> {
    let ty = object.ty();
    let field = if ty.is(LibraryType::RuntimeMethodInfo) {
        &METHOD_HANDLE
    } else if ty.is(LibraryType::RuntimeConstructorInfo) {
        &CONSTRUCTOR_HANDLE
    } else if ty.is(LibraryType::DynamicMethod) {
        &DYNAMIC_METHOD_HANDLE
    } else {
        return None;
    };
    field.get::<Handle<Method>>(object).get()
}

/// The type that a method object was got from.
pub fn reflected_type_of(object: Obj) -> Option<Ty> {
    let is_constructor = object.ty().is(LibraryType::RuntimeConstructorInfo);
    let field = if is_constructor { &CONSTRUCTOR_REFLECTED } else { &METHOD_REFLECTED };
    field.obj(object)?.as_type()
}

/// The method of a RuntimeMethodInfo, RuntimeConstructorInfo or finished DynamicMethod; other objects are refused.
///
/// # Errors
/// ArgumentNullException, NotSupportedException.
pub fn require_method(t: CurrentThread, object: Option<Obj>) -> Managed<&'static Method> {
    let Some(object) = object else {
        return Err(exceptions::throw_argument_null(t, "method"));
    };
    method_of(object)
        .ok_or_else(|| exceptions::throw(t, ExceptionType::NotSupported, "The method is not a runtime method."))
}

/// The field of a RuntimeFieldInfo; None for others.
pub fn field_of(object: Obj) -> Option<&'static Field> {
    if !object.ty().is(LibraryType::RuntimeFieldInfo) {
        return None;
    }
    FIELD_HANDLE.get::<Handle<Field>>(object).get()
}

/// The field of a RuntimeFieldInfo; other objects are refused.
///
/// # Errors
/// ArgumentNullException, NotSupportedException.
pub fn require_field(t: CurrentThread, object: Option<Obj>) -> Managed<&'static Field> {
    let Some(object) = object else {
        return Err(exceptions::throw_argument_null(t, "field"));
    };
    field_of(object)
        .ok_or_else(|| exceptions::throw(t, ExceptionType::NotSupported, "The field is not a runtime field."))
}

/// The property of a RuntimePropertyInfo and the type it was got from; None for others.
pub fn property_of(object: Obj) -> Option<(&'static Property, Ty)> {
    if !object.ty().is(LibraryType::RuntimePropertyInfo) {
        return None;
    }
    let (property, class) =
        (PROPERTY_HANDLE.get::<Handle<Property>>(object), PROPERTY_CLASS.get::<Handle<Type>>(object));
    property.get().zip(class.get())
}

/// The event of a RuntimeEventInfo and the type it was got from; None for others.
pub fn event_of(object: Obj) -> Option<(&'static EventDefinition, Ty)> {
    if !object.ty().is(LibraryType::RuntimeEventInfo) {
        return None;
    }
    let (event, class) = (EVENT_HANDLE.get::<Handle<EventDefinition>>(object), EVENT_CLASS.get::<Handle<Type>>(object));
    event.get().zip(class.get())
}

/// The assembly of a RuntimeAssembly or AssemblyBuilder; None for others.
pub fn assembly_of(object: Obj) -> Option<&'static Assembly> {
    let ty = object.ty();
    let field = if ty.is(LibraryType::AssemblyBuilder) {
        &ASSEMBLY_BUILDER_HANDLE
    } else if ty.is(LibraryType::RuntimeAssembly) {
        &ASSEMBLY_HANDLE
    } else {
        return None;
    };
    field.get::<Handle<Assembly>>(object).get()
}

/// The assembly of a RuntimeAssembly or AssemblyBuilder; other objects are refused.
///
/// # Errors
/// ArgumentNullException, NotSupportedException.
pub fn require_assembly(t: CurrentThread, object: Option<Obj>) -> Managed<&'static Assembly> {
    let Some(object) = object else {
        return Err(exceptions::throw_argument_null(t, "assembly"));
    };
    assembly_of(object)
        .ok_or_else(|| exceptions::throw(t, ExceptionType::NotSupported, "The assembly is not a runtime assembly."))
}

/// The image of a RuntimeModule; None for ModuleBuilders and resource modules.
pub fn image_of(object: Obj) -> Option<&'static Image> {
    if !object.ty().is(LibraryType::RuntimeModule) {
        return None;
    }
    MODULE_HANDLE.get::<Handle<Image>>(object).get()
}
