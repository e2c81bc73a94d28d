//! System.Enum.

use crate::arguments::{argument_error, argument_error_for, non_null_this};
use saki_metadata::{ConstantValue, ElementType, TableId, Token};
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::object::type_objects;
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Obj, RefPlace, Str};
use saki_types::{Field, LoadError, LoadErrorKind, LoadResult, Ty, universe};
use std::cmp::Ordering;

fn require_enum(t: CurrentThread, type_object: Option<Obj>) -> Managed<Ty> {
    let ty = type_objects::require(t, type_object, "enumType")?;
    if ty.is_enum() { Ok(ty) } else { Err(argument_error_for(t, "enumType", "Type provided must be an Enum.")) }
}

fn underlying_type<'t>(t: CurrentThread<'t>, enum_type: Option<Obj>) -> Managed<Obj<'t>> {
    let ty = require_enum(t, enum_type)?;
    Obj::of_type(t, ty.underlying())
}

/// A constant as `Enum` sorts it: sign-extended for signed types, zero-extended for others.
fn constant_bits(field: &'static Field) -> LoadResult<u64> {
    let meta = &field.image().meta;
    let bad = |what: &str| {
        LoadError::new(LoadErrorKind::BadImageFormat, format!("{field:?}: {what}"), field.name.to_string())
    };
    let row =
        meta.constant(Token::new(TableId::Field, field.rid))?.ok_or_else(|| bad("an enum member has no value"))?;
    Ok(match meta.constant_value(&row)? {
        ConstantValue::Boolean(value) => u64::from(value),
        ConstantValue::Char(value) => u64::from(value),
        ConstantValue::I1(value) => value as i64 as u64,
        ConstantValue::U1(value) => u64::from(value),
        ConstantValue::I2(value) => value as i64 as u64,
        ConstantValue::U2(value) => u64::from(value),
        ConstantValue::I4(value) => value as i64 as u64,
        ConstantValue::U4(value) => u64::from(value),
        ConstantValue::I8(value) => value as u64,
        ConstantValue::U8(value) => value,
        ConstantValue::R4(value) => u64::from(value.to_bits()),
        ConstantValue::R8(value) => value.to_bits(),
        ConstantValue::String(_) | ConstantValue::Null => return Err(bad("the value of an enum member is no number")),
    })
}

/// Members in the order of declaration. True if the values ascend already, so that managed code need not sort them.
fn values_and_names(t: CurrentThread, enum_type: Option<Obj>, values: RefPlace, names: RefPlace) -> Managed<bool> {
    let ty = require_enum(t, enum_type)?;
    let members: Vec<&'static Field> =
        ty.fields().to_managed(t)?.iter().copied().filter(|f| f.is_static() && f.is_literal()).collect();
    let value_array = Array::new(t, universe().uint64(), members.len())?;
    let name_array = Array::new(t, universe().string(), members.len())?;
    let mut previous = 0;
    let mut ascending = true;
    for (index, field) in members.into_iter().enumerate() {
        let bits = constant_bits(field).to_managed(t)?;
        let name = Str::new(t, field.name)?;
        name_array.set(t, index, Some(*name));
        value_array.set_numbers(index, &[bits]);
        ascending &= previous <= bits;
        previous = bits;
    }
    values.set(t, value_array);
    names.set(t, name_array);
    Ok(ascending)
}

fn box_enum<'t>(t: CurrentThread<'t>, enum_type: Option<Obj>, value: i64) -> Managed<Option<Obj<'t>>> {
    let ty = require_enum(t, enum_type)?;
    // SAFETY: an enum has at most the bytes of the value, whose lower ones come first.
    unsafe { Obj::boxed(t, ty, (&raw const value).cast()) }
}

/// The value as its integer type, boxed.
fn get_value<'t>(t: CurrentThread<'t>, this: Option<Obj>) -> Managed<Option<Obj<'t>>> {
    let this = non_null_this(t, this)?;
    // SAFETY: an enum's value is one of its integer type.
    unsafe { Obj::boxed(t, this.ty().underlying(), this.data()) }
}

/// Number of a boxed enum, sign- or zero-extended, and whether it is signed.
fn number(boxed: Obj) -> (u64, bool) {
    use ElementType as E;
    match boxed.ty().underlying().element_type {
        E::I1 => (boxed.number::<i8>() as i64 as u64, true),
        E::Boolean | E::U1 => (u64::from(boxed.number::<u8>()), false),
        E::I2 => (boxed.number::<i16>() as i64 as u64, true),
        E::Char | E::U2 => (u64::from(boxed.number::<u16>()), false),
        E::I4 => (boxed.number::<i32>() as i64 as u64, true),
        E::U4 | E::R4 => (u64::from(boxed.number::<u32>()), false),
        E::I8 | E::I => (boxed.number(), true),
        _ => (boxed.number(), false),
    }
}

fn has_flag(t: CurrentThread, this: Option<Obj>, flags: Option<Obj>) -> Managed<bool> {
    let this = non_null_this(t, this)?;
    let flags = non_null_this(t, flags)?;
    let (value, wanted) = (number(this).0, number(flags).0);
    Ok(value & wanted == wanted)
}

/// Equals the `GetHashCode` of the integer types.
fn hash_code(t: CurrentThread, this: Option<Obj>) -> Managed<i32> {
    use ElementType as E;
    let this = non_null_this(t, this)?;
    let bits = number(this).0;
    Ok(match this.ty().underlying().element_type {
        E::I1 => {
            let value = bits as i32;
            value ^ (value << 8)
        }
        E::I2 => i32::from(bits as u16) | ((bits as i32) << 16),
        E::I8 | E::U8 | E::I | E::U | E::R8 => bits as i32 ^ (bits >> 32) as i32,
        _ => bits as i32,
    })
}

/// Results of `InternalCompareTo` that mean an error, not an order.
const OTHER_TYPE: i32 = 2;

fn compare_to(t: CurrentThread, left: Option<Obj>, right: Option<Obj>) -> Managed<i32> {
    let Some(left) = left else {
        return Err(argument_error(t, "The left side of an enum comparison is null."));
    };
    let Some(right) = right else { return Ok(1) };
    if left.ty() != right.ty() {
        return Ok(OTHER_TYPE);
    }
    let ((left, signed), (right, _)) = (number(left), number(right));
    let order = if signed { (left as i64).cmp(&(right as i64)) } else { left.cmp(&right) };
    Ok(match order {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    })
}

/// The internal calls of `System.Enum`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Enum::InternalGetUnderlyingType", &underlying_type),
    InternalCall::new("System.Enum::GetEnumValuesAndNames", &values_and_names),
    InternalCall::new("System.Enum::InternalBoxEnum", &box_enum),
    InternalCall::new("System.Enum::get_value", &get_value),
    InternalCall::new("System.Enum::InternalHasFlag", &has_flag),
    InternalCall::new("System.Enum::get_hashcode", &hash_code),
    InternalCall::new("System.Enum::InternalCompareTo", &compare_to),
];
