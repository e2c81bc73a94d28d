//! Making the reflection objects of handles.

use crate::cache::{self, ObjectKind};
use crate::handles::{self, address};
use crate::members::{EventDefinition, Property};
use saki_metadata::{TableId, Token};
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::{Array, CurrentThread, Managed, ManagedField, Obj, Str};
use saki_types::{Assembly, Field, Image, LibraryType, Method, Ty, universe};

/// The RuntimeMethodInfo or RuntimeConstructorInfo of a method, as got from `reflected`.
///
/// # Errors
/// OutOfMemoryException.
pub fn method_object<'t>(t: CurrentThread<'t>, method: &'static Method, reflected: Ty) -> Managed<Obj<'t>> {
    cache::get_or_make(t, ObjectKind::Method, address(method), address(reflected), || {
        let is_constructor = method.name == ".ctor" || method.name == ".cctor";
        let class = if is_constructor { LibraryType::RuntimeConstructorInfo } else { LibraryType::RuntimeMethodInfo };
        let (handle, reftype) = if is_constructor {
            (&handles::CONSTRUCTOR_HANDLE, &handles::CONSTRUCTOR_REFLECTED)
        } else {
            (&handles::METHOD_HANDLE, &handles::METHOD_REFLECTED)
        };
        let made = Obj::new(t, universe().library_type(class).to_managed(t)?)?;
        handle.set(made, address(method));
        reftype.set_ref(t, made, Obj::of_type(t, reflected)?);
        Ok(made)
    })
}

/// The RuntimeFieldInfo of a field, as got from `reflected`.
///
/// # Errors
/// OutOfMemoryException; TypeLoadException for the field's type.
pub fn field_object<'t>(t: CurrentThread<'t>, field: &'static Field, reflected: Ty) -> Managed<Obj<'t>> {
    static NAME: ManagedField = ManagedField::new(LibraryType::RuntimeFieldInfo, "name");
    static TYPE: ManagedField = ManagedField::new(LibraryType::RuntimeFieldInfo, "type");
    static ATTRIBUTES: ManagedField = ManagedField::new(LibraryType::RuntimeFieldInfo, "attrs");
    cache::get_or_make(t, ObjectKind::Field, address(field), address(reflected), || {
        let made = Obj::new(t, universe().library_type(LibraryType::RuntimeFieldInfo).to_managed(t)?)?;
        handles::FIELD_CLASS.set(made, address(reflected));
        handles::FIELD_HANDLE.set(made, address(field));
        NAME.set_ref(t, made, Str::new(t, field.name)?);
        // If the type does not load, `FieldInfo.FieldType` asks again, and throws.
        if let Ok(ty) = field.ty() {
            TYPE.set_ref(t, made, Obj::of_type(t, ty)?);
        }
        ATTRIBUTES.set(made, i32::from(field.flags));
        Ok(made)
    })
}

/// The RuntimePropertyInfo of a property, as got from `reflected`.
///
/// # Errors
/// OutOfMemoryException.
pub fn property_object<'t>(t: CurrentThread<'t>, property: &'static Property, reflected: Ty) -> Managed<Obj<'t>> {
    cache::get_or_make(t, ObjectKind::Property, address(property), address(reflected), || {
        let made = Obj::new(t, universe().library_type(LibraryType::RuntimePropertyInfo).to_managed(t)?)?;
        handles::PROPERTY_CLASS.set(made, address(reflected));
        handles::PROPERTY_HANDLE.set(made, address(property));
        Ok(made)
    })
}

/// The RuntimeEventInfo of an event, as got from `reflected`.
///
/// # Errors
/// OutOfMemoryException.
pub fn event_object<'t>(t: CurrentThread<'t>, event: &'static EventDefinition, reflected: Ty) -> Managed<Obj<'t>> {
    cache::get_or_make(t, ObjectKind::Event, address(event), address(reflected), || {
        let made = Obj::new(t, universe().library_type(LibraryType::RuntimeEventInfo).to_managed(t)?)?;
        handles::EVENT_CLASS.set(made, address(reflected));
        handles::EVENT_HANDLE.set(made, address(event));
        Ok(made)
    })
}

/// The RuntimeAssembly of an assembly.
///
/// # Errors
/// OutOfMemoryException.
pub fn assembly_object<'t>(t: CurrentThread<'t>, assembly: &'static Assembly) -> Managed<Obj<'t>> {
    cache::get_or_make(t, ObjectKind::Assembly, address(assembly), 0, || {
        let made = Obj::new(t, universe().library_type(LibraryType::RuntimeAssembly).to_managed(t)?)?;
        handles::ASSEMBLY_HANDLE.set(made, address(assembly));
        Ok(made)
    })
}

/// The global type of a .NET module.
static GLOBAL_TYPE: ManagedField = ManagedField::new(LibraryType::RuntimeModule, "m_runtimeType");

/// Sets the global type of a .NET module that is made at run time.
///
/// # Errors
/// OutOfMemoryException.
pub fn set_global_type(t: CurrentThread, image: &'static Image, global: Ty) -> Managed<()> {
    let global = Obj::of_type(t, global)?;
    GLOBAL_TYPE.set_ref(t, module_object(t, image)?, global);
    Ok(())
}

