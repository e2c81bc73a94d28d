//! `CustomAttributeBuilder.GetBlob`: the values of an attribute as a blob (ECMA-335 §II.23.3). Also the attributes of
//! assemblies and modules that are still builders.
//!
//! Names and types of members come from virtual getters, which are managed code: a value that is kept across such a
//! call lies on the stack or is not a reference.

use super::builders::{
    self as b, bytes, elements, emitted_type, finished_builder_method, length, method_fields, type_builder,
};
use super::emitted_module::module_of;
use super::values::primitive_bytes;
use crate::attribute_rows::Attribute;
use crate::handles::{assembly_of, method_of};
use crate::library_calls::object_in;
use saki_base::locks::{Mutex, rank};
use saki_metadata::ElementType;
use saki_metadata::writer::put_compressed;
use saki_runtime::ExceptionType;
use saki_runtime::exec::invoke;
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Obj, Str};
use saki_types::access::WRAP_NON_EXCEPTIONS;
use saki_types::{Assembly, LibraryType, Ty, universe};
use std::collections::HashSet;
use std::sync::atomic::Ordering;

const PROLOG: [u8; 2] = [1, 0];
const NULL_STRING: u8 = 0xff;
const NULL_ARRAY: u32 = 0xffff_ffff;

fn invalid<T>(t: CurrentThread, message: &str) -> Managed<T> {
    Err(exceptions::throw(t, ExceptionType::Argument, message))
}

/// Calls a virtual getter of a class in mscorlib.
fn get<'t>(t: CurrentThread<'t>, class: LibraryType, getter: &str, receiver: Obj) -> Managed<Option<Obj<'t>>> {
    let class = universe().library_type(class).to_managed(t)?;
    match class.find_method(getter, 0).to_managed(t)? {
        Some(method) => object_in(t, method, invoke::invoke_virtual(t, method, receiver, &[])?),
        None => Err(exceptions::throw_default(t, ExceptionType::MissingMethod)),
    }
}

fn put_text(out: &mut Vec<u8>, text: Option<Str>) {
    let Some(text) = text else {
        out.push(NULL_STRING);
        return;
    };
    let text = text.to_rust();
    put_compressed(out, text.len() as u32);
    out.extend(text.as_bytes());
}

/// Writes the name of a type, with its assembly unless that is mscorlib.
fn put_type_name(t: CurrentThread, out: &mut Vec<u8>, object: Obj) -> Managed<()> {
    let is_of_core = object.as_type().is_some_and(|ty| ty.args.is_empty() && ty.image().is_corlib);
    let getter = if is_of_core { "get_FullName" } else { "get_AssemblyQualifiedName" };
    let name = get(t, LibraryType::Type, getter, object)?;
    put_text(out, name.and_then(Obj::as_str));
    Ok(())
}

/// A declared type: of the runtime, or an enum that is still being built, which counts as its integer type.
#[derive(Clone, Copy)]
enum Declared {
    Loaded(Ty),
    /// Integer type of the enum.
    UnfinishedEnum(Ty),
}

fn declared(t: CurrentThread, object: Option<Obj>) -> Managed<Declared> {
    if let Some(builder) = object.and_then(type_builder) {
        if let Some(ty) = emitted_type(t, builder)?.created() {
            return Ok(Declared::Loaded(ty));
        }
        let base = b::fields_of(builder).find_map(|field| b::FIELD_TYPE.obj(field)?.as_type());
        return match base {
            Some(base) if b::is_value_type(builder) => Ok(Declared::UnfinishedEnum(base)),
            _ => invalid(t, "An attribute argument of a type that is not finished."),
        };
    }
    match object.and_then(Obj::as_type) {
        Some(ty) => Ok(Declared::Loaded(ty)),
        None => invalid(t, "An attribute argument of a type that is not the runtime's."),
    }
}

/// The declared type of a parameter of a constructor.
fn parameter(t: CurrentThread, constructor: Obj, index: usize) -> Managed<Declared> {
    if let Some(fields) = method_fields(constructor) {
        return declared(t, fields.parameters.array(constructor).and_then(|parameters| parameters.get(index)));
    }
    let Some(method) = method_of(constructor) else {
        return invalid(t, "The constructor of an attribute is no constructor of the runtime.");
    };
    match method.sig().to_managed(t)?.params.get(index) {
        Some(ty) => Ok(Declared::Loaded(ty)),
        None => invalid(t, "Parameter count does not match passed in argument value count."),
    }
}

