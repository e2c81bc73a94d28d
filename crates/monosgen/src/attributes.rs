//! Custom attributes of `mono/metadata/reflection.h`: lists of constructors and blobs, and the attributes made of them.

use crate::call::{call_quietly, load, some};
use crate::errors::{MonoError, mono_error_init};
use saki_abi::ObjRef;
use saki_metadata::{CodedKind, TableId, Token};
use saki_reflect::attribute_data::data_array;
use saki_reflect::attribute_rows::{Attribute, Provider, attributes_of};
use saki_reflect::custom_attributes::{construct, provider_attributes};
use saki_reflect::members::{EventDefinition, Property};
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::{Array, CurrentThread, Managed, Word};
use saki_types::{Assembly, Field, GenericContext, Image, LibraryType, LoadResult, Method, Ty, universe};
use std::ffi::c_int;
use std::ptr;

/// `MonoCustomAttrEntry`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MonoCustomAttrEntry {
    constructor: &'static Method,
    size_bytes: u32,
    data: *const u8,
}

/// `MonoCustomAttrInfo`: the attributes lie behind it.
#[repr(C)]
pub struct MonoCustomAttrInfo {
    count: c_int,
    is_cached: c_int,
    image: &'static Image,
}

impl MonoCustomAttrInfo {
    /// A list of the C heap's; null without attributes, and without memory.
    fn of(attributes: &[Attribute]) -> *mut MonoCustomAttrInfo {
        let Some(first) = attributes.first() else { return ptr::null_mut() };
        let bytes = size_of::<MonoCustomAttrInfo>() + attributes.len() * size_of::<MonoCustomAttrEntry>();
        // SAFETY: no preconditions.
        let list = unsafe { libc::calloc(1, bytes) }.cast::<MonoCustomAttrInfo>();
        if list.is_null() {
            return list;
        }
        let head = MonoCustomAttrInfo { count: attributes.len() as c_int, is_cached: 0, image: first.image };
        // SAFETY: the room begins with the head.
        unsafe { list.write(head) };
        // SAFETY: the entries lie behind the head.
        let entries = unsafe { list.add(1) }.cast::<MonoCustomAttrEntry>();
        for (index, attribute) in attributes.iter().enumerate() {
            let (constructor, blob) = (attribute.constructor, attribute.blob);
            let entry = MonoCustomAttrEntry { constructor, size_bytes: blob.len() as u32, data: blob.as_ptr() };
            // SAFETY: room for each attribute.
            unsafe { entries.add(index).write(entry) };
        }
        list
    }

    fn attributes(&self) -> impl Iterator<Item = Attribute> {
        // SAFETY: the entries lie behind the head.
        let entries = unsafe { ptr::from_ref(self).add(1) }.cast::<MonoCustomAttrEntry>();
        (0..self.count as usize).map(move |index| {
            // SAFETY: below the number of entries.
            let entry = unsafe { entries.add(index).read() };
            // SAFETY: a blob of the image.
            let blob = unsafe { std::slice::from_raw_parts(entry.data, entry.size_bytes as usize) };
            Attribute { image: self.image, constructor: entry.constructor, blob }
        })
    }

    /// The first attribute whose class is this one or derives from it or implements it.
    fn find(&self, class: Ty) -> LoadResult<Option<Attribute>> {
        for attribute in self.attributes() {
            if attribute.constructor.owner.is_assignable_to(class)? {
                return Ok(Some(attribute));
            }
        }
        Ok(None)
    }
}

/// The attributes of a row; null if there are none, or one cannot be loaded.
fn of_row(function: &str, image: &'static Image, parent: Token) -> *mut MonoCustomAttrInfo {
    load(function, || {
        let provider = Provider { image, parent, context: GenericContext::NONE };
        Ok(MonoCustomAttrInfo::of(&attributes_of(&provider)?))
    })
}

/// The attributes of a coded index of the CustomAttribute table; null if there are none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_custom_attrs_from_index(image: &'static Image, index: u32) -> *mut MonoCustomAttrInfo {
    match CodedKind::HasCustomAttribute.decode(index) {
        Some(parent) => of_row("mono_custom_attrs_from_index", image, parent),
        None => ptr::null_mut(),
    }
}

/// The attributes of a method; null if there are none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_custom_attrs_from_method(method: &'static Method) -> *mut MonoCustomAttrInfo {
    let Some(rid) = method.rid() else { return ptr::null_mut() };
    of_row("mono_custom_attrs_from_method", method.image(), Token::new(TableId::MethodDef, rid))
}

/// The attributes of a class, or of an instantiation's definition; null if there are none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_custom_attrs_from_class(class: Ty) -> *mut MonoCustomAttrInfo {
    const FUNCTION: &str = "mono_custom_attrs_from_class";
    if let Some(param) = class.generic_param() {
        return of_row(FUNCTION, param.image, Token::new(TableId::GenericParam, param.rid));
    }
    let Some(def) = class.def() else { return ptr::null_mut() };
    of_row(FUNCTION, def.image, Token::new(TableId::TypeDef, def.rid))
}

/// The attributes of an assembly; null if there are none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_custom_attrs_from_assembly(assembly: &'static Assembly) -> *mut MonoCustomAttrInfo {
    of_row("mono_custom_attrs_from_assembly", assembly.image, Token::new(TableId::Assembly, 1))
}

/// The attributes of a property; null if there are none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_custom_attrs_from_property(_class: Ty, property: &'static Property) -> *mut MonoCustomAttrInfo {
    of_row("mono_custom_attrs_from_property", property.image, property.token())
}

