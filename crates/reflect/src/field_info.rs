//! System.Reflection.RuntimeFieldInfo and FieldInfo: facts about fields.

use crate::handles::{FIELD_CLASS, Handle, require_field};
use crate::marshal_as::marshal_as_object;
use crate::objects::field_object;
use saki_metadata::{TableId, Token};
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj};
use saki_types::{Field, LoadResult, Ty, Type};

/// Whether `owner` is `ty` or one of its base types.
pub(crate) fn is_own_or_inherited(ty: Ty, owner: Ty) -> LoadResult<bool> {
    Ok(ty == owner || ty.is_subclass_of(owner)?)
}

/// `FieldInfo.internal_from_handle_type(field, type)`; null when the type does not have the field.
fn from_handle<'t>(t: CurrentThread<'t>, field: Handle<Field>, ty: Handle<Type>) -> Managed<Option<Obj<'t>>> {
    let (field, ty) = (field.get(), ty.get());
    let Some(field) = field else { return Ok(None) };
    let Some(ty) = ty else { return field_object(t, field, field.owner).map(Some) };
    match is_own_or_inherited(ty, field.owner).to_managed(t)? {
        true => field_object(t, field, ty).map(Some),
        false => Ok(None),
    }
}

fn resolve_type<'t>(t: CurrentThread<'t>, this: Option<Obj>) -> Managed<Obj<'t>> {
    let ty = require_field(t, this)?.ty().to_managed(t)?;
    Obj::of_type(t, ty)
}

/// `GetParentType(bool declaring)`: the declaring or the reflected type.
fn get_parent_type<'t>(t: CurrentThread<'t>, this: Option<Obj>, declaring: bool) -> Managed<Obj<'t>> {
    let field = require_field(t, this)?;
    let reflected = this.and_then(|this| FIELD_CLASS.get::<Handle<Type>>(this).get());
    let parent = if declaring { field.owner } else { reflected.unwrap_or(field.owner) };
    Obj::of_type(t, parent)
}

fn get_metadata_token(t: CurrentThread, field: Option<Obj>) -> Managed<i32> {
    let field = require_field(t, field)?;
    Ok(field.image().shown_token(TableId::Field, field.rid).0 as i32)
}

fn get_marshal_info<'t>(t: CurrentThread<'t>, this: Option<Obj>) -> Managed<Option<Obj<'t>>> {
    let field = require_field(t, this)?;
    marshal_as_object(t, field.image(), Token::new(TableId::Field, field.rid))
}

/// The internal calls of `System.Reflection.FieldInfo` and `System.Reflection.RuntimeFieldInfo`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Reflection.FieldInfo::internal_from_handle_type", &from_handle),
    InternalCall::new("System.Reflection.FieldInfo::get_marshal_info", &get_marshal_info),
    InternalCall::new("System.Reflection.RuntimeFieldInfo::ResolveType", &resolve_type),
    InternalCall::new("System.Reflection.RuntimeFieldInfo::GetParentType", &get_parent_type),
    InternalCall::new("System.Reflection.RuntimeFieldInfo::get_metadata_token", &get_metadata_token),
];
