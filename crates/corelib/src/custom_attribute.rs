//! System.Reflection.CustomAttribute: making attributes from their blobs, ECMA-335 §II.23.3. Managed code finds the
//! attributes, and sets the named arguments that are read here one by one.
//!
//! Invariant: a place in a blob lies in the metadata of the attribute's module, and moves from its start to its end.

use crate::arguments::{ModuleArgument, ObjectPlace, StringPlace};
use crate::class_fields::method_of;
use saki_metadata::ElementType;
use saki_reflect::invocation::invoke_boxed;
use saki_reflect::type_lookup::type_of_serialized_name;
use saki_runtime::object::exceptions::{self, Thrown};
use saki_runtime::object::typed_values;
use saki_runtime::{Array, CurrentThread, ExceptionType, InternalCall, Managed, Obj, Str, ToManaged};
use saki_types::{Image, Ty, universe};
use std::borrow::Cow;

/// Element types that only such blobs have.
mod tag {
    pub(super) const SZ_ARRAY: u8 = 0x1d;
    pub(super) const TYPE: u8 = 0x50;
    pub(super) const BOXED: u8 = 0x51;
    pub(super) const FIELD: u8 = 0x53;
    pub(super) const PROPERTY: u8 = 0x54;
    pub(super) const ENUM: u8 = 0x55;
}

const PROLOG: u16 = 1;
/// How deep arrays and boxed values may lie in each other: a blob could nest them until the stack overflows.
const MAX_NESTING: u32 = 100;

/// Reads a blob from its current place.
struct Reader<'t> {
    t: CurrentThread<'t>,
    image: &'static Image,
    rest: &'static [u8],
    /// The number of arrays and boxed values around the current place.
    nesting: u32,
}

fn malformed(t: CurrentThread) -> Thrown {
    let message = "Binary format of the specified custom attribute was invalid.";
    exceptions::throw(t, ExceptionType::CustomAttributeFormat, message)
}

impl<'t> Reader<'t> {
    fn bytes(&mut self, count: usize) -> Managed<&'static [u8]> {
        let Some((taken, rest)) = self.rest.split_at_checked(count) else { return Err(malformed(self.t)) };
        self.rest = rest;
        Ok(taken)
    }

    /// Reads what lies in an array or a boxed value.
    fn nested<R>(&mut self, read: impl FnOnce(&mut Self) -> Managed<R>) -> Managed<R> {
        if self.nesting == MAX_NESTING {
            return Err(malformed(self.t));
        }
        self.nesting += 1;
        let found = read(self);
        self.nesting -= 1;
        found
    }

    fn u8(&mut self) -> Managed<u8> {
        Ok(self.bytes(1)?[0])
    }

    fn number(&mut self, size_bytes: usize) -> Managed<u64> {
        let mut bits = [0; 8];
        bits[..size_bytes].copy_from_slice(self.bytes(size_bytes)?);
        Ok(u64::from_le_bytes(bits))
    }

    /// A text with its length before it; None for null.
    fn text(&mut self) -> Managed<Option<Cow<'static, str>>> {
        const NULL: u8 = 0xff;
        let first = self.u8()?;
        let length = match first {
            NULL => return Ok(None),
            _ if first & 0x80 == 0 => usize::from(first),
            _ if first & 0x40 == 0 => usize::from(first & 0x3f) << 8 | usize::from(self.u8()?),
            _ => {
                let rest = self.bytes(3)?;
                rest.iter().fold(usize::from(first & 0x1f), |length, byte| length << 8 | usize::from(*byte))
            }
        };
        Ok(Some(saki_metadata::text_of(self.bytes(length)?)))
    }

    /// The type that a blob names for a boxed value or a named argument.
    fn named_type(&mut self) -> Managed<Ty> {
        let u = universe();
        Ok(match self.u8()? {
            tag::TYPE => u.type_(),
            tag::BOXED => u.object(),
            tag::SZ_ARRAY => u.sz_array_of(self.nested(Reader::named_type)?),
            tag::ENUM => match self.text()? {
                Some(name) => type_of_serialized_name(self.t, &name, self.image)?,
                None => return Err(malformed(self.t)),
            },
            other => match ElementType::from_u8(other) {
                Some(ElementType::String) => u.string(),
                Some(element) if element.primitive_size_bytes().is_some() => u.primitive(element),
                _ => return Err(malformed(self.t)),
            },
        })
    }

    /// A value of a parameter's type, as an object.
    fn value(&mut self, ty: Ty) -> Managed<Option<Obj<'t>>> {
        let u = universe();
        if ty == u.string() {
            return self.text()?.map(|text| Str::new(self.t, &text).map(Obj::from)).transpose();
        }
        if ty == u.type_() {
            let Some(name) = self.text()? else { return Ok(None) };
            return Obj::of_type(self.t, type_of_serialized_name(self.t, &name, self.image)?).map(Some);
        }
        if ty == u.object() {
            let named = self.named_type()?;
            return if named == u.object() { Err(malformed(self.t)) } else { self.nested(|inner| inner.value(named)) };
        }
        if let Some(element) = ty.element().filter(|_| ty.is_sz_array()) {
            return self.nested(|inner| inner.array(element)).map(|array| array.map(Obj::from));
        }
        let bits = self.bits(ty)?;
        Obj::of_bits(self.t, ty, bits).map(Some)
    }

    /// The bits of a number or of an enum's value.
    fn bits(&mut self, ty: Ty) -> Managed<u64> {
        match ty.underlying().element_type.primitive_size_bytes() {
            Some(size_bytes) => self.number(size_bytes),
            None => Err(malformed(self.t)),
        }
    }

    fn array(&mut self, element: Ty) -> Managed<Option<Array<'t>>> {
        const NULL: u32 = u32::MAX;
        let count = self.number(4)? as u32;
        if count == NULL {
            return Ok(None);
        }
        if count as usize > self.rest.len() {
            return Err(malformed(self.t));
        }
        let array = Array::new(self.t, element, count as usize)?;
        for index in 0..count as usize {
            if !element.is_value_type() {
                let value = self.value(element)?;
                if !typed_values::may_hold(self.t, element, value)? {
                    return Err(malformed(self.t));
                }
                array.set(self.t, index, value);
                continue;
            }
            let bits = self.bits(element)?;
            match array.element_size_bytes() {
                1 => array.set_value(index, bits as u8),
                2 => array.set_value(index, bits as u16),
                4 => array.set_value(index, bits as u32),
                _ => array.set_value(index, bits),
            }
        }
        Ok(Some(array))
    }
}

