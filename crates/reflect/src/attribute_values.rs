//! Decoding attribute blobs and turning their values into objects. ECMA-335 §II.23.3.

use crate::type_lookup::type_of_serialized_name;
use saki_metadata::{CaEnumType, CaTypeHint, CaValue, CustomAttributeArgs, ElementType, parse_custom_attribute};
use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions::{self, Thrown, ToManaged};
use saki_runtime::object::typed_values;
use saki_runtime::{Array, CurrentThread, Managed, Obj, Str};
use saki_types::{Image, Method, Ty, universe};
use std::cell::Cell;

/// The type of a constructor parameter in the decoder's terms; None for types that attributes cannot have. Enums are
/// written as their integer type.
fn hint_of(ty: Ty) -> Option<CaTypeHint> {
    let u = universe();
    if ty == u.object() {
        return Some(CaTypeHint::Object);
    }
    if ty == u.type_() {
        return Some(CaTypeHint::Type);
    }
    if ty.is_sz_array() {
        return ty.element().and_then(hint_of).map(|element| CaTypeHint::SzArray(Box::new(element)));
    }
    let element = ty.underlying().element_type;
    (element.primitive_size_bytes().is_some() || element == ElementType::String).then_some(CaTypeHint::Prim(element))
}

fn malformed(t: CurrentThread, what: &str) -> Thrown {
    let message = format!("Binary format of the specified custom attribute was invalid ({what}).");
    exceptions::throw(t, ExceptionType::CustomAttributeFormat, &message)
}

/// Decodes the blob of an attribute of `image` with this constructor.
///
/// # Errors
/// CustomAttributeFormatException for a malformed blob; TypeLoadException for an enum that does not exist.
pub fn decode(
    t: CurrentThread,
    image: &'static Image,
    constructor: &'static Method,
    blob: &[u8],
) -> Managed<CustomAttributeArgs> {
    let params = &constructor.sig().to_managed(t)?.params;
    let hints: Option<Vec<CaTypeHint>> = params.iter().map(|&ty| hint_of(ty)).collect();
    let Some(hints) = hints else { return Err(malformed(t, "parameter type")) };
    if blob.is_empty() {
        return match hints.is_empty() {
            true => Ok(CustomAttributeArgs::default()),
            false => Err(malformed(t, "empty blob")),
        };
    }
    // Looking a type up may run event handlers; an exception that they throw is kept until the decoder returns.
    let failed: Cell<Option<Obj>> = Cell::new(None);
    let resolver = |ty: &CaEnumType| -> Option<ElementType> {
        let CaEnumType::Name(name) = ty else { return None };
        match type_of_serialized_name(t, name, image) {
            Ok(ty) => Some(ty.underlying().element_type),
            Err(_) => {
                failed.set(Some(t.take_exception()));
                None
            }
        }
    };
    let decoded = parse_custom_attribute(blob, &hints, &resolver);
    match (decoded, failed.get()) {
        (Ok(args), _) => Ok(args),
        (Err(_), Some(exception)) => Err(t.throw(exception)),
        (Err(error), None) => Err(malformed(t, &error.what)),
    }
}

/// The type that a blob names for a boxed value.
fn type_of_hint(t: CurrentThread, image: &'static Image, hint: &CaTypeHint) -> Managed<Ty> {
    let u = universe();
    Ok(match hint {
        CaTypeHint::Prim(element) => u.primitive(*element),
        CaTypeHint::Type => u.type_(),
        CaTypeHint::Object => u.object(),
        CaTypeHint::SzArray(element) => u.sz_array_of(type_of_hint(t, image, element)?),
        CaTypeHint::Enum(CaEnumType::Name(name)) => type_of_serialized_name(t, name, image)?,
        CaTypeHint::Enum(CaEnumType::Token(token)) => {
            image.resolve_type(*token, &saki_types::GenericContext::NONE).to_managed(t)?
        }
    })
}

/// The bytes of a primitive, in the first bytes of the word.
fn primitive_bits(value: &CaValue) -> Option<u64> {
    Some(match value {
        CaValue::Boolean(v) => u64::from(*v),
        CaValue::Char(v) => u64::from(*v),
        CaValue::I1(v) => *v as u64,
        CaValue::U1(v) => u64::from(*v),
        CaValue::I2(v) => *v as u64,
        CaValue::U2(v) => u64::from(*v),
        CaValue::I4(v) => *v as u64,
        CaValue::U4(v) => u64::from(*v),
        CaValue::I8(v) => *v as u64,
        CaValue::U8(v) => *v,
        CaValue::R4(v) => u64::from(v.to_bits()),
        CaValue::R8(v) => v.to_bits(),
        CaValue::Enum { value, .. } => return primitive_bits(value),
        _ => return None,
    })
}