/// The attributes of an event; null if there are none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_custom_attrs_from_event(_class: Ty, event: &'static EventDefinition) -> *mut MonoCustomAttrInfo {
    of_row("mono_custom_attrs_from_event", event.image, event.token())
}

/// The attributes of a field; null if there are none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_custom_attrs_from_field(_class: Ty, field: &'static Field) -> *mut MonoCustomAttrInfo {
    of_row("mono_custom_attrs_from_field", field.image(), Token::new(TableId::Field, field.rid))
}

/// The attributes of a parameter, from 1, or of the result, 0; null if there are none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_custom_attrs_from_param(method: &'static Method, param: u32) -> *mut MonoCustomAttrInfo {
    const FUNCTION: &str = "mono_custom_attrs_from_param";
    let row = load(FUNCTION, || match method.rid() {
        Some(_) => saki_reflect::parameters::param_row(method, param as u16),
        None => Ok(None),
    });
    row.map_or(ptr::null_mut(), |(rid, _)| of_row(FUNCTION, method.image(), Token::new(TableId::Param, rid)))
}

/// Frees a list.
///
/// # Safety
/// `list` is null or one that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_custom_attrs_free(list: *mut MonoCustomAttrInfo) {
    // SAFETY: `MonoCustomAttrInfo::of` made it by the C heap.
    unsafe { libc::free(list.cast()) };
}

/// Whether one of the attributes is of this class, derives from it or implements it.
#[unsafe(no_mangle)]
pub extern "C" fn mono_custom_attrs_has_attr(list: &MonoCustomAttrInfo, class: Ty) -> c_int {
    load("mono_custom_attrs_has_attr", || Ok(c_int::from(list.find(class)?.is_some())))
}

/// The first attribute of this class, made now; null if there is none, or it cannot be made.
#[unsafe(no_mangle)]
pub extern "C" fn mono_custom_attrs_get_attr(list: &MonoCustomAttrInfo, class: Ty) -> ObjRef {
    call_quietly("mono_custom_attrs_get_attr", |t| match list.find(class).to_managed(t)? {
        Some(attribute) => Ok(construct(t, &attribute)?.word()),
        None => Ok(ObjRef::NULL),
    })
}

/// An Attribute[] of attributes, made now.
fn made<'t>(t: CurrentThread<'t>, attributes: &[Attribute]) -> Managed<Array<'t>> {
    let class = universe().library_type(LibraryType::Attribute).to_managed(t)?;
    let array = Array::new(t, class, attributes.len())?;
    for (index, attribute) in attributes.iter().enumerate() {
        let attribute = construct(t, attribute)?;
        array.set(t, index, attribute);
    }
    Ok(array)
}

/// The attributes of a list as an Attribute[], made now; null if one cannot be made.
#[unsafe(no_mangle)]
pub extern "C" fn mono_custom_attrs_construct(list: &MonoCustomAttrInfo) -> ObjRef {
    let attributes: Vec<Attribute> = list.attributes().collect();
    call_quietly("mono_custom_attrs_construct", |t| Ok(made(t, &attributes)?.word()))
}

/// The attributes of what a reflection object stands for; null if there are none.
///
/// # Safety
/// `object` is a reflection object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_reflection_get_custom_attrs_info(object: ObjRef) -> *mut MonoCustomAttrInfo {
    const FUNCTION: &str = "mono_reflection_get_custom_attrs_info";
    // SAFETY: the host's object.
    let object = unsafe { some(FUNCTION, object) };
    call_quietly(FUNCTION, |t| Ok(MonoCustomAttrInfo::of(&provider_attributes(t, Some(object))?)))
}

/// The attributes of what a reflection object stands for, made now, as an Attribute[].
///
/// # Safety
/// `object` is a reflection object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_reflection_get_custom_attrs(object: ObjRef) -> ObjRef {
    const FUNCTION: &str = "mono_reflection_get_custom_attrs";
    // SAFETY: the host's object.
    let object = unsafe { some(FUNCTION, object) };
    call_quietly(FUNCTION, |t| {
        let attributes = provider_attributes(t, Some(object))?;
        Ok(made(t, &attributes)?.word())
    })
}

/// [`mono_reflection_get_custom_attrs`] of a class, or of all for null. What goes wrong gives null.
///
/// # Safety
/// `object` is a reflection object, `error` is null or a `MonoError`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_reflection_get_custom_attrs_by_type(
    object: ObjRef,
    class: Option<Ty>,
    error: *mut MonoError,
) -> ObjRef {
    const FUNCTION: &str = "mono_reflection_get_custom_attrs_by_type";
    if !error.is_null() {
        // SAFETY: not null, so the host's room for an error.
        unsafe { mono_error_init(error) };
    }
    // SAFETY: the host's object.
    let object = unsafe { some(FUNCTION, object) };
    call_quietly(FUNCTION, |t| {
        let mut attributes = provider_attributes(t, Some(object))?;
        if let Some(class) = class {
            attributes.retain(|attribute| attribute.constructor.owner.is_assignable_to(class).unwrap_or(false));
        }
        Ok(made(t, &attributes)?.word())
    })
}

/// The attributes of what a reflection object stands for, as a CustomAttributeData[].
///
/// # Safety
/// `object` is a reflection object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_reflection_get_custom_attrs_data(object: ObjRef) -> ObjRef {
    const FUNCTION: &str = "mono_reflection_get_custom_attrs_data";
    // SAFETY: the host's object.
    let object = unsafe { some(FUNCTION, object) };
    call_quietly(FUNCTION, |t| {
        let attributes = provider_attributes(t, Some(object))?;
        Ok(data_array(t, &attributes)?.word())
    })
}
