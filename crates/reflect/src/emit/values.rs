//! Constants and marshalling descriptors as blobs. ECMA-335 §II.22.9, §II.23.4.

use super::builders::text;
use saki_metadata::ElementType;
use saki_metadata::native_type::native;
use saki_metadata::writer::put_compressed;
use saki_runtime::{ManagedField, Obj};
use saki_types::LibraryType;

/// The element type and bytes of a constant; None for objects that cannot be one.
pub fn constant(value: Option<Obj>) -> Option<(ElementType, Vec<u8>)> {
    let Some(value) = value else { return Some((ElementType::Class, vec![0; 4])) };
    if let Some(text) = value.as_str() {
        return Some((ElementType::String, text.units().iter().flat_map(|unit| unit.to_le_bytes()).collect()));
    }
    let ty = value.ty().underlying();
    // A date is its number of ticks.
    if ty.is(LibraryType::DateTime) {
        return Some((ElementType::I8, value.unboxed::<u64>()?.to_le_bytes().to_vec()));
    }
    Some((ty.element_type, primitive_bytes(value)?))
}

/// The bytes of a boxed primitive or enum; None for other objects.
pub fn primitive_bytes(value: Obj) -> Option<Vec<u8>> {
    Some(match value.ty().underlying().element_type.primitive_size_bytes()? {
        1 => value.unboxed::<u8>()?.to_le_bytes().to_vec(),
        2 => value.unboxed::<u16>()?.to_le_bytes().to_vec(),
        4 => value.unboxed::<u32>()?.to_le_bytes().to_vec(),
        _ => value.unboxed::<u64>()?.to_le_bytes().to_vec(),
    })
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_compressed(out, text.len() as u32);
    out.extend(text.as_bytes());
}

/// The descriptor of an UnmanagedMarshal object.
pub fn marshal_descriptor(object: Obj) -> Vec<u8> {
    static COUNT: ManagedField = ManagedField::new(LibraryType::UnmanagedMarshal, "count");
    static KIND: ManagedField = ManagedField::new(LibraryType::UnmanagedMarshal, "t");
    static ELEMENT: ManagedField = ManagedField::new(LibraryType::UnmanagedMarshal, "tbase");
    static GUID: ManagedField = ManagedField::new(LibraryType::UnmanagedMarshal, "guid");
    static COOKIE: ManagedField = ManagedField::new(LibraryType::UnmanagedMarshal, "mcookie");
    static MARSHALER: ManagedField = ManagedField::new(LibraryType::UnmanagedMarshal, "marshaltype");
    static SIZE_PARAMETER: ManagedField = ManagedField::new(LibraryType::UnmanagedMarshal, "param_num");
    static HAS_SIZE: ManagedField = ManagedField::new(LibraryType::UnmanagedMarshal, "has_size");
    let kind = KIND.get::<i32>(object) as u8;
    let element = ELEMENT.get::<i32>(object) as u8;
    let count = COUNT.get::<i32>(object).max(0) as u32;
    let parameter = SIZE_PARAMETER.get::<i32>(object);
    let mut out = vec![kind];
    match kind {
        native::BYVALTSTR => put_compressed(&mut out, count),
        native::BYVALARRAY => {
            put_compressed(&mut out, count);
            // The array's own kind as element kind means that the program named none.
            if element != kind {
                out.push(element);
            }
        }
        native::LPARRAY => {
            out.push(element);
            if HAS_SIZE.get::<u8>(object) != 0 {
                put_compressed(&mut out, parameter.max(0) as u32);
                put_compressed(&mut out, count);
                // Whether the value of the parameter gives the number of elements.
                out.push(u8::from(parameter >= 0));
            }
        }
        native::SAFEARRAY => out.push(element),
        native::CUSTOM => {
            put_text(&mut out, &text(GUID.str(object)));
            put_text(&mut out, "");
            put_text(&mut out, &text(MARSHALER.str(object)));
            put_text(&mut out, &text(COOKIE.str(object)));
        }
        _ => {}
    }
    out
}