/// The blob between two addresses.
///
/// # Safety
/// They are the place and the end of a blob of metadata.
unsafe fn blob_between(start: usize, end: isize) -> &'static [u8] {
    let length = end.cast_unsigned().saturating_sub(start);
    // SAFETY: the address is one that managed code passes to the call, of memory that stays for it.
    unsafe { std::slice::from_raw_parts(start as *const u8, length) }
}

/// Makes an attribute by its constructor, and leaves the place behind the number of named arguments.
fn create(
    t: CurrentThread,
    module: ModuleArgument,
    _ty: ObjectPlace,
    constructor: ObjectPlace,
    place: *mut usize,
    end: isize,
    named_count: *mut i32,
    result: ObjectPlace,
) -> Managed<()> {
    let constructor = method_of(constructor.get());
    // SAFETY: managed code passes a place in a blob, and its end.
    let rest = unsafe { blob_between(place.read(), end) };
    let mut reader = Reader { t, image: module.image(), rest, nesting: 0 };
    let parameters = &constructor.sig().to_managed(t)?.params;
    let arguments = Array::new(t, universe().object(), parameters.len())?;
    let mut count = 0;
    if !reader.rest.is_empty() {
        if reader.number(2)? as u16 != PROLOG {
            return Err(malformed(t));
        }
        for (index, &parameter) in parameters.iter().enumerate() {
            let value = reader.value(parameter)?;
            arguments.set(t, index, value);
        }
        count = reader.number(2)? as i32;
    } else if !parameters.is_empty() {
        return Err(malformed(t));
    }
    let made = invoke_boxed(t, constructor, None, Some(arguments))?;
    // SAFETY: managed code passes the addresses of locals, which live as long as the call.
    unsafe {
        place.write(reader.rest.as_ptr().addr());
        named_count.write(count);
    }
    result.set(t, made);
    Ok(())
}

/// Reads a named argument, and leaves the place behind it.
fn read_named(
    t: CurrentThread,
    module: ModuleArgument,
    place: *mut usize,
    end: isize,
    name: StringPlace,
    is_property: *mut i32,
    ty: ObjectPlace,
    value: ObjectPlace,
) -> Managed<()> {
    // SAFETY: managed code passes a place in a blob, and its end.
    let rest = unsafe { blob_between(place.read(), end) };
    let mut reader = Reader { t, image: module.image(), rest, nesting: 0 };
    let kind = reader.u8()?;
    if !matches!(kind, tag::FIELD | tag::PROPERTY) {
        return Err(malformed(t));
    }
    let named = reader.named_type()?;
    let Some(text) = reader.text()? else { return Err(malformed(t)) };
    let given = reader.value(named)?;
    name.set(t, Some(Str::new(t, &text)?));
    ty.set(t, Obj::of_type(t, named)?);
    value.set(t, given);
    // SAFETY: managed code passes the addresses of locals, which live as long as the call.
    unsafe {
        place.write(reader.rest.as_ptr().addr());
        is_property.write(i32::from(kind == tag::PROPERTY));
    }
    Ok(())
}

/// `AttributeUsageAttribute (AttributeTargets targets, AllowMultiple, Inherited)`.
fn parse_usage(
    t: CurrentThread,
    data: isize,
    length: i32,
    targets: *mut i32,
    allows_multiple: *mut i32,
    is_inherited: *mut i32,
) -> Managed<i32> {
    // SAFETY: managed code passes a blob of metadata.
    let rest = unsafe { std::slice::from_raw_parts(data as *const u8, usize::try_from(length).unwrap_or(0)) };
    let mut reader = Reader { t, image: universe().corlib(), rest, nesting: 0 };
    if reader.number(2)? as u16 != PROLOG {
        return Ok(0);
    }
    let (valid_on, mut multiple, mut inherited) = (reader.number(4)? as i32, false, true);
    for _ in 0..reader.number(2)? {
        reader.u8()?;
        reader.u8()?;
        match reader.text()?.as_deref() {
            Some("AllowMultiple") => multiple = reader.u8()? != 0,
            Some("Inherited") => inherited = reader.u8()? != 0,
            _ => return Ok(0),
        }
    }
    // SAFETY: managed code passes the addresses of locals, which live as long as the call.
    unsafe {
        targets.write(valid_on);
        allows_multiple.write(i32::from(multiple));
        is_inherited.write(i32::from(inherited));
    }
    Ok(1)
}

/// The internal calls of `System.Reflection.CustomAttribute`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net QCall::CustomAttribute_CreateCustomAttributeInstance", &create),
    InternalCall::new("@net QCall::CustomAttribute_CreatePropertyOrFieldData", &read_named),
    InternalCall::new("@net QCall::CustomAttribute_ParseAttributeUsageAttribute", &parse_usage),
];
