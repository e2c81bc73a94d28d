//! RuntimeParameterInfo objects: name, type, attributes, default value, marshalling.

use crate::cache::{self, ObjectKind};
use crate::constants::{constant_object, constant_of};
use crate::field_access::get_value;
use crate::handles::{address, method_of};
use crate::marshal_as::marshal_as_object;
use crate::objects::method_object;
use saki_metadata::{ConstantValue, ParamRow, Rid, TableId, Token};
use saki_runtime::ExceptionType;
use saki_runtime::exec::invoke::{self, Slot};
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, ManagedField, Obj, Str};
use saki_types::{LibraryType, LoadError, LoadResult, Method, MethodKind, Ty, universe};

/// The method, constructor or property whose parameter it is.
pub static MEMBER: ManagedField = ManagedField::new(LibraryType::ParameterInfo, "MemberImpl");
/// Its index; −1 for the result.
pub static POSITION: ManagedField = ManagedField::new(LibraryType::ParameterInfo, "PositionImpl");

/// `ParamAttributes`, §II.23.1.13.
pub(crate) mod param_flags {
    /// `out`.
    pub const OUT: u16 = 0x2;
    /// It may be left out.
    pub const OPTIONAL: u16 = 0x10;
    /// It has a row in the table of constants.
    pub const HAS_DEFAULT: u16 = 0x1000;
}

/// The Param row of a parameter; `sequence` 0 is the return value.
///
/// # Errors
/// `BadImageFormat`.
pub fn param_row(method: &'static Method, sequence: u16) -> LoadResult<Option<(Rid, ParamRow)>> {
    let MethodKind::Def { image, rid } = method.kind else { return Ok(None) };
    for param in image.meta.method_params(rid)? {
        let row = image.meta.param(param)?;
        if row.sequence == sequence {
            return Ok(Some((param, row)));
        }
    }
    Ok(None)
}

/// The MarshalAsAttribute of a parameter, if it has one; `sequence` 0 is the return value.
///
/// # Errors
/// BadImageFormatException.
pub fn marshal_as<'t>(t: CurrentThread<'t>, method: &'static Method, sequence: u16) -> Managed<Option<Obj<'t>>> {
    match param_row(method, sequence).to_managed(t)? {
        Some((rid, _)) => marshal_as_object(t, method.image(), Token::new(TableId::Param, rid)),
        None => Ok(None),
    }
}

/// The ParameterInfo[] of a method, cached: managed code copies it before giving it away.
///
/// # Errors
/// BadImageFormatException, load errors of parameter types.
pub fn parameter_objects<'t>(t: CurrentThread<'t>, method: &'static Method, reflected: Ty) -> Managed<Obj<'t>> {
    let make = || make_all(t, method, reflected).map(Obj::from);
    cache::get_or_make(t, ObjectKind::Parameters, address(method), address(reflected), make)
}

fn make_all<'t>(t: CurrentThread<'t>, method: &'static Method, reflected: Ty) -> Managed<Array<'t>> {
    let sig = method.sig().to_managed(t)?;
    let class = universe().library_type(LibraryType::RuntimeParameterInfo).to_managed(t)?;
    let member = method_object(t, method, reflected)?;
    let array = Array::new(t, class, sig.params.len())?;
    let mut rows: Vec<Option<(Rid, ParamRow)>> = vec![None; sig.params.len()];
    if let MethodKind::Def { image, rid } = method.kind {
        for param in image.meta.method_params(rid).map_err(LoadError::from).to_managed(t)? {
            let row = image.meta.param(param).map_err(LoadError::from).to_managed(t)?;
            if let Some(slot) = usize::from(row.sequence).checked_sub(1).and_then(|i| rows.get_mut(i)) {
                *slot = Some((param, row));
            }
        }
    }
    for (index, (&ty, row)) in sig.params.iter().zip(rows).enumerate() {
        let made = make(t, method, ty, index, row, member)?;
        array.set(t, index, Some(made));
    }
    Ok(array)
}

