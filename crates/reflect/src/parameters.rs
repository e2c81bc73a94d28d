//! RuntimeParameterInfo objects: name, type, attributes, default value, marshalling.

use crate::cache::{self, Kind};
use crate::constants::{constant_object, constant_of};
use crate::handles::{address, method_of};
use crate::known;
use crate::marshal_as::marshal_as_object;
use crate::objects::method_object;
use saki_metadata::{ConstantValue, ParamRow, Rid, TableId, Token};
use saki_runtime::exceptions::{self, ToManaged};
use saki_runtime::invoke::{self, Slot};
use saki_runtime::type_objects::type_object;
use saki_runtime::{CurrentThread, InternalCall, Managed, ManagedField, ObjRef, class_init, object, strings};
use saki_types::{LoadError, LoadResult, Method, MethodKind, Ty, universe};

pub static MEMBER: ManagedField = ManagedField::corlib("System.Reflection", "ParameterInfo", "MemberImpl");
pub static POSITION: ManagedField = ManagedField::corlib("System.Reflection", "ParameterInfo", "PositionImpl");

/// `ParamAttributes`, §II.23.1.13.
pub(crate) mod param_flags {
    pub const OUT: u16 = 0x2;
    pub const OPTIONAL: u16 = 0x10;
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

/// The MarshalAsAttribute of a parameter, or null; `sequence` 0 is the return value.
///
/// # Errors
/// BadImageFormatException.
pub fn marshal_as(t: CurrentThread, method: &'static Method, sequence: u16) -> Managed<ObjRef> {
    match param_row(method, sequence).to_managed(t)? {
        Some((rid, _)) => marshal_as_object(t, method.image(), Token::new(TableId::Param, rid)),
        None => Ok(ObjRef::NULL),
    }
}

/// The ParameterInfo[] of a method, cached: managed code copies it before giving it away.
///
/// # Errors
/// BadImageFormatException, load errors of parameter types.
pub fn parameter_objects(t: CurrentThread, method: &'static Method, reflected: Ty) -> Managed<ObjRef> {
    cache::get_or_make(Kind::Parameters, address(method), address(reflected), || make_all(t, method, reflected))
}

fn make_all(t: CurrentThread, method: &'static Method, reflected: Ty) -> Managed<ObjRef> {
    let sig = method.sig().to_managed(t)?;
    let class = known::RUNTIME_PARAMETER_INFO.get(t)?;
    let member = method_object(t, method, reflected)?;
    let array = object::new_array(t, class, sig.params.len())?;
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
        object::set_element_ref(t, array, index, made);
    }
    Ok(array)
}

fn make(
    t: CurrentThread,
    method: &'static Method,
    ty: Ty,
    index: usize,
    row: Option<(Rid, ParamRow)>,
    member: ObjRef,
) -> Managed<ObjRef> {
    let class = known::RUNTIME_PARAMETER_INFO.get(t)?;
    let meta = &method.image().meta;
    let made = object::new_instance(t, class)?;
    let flags = row.as_ref().map_or(0, |(_, row)| row.flags);
    let name = match &row {
        Some((_, row)) => meta.string(row.name).map_err(LoadError::from).to_managed(t)?,
        None => "",
    };
    // Parameters without a row have the empty name.
    let name = strings::new_string(t, name)?;
    let default = default_value(t, method, ty, row.as_ref())?;
    let marshal = match &row {
        Some((rid, _)) => marshal_as_object(t, method.image(), Token::new(TableId::Param, *rid))?,
        None => ObjRef::NULL,
    };
    let type_object = type_object(t, ty)?;
    // RuntimeParameterInfo(string, Type, int, int, object, MemberInfo, MarshalAsAttribute)
    let Some(ctor) = class.find_method(".ctor", 7).to_managed(t)? else {
        return Err(exceptions::throw_default(t, "MissingMethodException"));
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
fn default_value(t: CurrentThread, method: &'static Method, ty: Ty, row: Option<&(Rid, ParamRow)>) -> Managed<ObjRef> {
    let flags = row.map_or(0, |(_, row)| row.flags);
    if let Some((rid, _)) = row
        && flags & param_flags::HAS_DEFAULT != 0
        && let Some(value) = constant_of(t, method.image(), Token::new(TableId::Param, *rid))?
    {
        let as_type = if value == ConstantValue::Null { None } else { Some(ty) };
        return constant_object(t, &value, as_type);
    }
    match flags & param_flags::OPTIONAL != 0 {
        true => static_value(t, "System.Reflection", "Missing", "Value"),
        false => static_value(t, "System", "DBNull", "Value"),
    }
}

/// The value of a static reference field of corlib.
fn static_value(t: CurrentThread, namespace: &str, name: &str, field: &str) -> Managed<ObjRef> {
    let ty = universe().corlib_type(namespace, name).to_managed(t)?;
    class_init::ensure(t, ty)?;
    let Some(field) = ty.find_field(field).to_managed(t)? else { return Ok(ObjRef::NULL) };
    let address = saki_runtime::statics::static_field_address(field).to_managed(t)?;
    // SAFETY: the slot of a static reference field.
    Ok(unsafe { *(address as *const ObjRef) })
}

/// `RuntimeParameterInfo.GetMetadataToken()`
fn get_metadata_token(t: CurrentThread, this: ObjRef) -> i32 {
    t.run(|| {
        let member = MEMBER.get_ref(this);
        let Some(method) = (if member.is_null() { None } else { method_of(member) }) else { return Ok(0) };
        let sequence = (POSITION.get::<i32>(this) + 1) as u16;
        let row = param_row(method, sequence).to_managed(t)?;
        Ok(Token::new(TableId::Param, row.map_or(0, |(rid, _)| rid)).0 as i32)
    })
}

pub const TABLE: &[InternalCall] =
    &[InternalCall::new("System.Reflection.RuntimeParameterInfo::GetMetadataToken", &get_metadata_token)];