/// The value as an object of type `ty`: boxes, strings, Type objects, arrays.
///
/// # Errors
/// TypeLoadException for a named type that does not exist.
pub fn value_object<'t>(
    t: CurrentThread<'t>,
    image: &'static Image,
    value: &CaValue,
    ty: Ty,
) -> Managed<Option<Obj<'t>>> {
    match value {
        CaValue::String(text) => match text {
            Some(text) => Str::new(t, text).map(|text| Some(*text)),
            None => Ok(None),
        },
        CaValue::Type(name) => match name {
            Some(name) => Obj::of_type(t, type_of_serialized_name(t, name, image)?).map(Some),
            None => Ok(None),
        },
        CaValue::Boxed { ty, value } => {
            let ty = type_of_hint(t, image, ty)?;
            value_object(t, image, value, ty)
        }
        CaValue::Array { elem, items } => {
            let Some(items) = items else { return Ok(None) };
            let element = match ty.element().filter(|_| ty.is_sz_array()) {
                Some(element) => element,
                None => type_of_hint(t, image, elem)?,
            };
            array_object(t, image, items, element).map(|array| Some(*array))
        }
        CaValue::Enum { ty: name, .. } if !ty.is_value_type() => {
            let ty = type_of_hint(t, image, &CaTypeHint::Enum(name.clone()))?;
            value_object(t, image, value, ty)
        }
        // The blob names the type of a named argument itself; it may differ from that of the field or property.
        _ if ty.underlying().element_type.primitive_size_bytes().is_none() => Err(malformed(t, "type of a value")),
        primitive => {
            let bits = primitive_bits(primitive).unwrap_or(0);
            Obj::of_bits(t, ty, bits).map(Some)
        }
    }
}

fn array_object<'t>(t: CurrentThread<'t>, image: &'static Image, items: &[CaValue], element: Ty) -> Managed<Array<'t>> {
    let array = Array::new(t, element, items.len())?;
    if !element.is_value_type() {
        for (index, item) in items.iter().enumerate() {
            let item = value_object(t, image, item, element)?;
            if !typed_values::may_hold(t, element, item)? {
                return Err(malformed(t, "type of an element"));
            }
            array.set(t, index, item);
        }
        return Ok(array);
    }
    for (index, item) in items.iter().enumerate() {
        let bits = primitive_bits(item).unwrap_or(0);
        match element.underlying().element_type.primitive_size_bytes() {
            Some(1) => array.set_value(index, bits as u8),
            Some(2) => array.set_value(index, bits as u16),
            Some(4) => array.set_value(index, bits as u32),
            Some(8) => array.set_value(index, bits),
            _ => return Err(malformed(t, "type of an element")),
        }
    }
    Ok(array)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class_libraries::{class, load};

    #[test]
    fn parameters_are_read_as_blobs_write_them() {
        if !load() {
            return;
        }
        let u = universe();
        let check = |ty: Ty, expected: Option<CaTypeHint>| assert_eq!(hint_of(ty), expected, "{ty:?}");
        check(u.int16(), Some(CaTypeHint::Prim(ElementType::I2)));
        check(u.string(), Some(CaTypeHint::Prim(ElementType::String)));
        check(u.object(), Some(CaTypeHint::Object));
        check(u.type_(), Some(CaTypeHint::Type));
        // Enums are written as their integer type.
        check(class("System", "DayOfWeek"), Some(CaTypeHint::Prim(ElementType::I4)));
        check(u.sz_array_of(u.type_()), Some(CaTypeHint::SzArray(Box::new(CaTypeHint::Type))));
        check(u.exception(), None);
        check(class("System", "DateTime"), None);
        check(u.sz_array_of(u.exception()), None);
        check(u.array_of(u.int32(), 2), None);
    }

    #[test]
    fn bits_of_values_are_those_of_memory() {
        let check = |value: CaValue, expected: Option<u64>| assert_eq!(primitive_bits(&value), expected, "{value:?}");
        check(CaValue::Boolean(true), Some(1));
        check(CaValue::I1(-1), Some(u64::MAX));
        check(CaValue::U1(255), Some(255));
        check(CaValue::Char(0xffff), Some(0xffff));
        check(CaValue::R4(-0.0), Some(0x8000_0000));
        check(CaValue::R8(1.0), Some(0x3ff0_0000_0000_0000));
        let ty = CaEnumType::Name("E".to_owned());
        check(CaValue::Enum { ty, value: Box::new(CaValue::U2(7)) }, Some(7));
        check(CaValue::String(None), None);
        check(CaValue::Type(None), None);
    }
}
