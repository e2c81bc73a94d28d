//! Fields, properties, events and nested types of classes: `mono/metadata/class.h`. Methods: `methods`.
//!
//! An iterator of the host's is a pointer that begins as null; here it counts the items that were given.

use crate::call::{load, next, put};
use crate::classes::{mono_class_get, refuse_context};
use crate::text::{kept, text};
use saki_metadata::{TableId, Token};
use saki_reflect::members::{self, EventDefinition, Property};
use saki_types::{Field, GenericContext, Image, LoadResult, Method, Ty, TypeKind};
use std::ffi::{c_char, c_int, c_void};

macro_rules! lists {
    ($($(#[$doc:meta])* $each:ident $count:ident => $item:ty, $list:expr;)*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        /// `iter` is null or the host's variable, which is null or as this function has left it.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $each(class: Ty, iter: *mut usize) -> Option<$item> {
            let list: fn(Ty) -> LoadResult<Vec<$item>> = $list;
            // SAFETY: null or the host's variable.
            load(stringify!($each), || Ok(unsafe { next(iter, &list(class)?) }))
        }

        /// The number of these members.
        #[unsafe(no_mangle)]
        pub extern "C" fn $count(class: Ty) -> c_int {
            let list: fn(Ty) -> LoadResult<Vec<$item>> = $list;
            load(stringify!($count), || Ok(list(class)?.len() as c_int))
        }
    )* };
}

lists! {
    /// The next of the class's own fields, in the order of its metadata.
    mono_class_get_fields mono_class_num_fields => &'static Field, |class| Ok(class.fields()?.to_vec());
    /// The next of the class's own methods, in the order of its metadata.
    mono_class_get_methods mono_class_num_methods => &'static Method, |class| Ok(class.methods()?.collect());
    /// The next of the class's own properties, in the order of its metadata.
    mono_class_get_properties mono_class_num_properties => &'static Property,
        |class| Ok(members::properties_of(class)?.to_vec());
    /// The next of the class's own events, in the order of its metadata.
    mono_class_get_events mono_class_num_events => &'static EventDefinition,
        |class| Ok(members::events_of(class)?.to_vec());
}

/// The next of the interfaces that the class itself declares.
///
/// # Safety
/// `iter` is null or the host's variable, which is null or as this function has left it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_class_get_interfaces(class: Ty, iter: *mut usize) -> Option<Ty> {
    // SAFETY: null or the host's variable.
    load("mono_class_get_interfaces", || Ok(unsafe { next(iter, &class.interface_list()?.declared) }))
}

/// The next of the classes that are nested in the class; an instantiation has none.
///
/// # Safety
/// `iter` is null or the host's variable, which is null or as this function has left it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_class_get_nested_types(class: Ty, iter: *mut usize) -> Option<Ty> {
    load("mono_class_get_nested_types", || {
        let nested = if matches!(class.kind, TypeKind::Def(_)) { class.nested_types()? } else { Vec::new() };
        // SAFETY: null or the host's variable.
        Ok(unsafe { next(iter, &nested) })
    })
}

/// The field of this name of the class or the next base class that has one; null if there is none.
///
/// # Safety
/// `name` ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_class_get_field_from_name(class: Ty, name: *const c_char) -> Option<&'static Field> {
    // SAFETY: the host's text, which ends in NUL.
    let name = unsafe { text(name) };
    load("mono_class_get_field_from_name", || members::find_field(class, &name))
}

/// The property of this name of the class or the next base class that has one; null if there is none.
///
/// # Safety
/// `name` ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_class_get_property_from_name(
    class: Ty,
    name: *const c_char,
) -> Option<&'static Property> {
    // SAFETY: the host's text, which ends in NUL.
    let name = unsafe { text(name) };
    load("mono_class_get_property_from_name", || members::find_property(class, &name))
}

/// The field of a Field token, of the class or a base class; null if none of them has it.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_get_field(class: Ty, token: u32) -> Option<&'static Field> {
    load("mono_class_get_field", || {
        let mut looked_at = Some(class);
        while let Some(class) = looked_at {
            if let Some(found) = class.fields()?.iter().find(|field| field.rid == Token(token).rid()) {
                return Ok(Some(*found));
            }
            looked_at = class.parent()?;
        }
        Ok(None)
    })
}

/// The field of a Field or MemberRef token, and its class.
///
/// # Safety
/// `class` is null or the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_field_from_token(
    image: &'static Image,
    token: u32,
    class: *mut Option<Ty>,
    context: *const c_void,
) -> Option<&'static Field> {
    refuse_context("mono_field_from_token", context);
    load("mono_field_from_token", || {
        let field = image.resolve_field(Token(token), &GenericContext::NONE)?;
        // SAFETY: null or the host's variable.
        unsafe { put(class, Some(field.owner)) };
        Ok(Some(field))
    })
}

