//! Constants and marshalling descriptors as blobs. ECMA-335 §II.22.9, §II.23.4.

use super::builders::{EMIT, text};
use saki_metadata::ElementType;
use saki_metadata::native_type::native;
use saki_metadata::writer::put_compressed;
use saki_runtime::object::{type_of, unboxed};
use saki_runtime::{ManagedField, ObjRef, strings};
use saki_types::universe;

/// The element type and bytes of a constant; None for objects that cannot be one.
pub fn constant(value: ObjRef) -> Option<(ElementType, Vec<u8>)> {
    if value.is_null() {
        return Some((ElementType::Class, vec![0; 4]));
    }
    let ty = type_of(value).underlying();
    if ty == universe().string() {
        return Some((ElementType::String, strings::units(value).iter().flat_map(|unit| unit.to_le_bytes()).collect()));
    }
    // A date is its number of ticks.
    let element = if ty.is_corlib("System", "DateTime") { ElementType::I8 } else { ty.element_type };
    let size = fixed_bytes(element)?;
    // SAFETY: a boxed primitive of this size; nothing here is a safepoint.
    let bytes = unsafe { std::slice::from_raw_parts(unboxed(value), size) };
    Some((element, bytes.to_vec()))
}

/// The size of a primitive in constants and attributes.
pub fn fixed_bytes(element: ElementType) -> Option<usize> {
    use ElementType as E;
    Some(match element {
        E::Boolean | E::I1 | E::U1 => 1,
        E::Char | E::I2 | E::U2 => 2,
        E::I4 | E::U4 | E::R4 => 4,
        E::I8 | E::U8 | E::R8 => 8,
        _ => return None,
    })
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_compressed(out, text.len() as u32);
    out.extend(text.as_bytes());
}

/// The descriptor of an UnmanagedMarshal object.
pub fn marshal_descriptor(object: ObjRef) -> Vec<u8> {
    static COUNT: ManagedField = ManagedField::corlib(EMIT, "UnmanagedMarshal", "count");
    static KIND: ManagedField = ManagedField::corlib(EMIT, "UnmanagedMarshal", "t");
    static ELEMENT: ManagedField = ManagedField::corlib(EMIT, "UnmanagedMarshal", "tbase");
    static GUID: ManagedField = ManagedField::corlib(EMIT, "UnmanagedMarshal", "guid");
    static COOKIE: ManagedField = ManagedField::corlib(EMIT, "UnmanagedMarshal", "mcookie");
    static MARSHALER: ManagedField = ManagedField::corlib(EMIT, "UnmanagedMarshal", "marshaltype");
    static SIZE_PARAMETER: ManagedField = ManagedField::corlib(EMIT, "UnmanagedMarshal", "param_num");
    static HAS_SIZE: ManagedField = ManagedField::corlib(EMIT, "UnmanagedMarshal", "has_size");
    let kind = KIND.get::<i32>(object) as u8;
    let element = ELEMENT.get::<i32>(object) as u8;
    let count = COUNT.get::<i32>(object).max(0) as u32;
    let parameter = SIZE_PARAMETER.get::<i32>(object);
    let mut out = vec![kind];
    match kind {
        native::BYVALTSTR => put_compressed(&mut out, count),
        native::BYVALARRAY => {
            put_compressed(&mut out, count);
            // A kind of its own as element stands for "not said".
            if element != kind {
                out.push(element);
            }
        }
        native::LPARRAY => {
            out.push(element);
            if HAS_SIZE.get::<u8>(object) != 0 {
                put_compressed(&mut out, parameter.max(0) as u32);
                put_compressed(&mut out, count);
                // Whether the parameter's value counts.
                out.push(u8::from(parameter >= 0));
            }
        }
        native::SAFEARRAY => out.push(element),
        native::CUSTOM => {
            put_text(&mut out, &text(GUID.get_ref(object)));
            put_text(&mut out, "");
            put_text(&mut out, &text(MARSHALER.get_ref(object)));
            put_text(&mut out, &text(COOKIE.get_ref(object)));
        }
        _ => {}
    }
    out
}