/// The RuntimeModule of an image.
///
/// # Errors
/// OutOfMemoryException.
pub fn module_object<'t>(t: CurrentThread<'t>, image: &'static Image) -> Managed<Obj<'t>> {
    static ASSEMBLY: ManagedField = ManagedField::new(LibraryType::RuntimeModule, "assembly");
    static FULL_NAME: ManagedField = ManagedField::new(LibraryType::RuntimeModule, "fqname");
    static NAME: ManagedField = ManagedField::new(LibraryType::RuntimeModule, "name");
    static SCOPE_NAME: ManagedField = ManagedField::new(LibraryType::RuntimeModule, "scopename");
    static TOKEN: ManagedField = ManagedField::new(LibraryType::RuntimeModule, "token");
    // The types of a module made at run time have images of their own.
    let image = image.emitted_type().map_or(image, |emitted| emitted.module);
    cache::get_or_make(t, ObjectKind::Module, address(image), 0, || {
        let made = Obj::new(t, universe().library_type(LibraryType::RuntimeModule).to_managed(t)?)?;
        let path = image.meta.path();
        let base_name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let scope = image.meta.module().and_then(|row| image.meta.string(row.name)).unwrap_or_default();
        handles::MODULE_HANDLE.set(made, address(image));
        ASSEMBLY.set_ref(t, made, assembly_object(t, image.assembly())?);
        if !FULL_NAME.is_there() {
            // .NET's modules ask for the rest.
            let global = image.type_def(1).to_managed(t)?;
            GLOBAL_TYPE.set_ref(t, made, Obj::of_type(t, global)?);
            return Ok(made);
        }
        FULL_NAME.set_ref(t, made, Str::new(t, &path.display().to_string())?);
        NAME.set_ref(t, made, Str::new(t, &base_name)?);
        SCOPE_NAME.set_ref(t, made, Str::new(t, scope)?);
        TOKEN.set(made, module_token(image).0);
        Ok(made)
    })
}

/// Module row 1 for the manifest module; the ModuleRef row for other modules.
fn module_token(image: &'static Image) -> Token {
    let assembly = image.assembly();
    if assembly.image == image {
        return Token::new(TableId::Module, 1);
    }
    let name = image.meta.path().file_name().and_then(|n| n.to_str()).unwrap_or_default();
    let manifest = &assembly.image.meta;
    let row = (1..=manifest.row_count(TableId::ModuleRef))
        .find(|&rid| manifest.module_ref(rid).and_then(|row| manifest.string(row.name)).is_ok_and(|n| n == name));
    Token::new(TableId::ModuleRef, row.unwrap_or(0))
}

/// A resource-only module: a file of the assembly without metadata.
///
/// # Errors
/// OutOfMemoryException.
pub fn resource_module_object<'t>(
    t: CurrentThread<'t>,
    assembly: &'static Assembly,
    file_rid: u32,
) -> Managed<Obj<'t>> {
    static ASSEMBLY: ManagedField = ManagedField::new(LibraryType::RuntimeModule, "assembly");
    static FULL_NAME: ManagedField = ManagedField::new(LibraryType::RuntimeModule, "fqname");
    static NAME: ManagedField = ManagedField::new(LibraryType::RuntimeModule, "name");
    static SCOPE_NAME: ManagedField = ManagedField::new(LibraryType::RuntimeModule, "scopename");
    static IS_RESOURCE: ManagedField = ManagedField::new(LibraryType::RuntimeModule, "is_resource");
    let meta = &assembly.image.meta;
    let name =
        meta.file(file_rid).and_then(|row| meta.string(row.name)).map_err(saki_types::LoadError::from).to_managed(t)?;
    let made = Obj::new(t, universe().library_type(LibraryType::RuntimeModule).to_managed(t)?)?;
    ASSEMBLY.set_ref(t, made, assembly_object(t, assembly)?);
    let path = assembly.path.with_file_name(name);
    FULL_NAME.set_ref(t, made, Str::new(t, &path.display().to_string())?);
    let name = Str::new(t, name)?;
    NAME.set_ref(t, made, name);
    SCOPE_NAME.set_ref(t, made, name);
    IS_RESOURCE.set(made, 1u8);
    Ok(made)
}

/// An array of type objects; `element` is System.Type or System.RuntimeType.
///
/// # Errors
/// OutOfMemoryException.
pub fn type_array<'t>(t: CurrentThread<'t>, element: Ty, types: &[Ty]) -> Managed<Array<'t>> {
    let array = Array::new(t, element, types.len())?;
    for (index, ty) in types.iter().enumerate() {
        let item = Obj::of_type(t, ty)?;
        array.set(t, index, Some(item));
    }
    Ok(array)
}

/// The text of a string; empty for null.
pub fn text(string: Option<Str>) -> String {
    string.map_or_else(String::new, Str::to_rust)
}

/// The types of an array of System.Type objects. None when an element is null or no runtime type.
pub fn types_of_array(array: Option<Array>) -> Option<Vec<Ty>> {
    let Some(array) = array else { return Some(Vec::new()) };
    array.iter().map(|item| item?.as_type()).collect()
}