fn make<'t>(
    t: CurrentThread<'t>,
    method: &'static Method,
    ty: Ty,
    index: usize,
    row: Option<(Rid, ParamRow)>,
    member: Obj,
) -> Managed<Obj<'t>> {
    let class = universe().library_type(LibraryType::RuntimeParameterInfo).to_managed(t)?;
    let meta = &method.image().meta;
    let made = Obj::new(t, class)?;
    let flags = row.as_ref().map_or(0, |(_, row)| row.flags);
    let name = match &row {
        Some((_, row)) => meta.string(row.name).map_err(LoadError::from).to_managed(t)?,
        None => "",
    };
    // Parameters without a row have the empty name.
    let name = Str::new(t, name)?;
    let default = default_value(t, method, ty, row.as_ref())?;
    let marshal = match &row {
        Some((rid, _)) => marshal_as_object(t, method.image(), Token::new(TableId::Param, *rid))?,
        None => None,
    };
    let type_object = Obj::of_type(t, ty)?;
    // RuntimeParameterInfo(string, Type, int, int, object, MemberInfo, MarshalAsAttribute)
    let Some(ctor) = class.find_method(".ctor", 7).to_managed(t)? else {
        return Err(exceptions::throw_default(t, ExceptionType::MissingMethod));
    };
    let words = [
        Slot::from_ref(made),
        Slot::from_ref(name),
        Slot::from_ref(type_object),
        Slot::from_i32(index as i32),
        Slot::from_i32(i32::from(flags)),
        Slot::from_ref(default),
        Slot::from_ref(member),
        Slot::from_ref(marshal),
    ];
    invoke::invoke(t, ctor, &words)?;
    Ok(made)
}

/// The default value; Missing.Value for an optional parameter without one, else DBNull.Value.
fn default_value<'t>(
    t: CurrentThread<'t>,
    method: &'static Method,
    ty: Ty,
    row: Option<&(Rid, ParamRow)>,
) -> Managed<Option<Obj<'t>>> {
    let flags = row.map_or(0, |(_, row)| row.flags);
    if let Some((rid, _)) = row
        && flags & param_flags::HAS_DEFAULT != 0
        && let Some(value) = constant_of(t, method.image(), Token::new(TableId::Param, *rid))?
    {
        let as_type = if value == ConstantValue::Null { None } else { Some(ty) };
        return constant_object(t, &value, as_type);
    }
    match flags & param_flags::OPTIONAL != 0 {
        true => static_value(t, LibraryType::Missing, "Value"),
        false => static_value(t, LibraryType::DBNull, "Value"),
    }
}

/// The value of a static field of corlib.
fn static_value<'t>(t: CurrentThread<'t>, owner: LibraryType, field: &str) -> Managed<Option<Obj<'t>>> {
    let ty = universe().library_type(owner).to_managed(t)?;
    match ty.find_field(field).to_managed(t)? {
        Some(field) => get_value(t, field, None),
        None => Ok(None),
    }
}

/// `RuntimeParameterInfo.GetMetadataToken()`
fn get_metadata_token(t: CurrentThread, this: Option<Obj>) -> Managed<i32> {
    let Some(this) = this else { return Ok(0) };
    let Some(method) = MEMBER.obj(this).and_then(method_of) else { return Ok(0) };
    let sequence = (POSITION.get::<i32>(this) + 1) as u16;
    let row = param_row(method, sequence).to_managed(t)?;
    Ok(Token::new(TableId::Param, row.map_or(0, |(rid, _)| rid)).0 as i32)
}

/// The internal calls of `System.Reflection.RuntimeParameterInfo`.
pub const TABLE: &[InternalCall] =
    &[InternalCall::new("System.Reflection.RuntimeParameterInfo::GetMetadataToken", &get_metadata_token)];
