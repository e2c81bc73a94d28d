//! Values of Constant rows as objects: field, parameter and property defaults. ECMA-335 §II.22.9.

use saki_metadata::{ConstantValue, Token};
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::{CurrentThread, Managed, Obj, Str};
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
pub fn constant_object<'t>(
    t: CurrentThread<'t>,
    value: &ConstantValue,
    as_type: Option<Ty>,
) -> Managed<Option<Obj<'t>>> {
    use ConstantValue as C;
    let u = universe();
    let enum_type = as_type.filter(|ty| ty.is_enum());
    let boxed = |natural: Ty, bits: u64| Obj::of_bits(t, enum_type.unwrap_or(natural), bits).map(Some);
    match value {
        C::Null => Ok(None),
        C::String(units) => Str::intern_units(t, units).map(|text| Some(*text)),
        C::Boolean(v) => boxed(u.boolean(), u64::from(*v)),
        C::Char(v) => boxed(u.char_(), u64::from(*v)),
        C::I1(v) => boxed(u.sbyte(), *v as u64),
        C::U1(v) => boxed(u.byte(), u64::from(*v)),
        C::I2(v) => boxed(u.int16(), *v as u64),
        C::U2(v) => boxed(u.uint16(), u64::from(*v)),
        C::I4(v) => boxed(u.int32(), *v as u64),
        C::U4(v) => boxed(u.uint32(), u64::from(*v)),
        C::I8(v) => boxed(u.int64(), *v as u64),
        C::U8(v) => boxed(u.uint64(), *v),
        C::R4(v) => boxed(u.single(), u64::from(v.to_bits())),
        C::R8(v) => boxed(u.double(), v.to_bits()),
    }
}
