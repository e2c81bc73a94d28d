//! System.Reflection.RuntimePropertyInfo.

use crate::constants::{constant_object, constant_of};
use crate::field_info::is_own_or_inherited;
use crate::handles::{self, property_of};
use crate::members::{Property, properties_of};
use crate::native_memory::store_out;
use crate::objects::{method_object, property_object};
use saki_metadata::TableId;
use saki_runtime::exceptions::{self, ToManaged};
use saki_runtime::type_objects::type_object;
use saki_runtime::{CurrentThread, InternalCall, Managed, ManagedField, ObjRef, strings};
use saki_types::method::method_flags;
use saki_types::{Method, Ty};

/// System.Reflection.PInfo: which fields to fill.
mod wanted {
    pub const ATTRIBUTES: i32 = 1;
    pub const GETTER: i32 = 2;
    pub const SETTER: i32 = 4;
    pub const REFLECTED_TYPE: i32 = 8;
    pub const DECLARING_TYPE: i32 = 0x10;
    pub const NAME: i32 = 0x20;
}

fn require_property(t: CurrentThread, property: ObjRef) -> Managed<(&'static Property, Ty)> {
    let found = if property.is_null() { None } else { property_of(property) };
    found.ok_or_else(|| exceptions::throw_argument_null(t, "property"))
}

/// The accessor's object; null for a private accessor of a base type.
fn accessor_object(t: CurrentThread, accessor: Option<&'static Method>, reflected: Ty) -> Managed<ObjRef> {
    match accessor {
        Some(method)
            if method.flags & method_flags::ACCESS_MASK != method_flags::PRIVATE || method.owner == reflected =>
        {
            method_object(t, method, reflected)
        }
        _ => Ok(ObjRef::NULL),
    }
}

/// `get_property_info(property, ref MonoPropertyInfo, PInfo)`
fn get_property_info(t: CurrentThread, property: ObjRef, info: *mut u8, which: i32) {
    static PARENT: ManagedField = ManagedField::corlib("System.Reflection", "MonoPropertyInfo", "parent");
    static DECLARING: ManagedField = ManagedField::corlib("System.Reflection", "MonoPropertyInfo", "declaring_type");
    static NAME: ManagedField = ManagedField::corlib("System.Reflection", "MonoPropertyInfo", "name");
    static GETTER: ManagedField = ManagedField::corlib("System.Reflection", "MonoPropertyInfo", "get_method");
    static SETTER: ManagedField = ManagedField::corlib("System.Reflection", "MonoPropertyInfo", "set_method");
    static ATTRIBUTES: ManagedField = ManagedField::corlib("System.Reflection", "MonoPropertyInfo", "attrs");
    t.run(|| {
        let (property, reflected) = require_property(t, property)?;
        let put = |field: &ManagedField, value: ObjRef| {
            store_out(t, info.wrapping_add(field.offset_bytes()) as *mut ObjRef, value);
        };
        if which & wanted::REFLECTED_TYPE != 0 {
            put(&PARENT, type_object(t, reflected)?);
        }
        if which & wanted::DECLARING_TYPE != 0 {
            put(&DECLARING, type_object(t, property.owner)?);
        }
        if which & wanted::NAME != 0 {
            put(&NAME, strings::new_string(t, property.name)?);
        }
        if which & wanted::GETTER != 0 {
            put(&GETTER, accessor_object(t, property.getter, reflected)?);
        }
        if which & wanted::SETTER != 0 {
            put(&SETTER, accessor_object(t, property.setter, reflected)?);
        }
        if which & wanted::ATTRIBUTES != 0 {
            // SAFETY: a field of the caller's structure.
            unsafe { *(info.wrapping_add(ATTRIBUTES.offset_bytes()) as *mut i32) = i32::from(property.flags) };
        }
        Ok(())
    });
}

fn get_default_value(t: CurrentThread, property: ObjRef) -> ObjRef {
    t.run(|| {
        let (property, _) = require_property(t, property)?;
        match constant_of(t, property.image, property.token())? {
            Some(value) => {
                let ty = property.value_type().to_managed(t)?;
                constant_object(t, &value, ty)
            }
            None => Err(exceptions::throw_default(t, "InvalidOperationException")),
        }
    })
}

fn get_metadata_token(t: CurrentThread, property: ObjRef) -> i32 {
    t.run(|| {
        let property = require_property(t, property)?.0;
        Ok(property.image.shown_token(TableId::Property, property.rid).0 as i32)
    })
}

/// `internal_from_handle_type(property, type)`; null when the type does not have the property.
fn from_handle(t: CurrentThread, property: usize, ty: usize) -> ObjRef {
    t.run(|| {
        // SAFETY: the values of a RuntimePropertyHandle and a RuntimeTypeHandle.
        let (property, ty) = unsafe { (handles::property(property), handles::ty(ty)) };
        let Some(property) = property else { return Ok(ObjRef::NULL) };
        let Some(ty) = ty else { return property_object(t, property, property.owner) };
        if is_own_or_inherited(ty, property.owner).to_managed(t)? {
            return property_object(t, property, ty);
        }
        if ty.generic_definition().is_none() || ty.generic_definition() != property.owner.generic_definition() {
            return Ok(ObjRef::NULL);
        }
        match properties_of(ty).to_managed(t)?.iter().find(|p| p.rid == property.rid) {
            Some(found) => property_object(t, found, ty),
            None => Ok(ObjRef::NULL),
        }
    })
}

pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Reflection.RuntimePropertyInfo::get_property_info", &get_property_info),
    InternalCall::new("System.Reflection.RuntimePropertyInfo::get_default_value", &get_default_value),
    InternalCall::new("System.Reflection.RuntimePropertyInfo::get_metadata_token", &get_metadata_token),
    InternalCall::new("System.Reflection.RuntimePropertyInfo::internal_from_handle_type", &from_handle),
];