/// Writes the FieldOrPropType (§II.23.3) of a value whose type no constructor parameter declares.
fn put_kind(t: CurrentThread, out: &mut Vec<u8>, ty: Ty) -> Managed<()> {
    if ty == universe().object() {
        out.push(ElementType::CaBoxed as u8);
    } else if ty == universe().type_() || ty == universe().runtime_type() {
        out.push(ElementType::CaType as u8);
    } else if ty.is_enum() {
        out.push(ElementType::CaEnum as u8);
        let object = Obj::of_type(t, ty)?;
        put_type_name(t, out, object)?;
    } else if let Some(element) = ty.element().filter(|_| ty.is_sz_array()) {
        out.push(ElementType::SzArray as u8);
        put_kind(t, out, element)?;
    } else if ty == universe().string() || ty.element_type.primitive_size_bytes().is_some() {
        out.push(ty.element_type as u8);
    } else {
        return invalid(t, &format!("Attributes cannot have values of type {}.", ty.full_name()));
    }
    Ok(())
}

/// Writes the bytes of a boxed number, as many as the declared type has.
fn put_number(t: CurrentThread, out: &mut Vec<u8>, declared: Ty, value: Option<Obj>) -> Managed<()> {
    let size = declared.underlying().element_type.primitive_size_bytes();
    let (Some(size), Some(content)) = (size, value.and_then(primitive_bytes)) else {
        return invalid(t, &format!("Attributes cannot have this value of type {}.", declared.full_name()));
    };
    let start = out.len();
    out.extend(content);
    out.resize(start + size, 0);
    Ok(())
}

fn put_value(t: CurrentThread, out: &mut Vec<u8>, ty: Ty, value: Option<Obj>) -> Managed<()> {
    if ty == universe().string() {
        put_text(out, value.and_then(Obj::as_str));
        return Ok(());
    }
    if ty == universe().type_() {
        let Some(value) = value else {
            out.push(NULL_STRING);
            return Ok(());
        };
        return put_type_name(t, out, value);
    }
    if ty == universe().object() {
        let Some(value) = value else {
            out.extend([ElementType::String as u8, NULL_STRING]);
            return Ok(());
        };
        let actual = value.ty();
        let is_type = type_builder(value).is_some() || actual == universe().runtime_type();
        let actual = if is_type { universe().type_() } else { actual };
        put_kind(t, out, actual)?;
        return put_value(t, out, actual, Some(value));
    }
    if let Some(element) = ty.element().filter(|_| ty.is_sz_array()) {
        return put_array(t, out, element, value);
    }
    put_number(t, out, ty, value)
}

/// `element`: the declared element type, which may differ from that of the array.
fn put_array(t: CurrentThread, out: &mut Vec<u8>, element: Ty, array: Option<Obj>) -> Managed<()> {
    let Some(array) = array else {
        out.extend(NULL_ARRAY.to_le_bytes());
        return Ok(());
    };
    let Some(array) = array.as_array() else { return invalid(t, "An attribute argument is no array.") };
    out.extend((array.length() as u32).to_le_bytes());
    for index in 0..array.length() {
        let item = array.boxed_element(t, index)?;
        put_value(t, out, element, item)?;
    }
    Ok(())
}

/// Writes a named argument: kind, type, name, value.
fn put_named(t: CurrentThread, out: &mut Vec<u8>, is_field: bool, member: Obj, value: Option<Obj>) -> Managed<()> {
    out.push(if is_field { ElementType::CaField as u8 } else { ElementType::CaProperty as u8 });
    let type_of_member = match is_field {
        true => get(t, LibraryType::FieldInfo, "get_FieldType", member)?,
        false => get(t, LibraryType::PropertyInfo, "get_PropertyType", member)?,
    };
    let ty = match declared(t, type_of_member)? {
        Declared::Loaded(ty) => {
            put_kind(t, out, ty)?;
            ty
        }
        Declared::UnfinishedEnum(base) => {
            out.push(ElementType::CaEnum as u8);
            match type_of_member {
                Some(ty) => put_type_name(t, out, ty)?,
                None => put_text(out, None),
            }
            base
        }
    };
    let name = get(t, LibraryType::MemberInfo, "get_Name", member)?;
    put_text(out, name.and_then(Obj::as_str));
    put_value(t, out, ty, value)
}