/// [`mono_class_get`] of a TypeRef token. What cannot be loaded is null; `error` is left as it is.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_from_typeref_checked(
    image: &'static Image,
    token: u32,
    _error: *const c_void,
) -> Option<Ty> {
    mono_class_get(image, token)
}

/// The field's token.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_get_field_token(field: &'static Field) -> u32 {
    Token::new(TableId::Field, field.rid).0
}

/// The event's token.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_get_event_token(event: &'static EventDefinition) -> u32 {
    event.token().0
}

/// The property's token.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_get_property_token(property: &'static Property) -> u32 {
    property.token().0
}

/// The field's name; it lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn mono_field_get_name(field: &'static Field) -> *const c_char {
    kept(field.name)
}

/// The field's type; null if it cannot be loaded.
#[unsafe(no_mangle)]
pub extern "C" fn mono_field_get_type(field: &'static Field) -> Option<Ty> {
    load("mono_field_get_type", || field.ty().map(Some))
}

/// The class that declares the field.
#[unsafe(no_mangle)]
pub extern "C" fn mono_field_get_parent(field: &'static Field) -> Ty {
    field.owner
}

/// `FieldAttributes`.
#[unsafe(no_mangle)]
pub extern "C" fn mono_field_get_flags(field: &'static Field) -> u32 {
    u32::from(field.flags)
}

/// Bytes from the start of an object, of a box for value types, or of the class's static fields; 0 for constants.
#[unsafe(no_mangle)]
pub extern "C" fn mono_field_get_offset(field: &'static Field) -> u32 {
    load("mono_field_get_offset", || {
        if field.is_literal() {
            return Ok(0);
        }
        let in_box = !field.is_static() && field.owner.is_value_type();
        Ok(field.offset_bytes()? + if in_box { saki_abi::object::OBJECT_HEADER_BYTES } else { 0 })
    })
}

/// A blob with its length before it, as it lies in the heap.
pub(crate) fn with_length(blob: &[u8]) -> *const u8 {
    let length_bytes = match blob.len() {
        0..0x80 => 1,
        0x80..0x4000 => 2,
        _ => 4,
    };
    blob.as_ptr().wrapping_sub(length_bytes)
}

/// The bytes that a static field begins with, or a constant's blob with its length; null for other fields.
#[unsafe(no_mangle)]
pub extern "C" fn mono_field_get_data(field: &'static Field) -> *const u8 {
    load("mono_field_get_data", || {
        let token = Token::new(TableId::Field, field.rid);
        if let Some(row) = field.image().meta.constant(token)? {
            return Ok(with_length(field.image().meta.blob(row.value)?));
        }
        Ok(field.rva_data()?.map_or(std::ptr::null(), <[u8]>::as_ptr))
    })
}

/// The property's name; it lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn mono_property_get_name(property: &'static Property) -> *const c_char {
    kept(property.name)
}

/// The method that sets the property; null if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_property_get_set_method(property: &'static Property) -> Option<&'static Method> {
    property.setter
}

/// The method that gets the property; null if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_property_get_get_method(property: &'static Property) -> Option<&'static Method> {
    property.getter
}

/// The class that declares the property.
#[unsafe(no_mangle)]
pub extern "C" fn mono_property_get_parent(property: &'static Property) -> Ty {
    property.owner
}

/// `PropertyAttributes`.
#[unsafe(no_mangle)]
pub extern "C" fn mono_property_get_flags(property: &'static Property) -> u32 {
    u32::from(property.flags)
}

/// The event's name; it lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn mono_event_get_name(event: &'static EventDefinition) -> *const c_char {
    kept(event.name)
}

/// The method that adds a handler; null if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_event_get_add_method(event: &'static EventDefinition) -> Option<&'static Method> {
    event.add
}

/// The method that removes a handler; null if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_event_get_remove_method(event: &'static EventDefinition) -> Option<&'static Method> {
    event.remove
}

/// The method that raises the event; null if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_event_get_raise_method(event: &'static EventDefinition) -> Option<&'static Method> {
    event.raise
}

/// The class that declares the event.
#[unsafe(no_mangle)]
pub extern "C" fn mono_event_get_parent(event: &'static EventDefinition) -> Ty {
    event.owner
}

/// `EventAttributes`.
#[unsafe(no_mangle)]
pub extern "C" fn mono_event_get_flags(event: &'static EventDefinition) -> u32 {
    u32::from(event.flags)
}
