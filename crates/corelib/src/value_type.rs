//! System.ValueType, Enum and MethodTable: how values are compared and hashed, the names of an enum's values.

use crate::arguments::{ObjectPlace, TypeArgument};
use crate::class_fields::ty_of;
use saki_abi::method_table::MethodTable;
use saki_metadata::{ConstantValue, TableId, Token};
use saki_reflect::constants::constant_of;
use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions;
use saki_runtime::object::method_tables::{self, type_of_handle};
use saki_runtime::object::references::Plain;
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Obj, Str, ToManaged};
use saki_types::{ElementType, Field, LoadResult, Ty, universe};

/// The type of a table.
///
/// # Safety
/// The address is that of a type's table.
unsafe fn type_of(table: *const MethodTable) -> Ty {
    // SAFETY: the address is one that managed code passes to the call, of memory that stays for it.
    unsafe { type_of_handle(table.addr()) }
}

fn instance_fields(ty: Ty) -> LoadResult<impl Iterator<Item = &'static Field>> {
    Ok(ty.fields()?.iter().copied().filter(|field| !field.is_static()))
}

/// Whether a value type has its own `Equals (object)` or `GetHashCode ()`.
fn has_own(ty: Ty, name: &str, parameters: &[Ty]) -> LoadResult<bool> {
    Ok(ty.find_method_sig(name, parameters)?.is_some_and(|method| method.is_virtual() && !method.is_new_slot()))
}

/// Whether values are equal exactly if all their bits are: no references, floats, gaps, or fields with another
/// equality.
fn compares_bits(ty: Ty) -> LoadResult<bool> {
    use ElementType as E;
    if !ty.ref_offsets()?.is_empty() || ty.inline_array_length()?.is_some() {
        return Ok(false);
    }
    let mut field_bytes = 0;
    for field in instance_fields(ty)? {
        let field_type = field.ty()?;
        field_bytes += field_type.value_size_bytes()?;
        match field_type.element_type {
            E::R4 | E::R8 => return Ok(false),
            E::ValueType if !field_type.is_enum() => {
                let object = universe().object();
                let has_own_equality =
                    has_own(field_type, "Equals", &[object])? || has_own(field_type, "GetHashCode", &[])?;
                if has_own_equality || !compares_bits(field_type)? {
                    return Ok(false);
                }
            }
            _ => {}
        }
    }
    Ok(field_bytes == ty.value_size_bytes()?)
}

/// An inline array has one field for all its elements, so that it has no equality of its own.
fn refuse_inline_array(t: CurrentThread, ty: Ty) -> Managed<()> {
    match ty.inline_array_length().to_managed(t)? {
        None => Ok(()),
        Some(_) => {
            let message = "Calling built-in Equals() or GetHashCode() on type marked as InlineArray is invalid.";
            Err(exceptions::throw(t, ExceptionType::NotSupported, message))
        }
    }
}

fn can_compare_bits(t: CurrentThread, table: *const MethodTable) -> Managed<i32> {
    // SAFETY: managed code passes the table of a value type.
    let ty = unsafe { type_of(table) };
    refuse_inline_array(t, ty)?;
    compares_bits(ty).to_managed(t).map(i32::from)
}

/// `ValueTypeHashCodeStrategy`.
mod strategy {
    pub(super) const NONE: i32 = 0;
    pub(super) const REFERENCE_FIELD: i32 = 1;
    pub(super) const DOUBLE_FIELD: i32 = 2;
    pub(super) const SINGLE_FIELD: i32 = 3;
    pub(super) const FAST: i32 = 4;
    pub(super) const OWN_METHOD: i32 = 5;
}

/// The first field of which a value's hash code is made.
struct HashedField {
    strategy: i32,
    offset_bytes: u32,
    size_bytes: u32,
    ty: Option<Ty>,
}

/// The hashed field of a value of type `ty` that lies `start` bytes behind the header of `holder`.
fn hashed_field(ty: Ty, holder: Obj, start: u32) -> LoadResult<HashedField> {
    use ElementType as E;
    let found = |strategy, offset_bytes, size_bytes| HashedField { strategy, offset_bytes, size_bytes, ty: None };
    if compares_bits(ty)? {
        return Ok(found(strategy::FAST, start, ty.value_size_bytes()?));
    }
    for field in instance_fields(ty)? {
        let field_type = field.ty()?;
        let offset_bytes = start + field.offset_bytes()?;
        if field_type.is_reference_type() {
            // SAFETY: the field of references lies in the box.
            let word = unsafe { holder.data().add(offset_bytes as usize).cast::<saki_abi::ObjRef>().read() };
            // SAFETY: the word was read from a field.
            if unsafe { Obj::from_word(word) }.is_some() {
                return Ok(found(strategy::REFERENCE_FIELD, offset_bytes, 0));
            }
            continue;
        }
        return Ok(match field_type.element_type {
            E::R8 => found(strategy::DOUBLE_FIELD, offset_bytes, 8),
            E::R4 => found(strategy::SINGLE_FIELD, offset_bytes, 4),
            E::ValueType if !field_type.is_enum() => {
                if has_own(field_type, "GetHashCode", &[])? {
                    HashedField { ty: Some(field_type), ..found(strategy::OWN_METHOD, offset_bytes, 0) }
                } else if compares_bits(field_type)? {
                    found(strategy::FAST, offset_bytes, field_type.value_size_bytes()?)
                } else {
                    hashed_field(field_type, holder, offset_bytes)?
                }
            }
            _ => found(strategy::FAST, offset_bytes, field_type.value_size_bytes()?),
        });
    }
    Ok(found(strategy::NONE, start, 0))
}