/// `GetBlob(assembly, constructor, arguments, properties, values, fields, values)`
fn get_blob<'t>(
    t: CurrentThread<'t>,
    _assembly: Option<Obj>,
    constructor: Option<Obj>,
    arguments: Option<Array>,
    properties: Option<Array>,
    property_values: Option<Array>,
    fields: Option<Array>,
    field_values: Option<Array>,
) -> Managed<Array<'t>> {
    let Some(constructor) = constructor else {
        return Err(exceptions::throw_argument_null(t, "con"));
    };
    let mut out = PROLOG.to_vec();
    for (index, argument) in b::all_elements(arguments).enumerate() {
        let ty = match parameter(t, constructor, index)? {
            Declared::Loaded(ty) | Declared::UnfinishedEnum(ty) => ty,
        };
        put_value(t, &mut out, ty, argument)?;
    }
    out.extend(((length(properties) + length(fields)) as u16).to_le_bytes());
    for (property, value) in elements(properties).zip(b::all_elements(property_values)) {
        put_named(t, &mut out, false, property, value)?;
    }
    for (field, value) in elements(fields).zip(b::all_elements(field_values)) {
        put_named(t, &mut out, true, field, value)?;
    }
    Array::of_bytes(t, &out)
}

/// Blobs of attributes that are in no image, kept for ever.
fn interned(blob: Vec<u8>) -> &'static [u8] {
    static BLOBS: Mutex<rank::AttributeBlobs, Option<HashSet<&'static [u8]>>> = Mutex::new(None);
    let mut blobs = BLOBS.lock();
    let blobs = blobs.get_or_insert_default();
    match blobs.get(&*blob) {
        Some(known) => known,
        None => {
            let kept: &'static [u8] = Box::leak(blob.into_boxed_slice());
            blobs.insert(kept);
            kept
        }
    }
}

/// Whether items of `assembly` may have the attribute: builders drop attributes of another assembly's classes that are
/// not public.
pub fn is_visible(constructor: Obj, assembly: &'static Assembly) -> bool {
    const VISIBILITY: u32 = 7;
    const PUBLIC: u32 = 1;
    const NESTED_PUBLIC: u32 = 2;
    let Some(method) = method_of(constructor) else { return true };
    let visibility = method.owner.flags() & VISIBILITY;
    method.owner.image().assembly() == assembly || visibility == PUBLIC || visibility == NESTED_PUBLIC
}

/// The attributes of an AssemblyBuilder or ModuleBuilder; None for other objects.
///
/// # Errors
/// NotSupportedException for an attribute class that is not finished.
pub fn builder_attributes(t: CurrentThread, provider: Obj) -> Managed<Option<Vec<Attribute>>> {
    let class = provider.ty();
    let (list, image) = if class.is(LibraryType::AssemblyBuilder) {
        (b::ASSEMBLY_ATTRIBUTES.array(provider), assembly_of(provider).map(|assembly| assembly.image))
    } else if class.is(LibraryType::ModuleBuilder) {
        (b::MODULE_ATTRIBUTES.array(provider), module_of(Some(provider)).map(|module| module.image()))
    } else {
        return Ok(None);
    };
    let mut out = Vec::new();
    let Some(image) = image else { return Ok(Some(out)) };
    for attribute in elements(list) {
        let constructor = b::part(&b::ATTRIBUTE_CONSTRUCTOR, attribute);
        if !is_visible(constructor, image.assembly()) {
            continue;
        }
        let Some(constructor) = method_of(constructor).or_else(|| finished_builder_method(constructor)) else {
            let message = "The class of a custom attribute is not finished.";
            return Err(exceptions::throw(t, ExceptionType::NotSupported, message));
        };
        out.push(Attribute { image, constructor, blob: interned(bytes(b::ATTRIBUTE_DATA.array(attribute))) });
    }
    Ok(Some(out))
}

/// `AssemblyBuilder.UpdateNativeCustomAttributes(AssemblyBuilder)`: reads RuntimeCompatibilityAttribute, the one
/// attribute that changes how code runs.
fn update_native_attributes(t: CurrentThread, builder: Option<Obj>) -> Managed<()> {
    let Some(builder) = builder else { return Err(exceptions::throw_null_reference(t)) };
    let attributes = builder_attributes(t, builder)?.unwrap_or_default();
    let wraps = attributes.iter().any(|attribute| {
        let class = attribute.constructor.owner;
        class.is(LibraryType::RuntimeCompatibilityAttribute) && attribute.blob == WRAP_NON_EXCEPTIONS
    });
    if let Some(assembly) = assembly_of(builder) {
        // Relaxed: pairs with nothing, see `wraps_thrown_objects`.
        assembly.wraps_thrown.store(wraps, Ordering::Relaxed);
    }
    Ok(())
}

/// The internal calls of `System.Reflection.Emit.CustomAttributeBuilder` and
/// `System.Reflection.Emit.AssemblyBuilder`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Reflection.Emit.CustomAttributeBuilder::GetBlob", &get_blob),
    InternalCall::new(
        "System.Reflection.Emit.AssemblyBuilder::UpdateNativeCustomAttributes",
        &update_native_attributes,
    ),
];
