//! System.Enum.

use crate::arguments::{argument_error, argument_error_for, non_null_this, store_out};
use saki_abi::ObjRef;
use saki_metadata::{ConstantValue, ElementType, TableId, Token};
use saki_runtime::exceptions::ToManaged;
use saki_runtime::{CurrentThread, InternalCall, Managed, object, strings, type_objects};
use saki_types::{Field, LoadError, LoadErrorKind, LoadResult, Ty, universe};
use std::cmp::Ordering;

fn require_enum(t: CurrentThread, type_object: ObjRef) -> Managed<Ty> {
    let ty = type_objects::require(t, type_object, "enumType")?;
    if ty.is_enum() { Ok(ty) } else { Err(argument_error_for(t, "enumType", "Type provided must be an Enum.")) }
}

fn underlying_type(t: CurrentThread, enum_type: ObjRef) -> ObjRef {
    t.run(|| {
        let ty = require_enum(t, enum_type)?;
        type_objects::type_object(t, ty.underlying())
    })
}

/// A constant as `Enum` sorts it: sign-extended for signed types, zero-extended for others.
fn constant_bits(field: &'static Field) -> LoadResult<u64> {
    let meta = &field.image.meta;
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

/// Members in the order of declaration. True: the values ascend already, so that managed code need not sort.
fn values_and_names(t: CurrentThread, enum_type: ObjRef, values: *mut ObjRef, names: *mut ObjRef) -> i32 {
    t.run(|| {
        let ty = require_enum(t, enum_type)?;
        let members: Vec<&'static Field> =
            ty.fields().to_managed(t)?.iter().copied().filter(|f| f.is_static() && f.is_literal()).collect();
        let value_array = object::new_array(t, universe().uint64(), members.len())?;
        let name_array = object::new_array(t, universe().string(), members.len())?;
        let mut previous = 0;
        let mut ascending = true;
        for (index, field) in members.into_iter().enumerate() {
            let bits = constant_bits(field).to_managed(t)?;
            let name = strings::new_string(t, field.name)?;
            object::set_element_ref(t, name_array, index, name);
            // SAFETY: a ulong[] with an element for each member.
            unsafe { (object::element_address(value_array, index, 8) as *mut u64).write(bits) };
            ascending &= previous <= bits;
            previous = bits;
        }
        store_out(t, values, value_array);
        store_out(t, names, name_array);
        Ok(i32::from(ascending))
    })
}

fn box_enum(t: CurrentThread, enum_type: ObjRef, value: i64) -> ObjRef {
    t.run(|| {
        let ty = require_enum(t, enum_type)?;
        object::box_value(t, ty, (&raw const value).cast())
    })
}

/// The value as its integer type, boxed.
fn get_value(t: CurrentThread, this: ObjRef) -> ObjRef {
    t.run(|| {
        non_null_this(t, this)?;
        object::box_value(t, object::type_of(this).underlying(), object::unboxed(this))
    })
}

/// Number of a boxed enum, sign- or zero-extended, and whether it is signed.
fn number(boxed: ObjRef) -> (u64, bool) {
    use ElementType as E;
    let data = object::unboxed(boxed);
    // SAFETY: a boxed enum of this integer type; each arm reads its size.
    unsafe {
        match object::type_of(boxed).underlying().element_type {
            E::I1 => (*(data as *const i8) as i64 as u64, true),
            E::Boolean | E::U1 => (u64::from(*data), false),
            E::I2 => (*(data as *const i16) as i64 as u64, true),
            E::Char | E::U2 => (u64::from(*(data as *const u16)), false),
            E::I4 => (*(data as *const i32) as i64 as u64, true),
            E::U4 | E::R4 => (u64::from(*(data as *const u32)), false),
            E::I8 | E::I => (*(data as *const u64), true),
            _ => (*(data as *const u64), false),
        }
    }
}

fn has_flag(t: CurrentThread, this: ObjRef, flags: ObjRef) -> i32 {
    t.run(|| {
        non_null_this(t, this)?;
        non_null_this(t, flags)?;
        let (value, wanted) = (number(this).0, number(flags).0);
        Ok(i32::from(value & wanted == wanted))
    })
}

/// As the integer types' own `GetHashCode`.
fn hash_code(t: CurrentThread, this: ObjRef) -> i32 {
    use ElementType as E;
    t.run(|| {
        non_null_this(t, this)?;
        let bits = number(this).0;
        Ok(match object::type_of(this).underlying().element_type {
            E::I1 => {
                let value = bits as i32;
                value ^ (value << 8)
            }
            E::I2 => i32::from(bits as u16) | ((bits as i32) << 16),
            E::I8 | E::U8 | E::I | E::U | E::R8 => bits as i32 ^ (bits >> 32) as i32,
            _ => bits as i32,
        })
    })
}

/// Results of `InternalCompareTo` that are no ordering.
const OTHER_TYPE: i32 = 2;

fn compare_to(t: CurrentThread, left: ObjRef, right: ObjRef) -> i32 {
    t.run(|| {
        if left.is_null() {
            return Err(argument_error(t, "The left side of an enum comparison is null."));
        }
        if right.is_null() {
            return Ok(1);
        }
        if object::type_of(left) != object::type_of(right) {
            return Ok(OTHER_TYPE);
        }
        let ((left, signed), (right, _)) = (number(left), number(right));
        let order = if signed { (left as i64).cmp(&(right as i64)) } else { left.cmp(&right) };
        Ok(match order {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        })
    })
}

pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Enum::InternalGetUnderlyingType", &underlying_type),
    InternalCall::new("System.Enum::GetEnumValuesAndNames", &values_and_names),
    InternalCall::new("System.Enum::InternalBoxEnum", &box_enum),
    InternalCall::new("System.Enum::get_value", &get_value),
    InternalCall::new("System.Enum::InternalHasFlag", &has_flag),
    InternalCall::new("System.Enum::get_hashcode", &hash_code),
    InternalCall::new("System.Enum::InternalCompareTo", &compare_to),
];