fn hash_strategy(
    t: CurrentThread,
    table: *const MethodTable,
    object: ObjectPlace,
    offset_bytes: *mut u32,
    size_bytes: *mut u32,
    field_table: *mut *const MethodTable,
) -> Managed<i32> {
    // SAFETY: managed code passes the table of the object's type.
    let ty = unsafe { type_of(table) };
    refuse_inline_array(t, ty)?;
    let Some(holder) = object.get() else { return Ok(strategy::NONE) };
    let found = hashed_field(ty, holder, 0).to_managed(t)?;
    let its_table = match found.ty {
        Some(ty) => method_tables::method_table(ty).to_managed(t)?,
        None => std::ptr::null(),
    };
    // SAFETY: managed code passes the addresses of locals, which live as long as the call.
    unsafe {
        offset_bytes.write(found.offset_bytes);
        size_bytes.write(found.size_bytes);
        field_table.write(its_table);
    }
    Ok(found.strategy)
}

/// The bits of an enum's constant.
fn bits_of(value: &ConstantValue) -> u64 {
    match value {
        ConstantValue::Boolean(v) => u64::from(*v),
        ConstantValue::Char(v) => u64::from(*v),
        ConstantValue::I1(v) => *v as u64,
        ConstantValue::U1(v) => u64::from(*v),
        ConstantValue::I2(v) => *v as u64,
        ConstantValue::U2(v) => u64::from(*v),
        ConstantValue::I4(v) => *v as u64,
        ConstantValue::U4(v) => u64::from(*v),
        ConstantValue::I8(v) => *v as u64,
        ConstantValue::U8(v) => *v,
        ConstantValue::R4(v) => u64::from(v.to_bits()),
        ConstantValue::R8(v) => v.to_bits(),
        ConstantValue::String(_) | ConstantValue::Null => 0,
    }
}

/// The element type of the array in which managed code wants an enum's values: unsigned integers.
fn storage_of(ty: Ty) -> ElementType {
    use ElementType as E;
    match ty.underlying().element_type {
        E::I1 | E::Boolean => E::U1,
        E::I2 => E::U2,
        E::I4 => E::U4,
        E::I8 => E::U8,
        E::I => E::U,
        other => other,
    }
}

fn store<T: Plain>(array: Array, values: &[u64], convert: impl Fn(u64) -> T) {
    let values: Vec<T> = values.iter().map(|value| convert(*value)).collect();
    array.set_numbers(0, &values);
}

fn enum_values(
    t: CurrentThread,
    ty: TypeArgument,
    values: ObjectPlace,
    names: ObjectPlace,
    with_names: i32,
) -> Managed<()> {
    let ty = ty.ty();
    let mut found = Vec::new();
    let fields: Vec<&'static Field> =
        ty.fields().to_managed(t)?.iter().copied().filter(|field| field.is_literal()).collect();
    for field in &fields {
        let value = constant_of(t, field.image(), Token::new(TableId::Field, field.rid))?;
        found.push(value.as_ref().map_or(0, bits_of));
    }
    let array = Array::new(t, universe().primitive(storage_of(ty)), fields.len())?;
    match array.element_size_bytes() {
        1 => store(array, &found, |bits| bits as u8),
        2 => store(array, &found, |bits| bits as u16),
        4 => store(array, &found, |bits| bits as u32),
        _ => store(array, &found, |bits| bits),
    }
    values.set(t, array);
    if with_names != 0 {
        let array = Array::new(t, universe().string(), fields.len())?;
        for (index, field) in fields.iter().enumerate() {
            array.set(t, index, Some(Str::new(t, field.name)?.into()));
        }
        names.set(t, array);
    }
    Ok(())
}

/// Whether managed code may take a pointer or an integer of the same size for a value of the other type.
fn can_cast_specially(_t: CurrentThread, value: Option<Obj>, target: Option<Obj>) -> bool {
    let (value, target) = (ty_of(value), ty_of(target));
    if target.is_pointer() {
        return value == target || value == universe().intptr() || value == universe().uintptr();
    }
    widens(value.underlying().element_type, target.underlying().element_type)
        || value.is_value_type() && value.underlying() == target.underlying()
}

/// Whether each number of one type is one of the other, as reflected calls convert them.
fn widens(from: ElementType, to: ElementType) -> bool {
    use ElementType as E;
    let targets: &[ElementType] = match from {
        E::Char | E::U2 => &[E::Char, E::U2, E::I4, E::U4, E::I8, E::U8, E::R4, E::R8],
        E::I1 => &[E::I1, E::I2, E::I4, E::I8, E::R4, E::R8],
        E::U1 => &[E::U1, E::Char, E::U2, E::I2, E::I4, E::U4, E::I8, E::U8, E::R4, E::R8],
        E::I2 => &[E::I2, E::I4, E::I8, E::R4, E::R8],
        E::I4 => &[E::I4, E::I8, E::R4, E::R8],
        E::U4 => &[E::U4, E::I8, E::U8, E::R4, E::R8],
        E::I8 => &[E::I8, E::R4, E::R8],
        E::U8 => &[E::U8, E::R4, E::R8],
        E::R4 => &[E::R4, E::R8],
        _ => &[],
    };
    targets.contains(&to)
}

/// The internal calls of `System.ValueType`, `System.Enum` and `System.Runtime.CompilerServices.MethodTable`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net QCall::MethodTable_CanCompareBitsOrUseFastGetHashCode", &can_compare_bits),
    InternalCall::new("@net QCall::ValueType_GetHashCodeStrategy", &hash_strategy),
    InternalCall::new("@net QCall::Enum_GetValuesAndNames", &enum_values),
    InternalCall::new("@net9 System.RuntimeType::CanValueSpecialCast", &can_cast_specially),
];
