//! System.Reflection.RuntimeFieldInfo and FieldInfo: facts about fields.

use crate::handles::{self, FIELD_CLASS, require_field};
use crate::marshal_as::marshal_as_object;
use crate::objects::field_object;
use saki_metadata::{TableId, Token};
use saki_runtime::exceptions::ToManaged;
use saki_runtime::type_objects::type_object;
use saki_runtime::{CurrentThread, InternalCall, Managed, ObjRef};
use saki_types::{LoadResult, Ty};

/// Whether `owner` is `ty` or one of its base types.
pub(crate) fn is_own_or_inherited(ty: Ty, owner: Ty) -> LoadResult<bool> {
    Ok(ty == owner || ty.is_subclass_of(owner)?)
}

/// `FieldInfo.internal_from_handle_type(field, type)`; null when the type does not have the field.
fn from_handle(t: CurrentThread, field: usize, ty: usize) -> ObjRef {
    t.run(|| -> Managed<ObjRef> {
        // SAFETY: the values of a RuntimeFieldHandle and a RuntimeTypeHandle.
        let (field, ty) = unsafe { (handles::field(field), handles::ty(ty)) };
        let Some(field) = field else { return Ok(ObjRef::NULL) };
        let Some(ty) = ty else { return field_object(t, field, field.owner) };
        match is_own_or_inherited(ty, field.owner).to_managed(t)? {
            true => field_object(t, field, ty),
            false => Ok(ObjRef::NULL),
        }
    })
}

fn resolve_type(t: CurrentThread, this: ObjRef) -> ObjRef {
    t.run(|| {
        let ty = require_field(t, this)?.ty().to_managed(t)?;
        type_object(t, ty)
    })
}

/// `GetParentType(bool declaring)`: the declaring or the reflected type.
fn get_parent_type(t: CurrentThread, this: ObjRef, declaring: u8) -> ObjRef {
    t.run(|| {
        let field = require_field(t, this)?;
        // SAFETY: the field holds a `Type`'s address.
        let reflected = unsafe { handles::ty(FIELD_CLASS.get(this)) };
        let parent = if declaring != 0 { field.owner } else { reflected.unwrap_or(field.owner) };
        type_object(t, parent)
    })
}

fn get_metadata_token(t: CurrentThread, field: ObjRef) -> i32 {
    t.run(|| {
        let field = require_field(t, field)?;
        Ok(field.image.shown_token(TableId::Field, field.rid).0 as i32)
    })
}

fn get_marshal_info(t: CurrentThread, this: ObjRef) -> ObjRef {
    t.run(|| {
        let field = require_field(t, this)?;
        marshal_as_object(t, field.image, Token::new(TableId::Field, field.rid))
    })
}

pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Reflection.FieldInfo::internal_from_handle_type", &from_handle),
    InternalCall::new("System.Reflection.FieldInfo::get_marshal_info", &get_marshal_info),
    InternalCall::new("System.Reflection.RuntimeFieldInfo::ResolveType", &resolve_type),
    InternalCall::new("System.Reflection.RuntimeFieldInfo::GetParentType", &get_parent_type),
    InternalCall::new("System.Reflection.RuntimeFieldInfo::get_metadata_token", &get_metadata_token),
];
