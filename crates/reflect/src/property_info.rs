//! System.Reflection.RuntimePropertyInfo.

use crate::constants::{constant_object, constant_of};
use crate::field_info::is_own_or_inherited;
use crate::handles::{Handle, property_of};
use crate::members::{Property, properties_of};
use crate::native_memory::StructPlace;
use crate::objects::{method_object, property_object};
use saki_metadata::TableId;
use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::{CurrentThread, InternalCall, Managed, ManagedField, Obj, Str};
use saki_types::method::method_flags;
use saki_types::{LibraryType, Method, Ty, Type};

/// System.Reflection.PInfo: which fields to fill.
mod wanted {
    /// The flags.
    pub const ATTRIBUTES: i32 = 1;
    /// The accessor that gets.
    pub const GETTER: i32 = 2;
    /// The accessor that sets.
    pub const SETTER: i32 = 4;
    /// The type through which it was found.
    pub const REFLECTED_TYPE: i32 = 8;
    /// The class that declares it.
    pub const DECLARING_TYPE: i32 = 0x10;
    /// The name.
    pub const NAME: i32 = 0x20;
}

fn require_property(t: CurrentThread, property: Option<Obj>) -> Managed<(&'static Property, Ty)> {
    property.and_then(property_of).ok_or_else(|| exceptions::throw_argument_null(t, "property"))
}

/// The accessor's object; null for a private accessor of a base type.
fn accessor_object<'t>(
    t: CurrentThread<'t>,
    accessor: Option<&'static Method>,
    reflected: Ty,
) -> Managed<Option<Obj<'t>>> {
    match accessor {
        Some(method)
            if method.flags & method_flags::ACCESS_MASK != method_flags::PRIVATE || method.owner == reflected =>
        {
            method_object(t, method, reflected).map(Some)
        }
        _ => Ok(None),
    }
}

/// `get_property_info(property, ref MonoPropertyInfo, PInfo)`
fn get_property_info(t: CurrentThread, property: Option<Obj>, info: StructPlace, which: i32) -> Managed<()> {
    static PARENT: ManagedField = ManagedField::new(LibraryType::MonoPropertyInfo, "parent");
    static DECLARING: ManagedField = ManagedField::new(LibraryType::MonoPropertyInfo, "declaring_type");
    static NAME: ManagedField = ManagedField::new(LibraryType::MonoPropertyInfo, "name");
    static GETTER: ManagedField = ManagedField::new(LibraryType::MonoPropertyInfo, "get_method");
    static SETTER: ManagedField = ManagedField::new(LibraryType::MonoPropertyInfo, "set_method");
    static ATTRIBUTES: ManagedField = ManagedField::new(LibraryType::MonoPropertyInfo, "attrs");
    let (property, reflected) = require_property(t, property)?;
    if which & wanted::REFLECTED_TYPE != 0 {
        info.set_ref(t, &PARENT, Obj::of_type(t, reflected)?);
    }
    if which & wanted::DECLARING_TYPE != 0 {
        info.set_ref(t, &DECLARING, Obj::of_type(t, property.owner)?);
    }
    if which & wanted::NAME != 0 {
        info.set_ref(t, &NAME, Str::new(t, property.name)?);
    }
    if which & wanted::GETTER != 0 {
        info.set_ref(t, &GETTER, accessor_object(t, property.getter, reflected)?);
    }
    if which & wanted::SETTER != 0 {
        info.set_ref(t, &SETTER, accessor_object(t, property.setter, reflected)?);
    }
    if which & wanted::ATTRIBUTES != 0 {
        info.set(&ATTRIBUTES, i32::from(property.flags));
    }
    Ok(())
}

fn get_default_value<'t>(t: CurrentThread<'t>, property: Option<Obj>) -> Managed<Option<Obj<'t>>> {
    let (property, _) = require_property(t, property)?;
    match constant_of(t, property.image, property.token())? {
        Some(value) => {
            let ty = property.value_type().to_managed(t)?;
            constant_object(t, &value, ty)
        }
        None => Err(exceptions::throw_default(t, ExceptionType::InvalidOperation)),
    }
}

fn get_metadata_token(t: CurrentThread, property: Option<Obj>) -> Managed<i32> {
    let property = require_property(t, property)?.0;
    Ok(property.image.shown_token(TableId::Property, property.rid).0 as i32)
}

/// `internal_from_handle_type(property, type)`; null when the type does not have the property.
fn from_handle<'t>(t: CurrentThread<'t>, property: Handle<Property>, ty: Handle<Type>) -> Managed<Option<Obj<'t>>> {
    let (property, ty) = (property.get(), ty.get());
    let Some(property) = property else { return Ok(None) };
    let Some(ty) = ty else { return property_object(t, property, property.owner).map(Some) };
    if is_own_or_inherited(ty, property.owner).to_managed(t)? {
        return property_object(t, property, ty).map(Some);
    }
    if ty.generic_definition().is_none() || ty.generic_definition() != property.owner.generic_definition() {
        return Ok(None);
    }
    properties_of(ty)
        .to_managed(t)?
        .iter()
        .find(|p| p.rid == property.rid)
        .map(|found| property_object(t, found, ty))
        .transpose()
}

/// The internal calls of `System.Reflection.RuntimePropertyInfo`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Reflection.RuntimePropertyInfo::get_property_info", &get_property_info),
    InternalCall::new("System.Reflection.RuntimePropertyInfo::get_default_value", &get_default_value),
    InternalCall::new("System.Reflection.RuntimePropertyInfo::get_metadata_token", &get_metadata_token),
    InternalCall::new("System.Reflection.RuntimePropertyInfo::internal_from_handle_type", &from_handle),
];
