//! Values of Constant rows as objects: field, parameter and property defaults. ECMA-335 §II.22.9.

use saki_metadata::{ConstantValue, Token};
use saki_runtime::exceptions::ToManaged;
use saki_runtime::{CurrentThread, Managed, ObjRef, object, strings};
use saki_types::{Image, LoadError, Ty, universe};

/// The constant of a Field, Param or Property; None when it has none.
///
/// # Errors
/// BadImageFormatException.
pub fn constant_of(t: CurrentThread, image: &'static Image, parent: Token) -> Managed<Option<ConstantValue>> {
    let value = image.meta.constant(parent).and_then(|row| row.map(|row| image.meta.constant_value(&row)).transpose());
    value.map_err(LoadError::from).to_managed(t)
}

/// The constant as an object; numbers become `as_type` when that is an enum.
///
/// # Errors
/// OutOfMemoryException.
pub fn constant_object(t: CurrentThread, value: &ConstantValue, as_type: Option<Ty>) -> Managed<ObjRef> {
    use ConstantValue as C;
    let u = universe();
    let enum_type = as_type.filter(|ty| ty.is_enum());
    let boxed = |natural: Ty, data: *const u8| {
        let ty = enum_type.unwrap_or(natural);
        object::box_value(t, ty, data)
    };
    match value {
        C::Null => Ok(ObjRef::NULL),
        C::String(units) => strings::intern(t, units),
        C::Boolean(v) => boxed(u.boolean(), &raw const *v as *const u8),
        C::Char(v) => boxed(u.char_(), &raw const *v as *const u8),
        C::I1(v) => boxed(u.sbyte(), &raw const *v as *const u8),
        C::U1(v) => boxed(u.byte(), &raw const *v),
        C::I2(v) => boxed(u.int16(), &raw const *v as *const u8),
        C::U2(v) => boxed(u.uint16(), &raw const *v as *const u8),
        C::I4(v) => boxed(u.int32(), &raw const *v as *const u8),
        C::U4(v) => boxed(u.uint32(), &raw const *v as *const u8),
        C::I8(v) => boxed(u.int64(), &raw const *v as *const u8),
        C::U8(v) => boxed(u.uint64(), &raw const *v as *const u8),
        C::R4(v) => boxed(u.single(), &raw const *v as *const u8),
        C::R8(v) => boxed(u.double(), &raw const *v as *const u8),
    }
}
