//! MarshalAsAttribute objects from marshalling descriptors. ECMA-335 §II.23.4.

use crate::type_lookup::{Scope, find};
use saki_metadata::{NativeTypeRaw, Token, native_type::native};
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::{CurrentThread, Managed, ManagedField, Obj, Str};
use saki_types::type_name::parse_type_name;
use saki_types::{Image, LibraryType, LoadError, universe};

macro_rules! fields {
    ($($name:ident = $field:literal;)*) => {
        $(static $name: ManagedField = ManagedField::new(LibraryType::MarshalAsAttribute, $field);)*
    };
}
fields! {
    COOKIE = "MarshalCookie";
    TYPE_NAME = "MarshalType";
    TYPE_REF = "MarshalTypeRef";
    UNMANAGED_TYPE = "utype";
    ARRAY_SUB_TYPE = "ArraySubType";
    SIZE_CONST = "SizeConst";
    SIZE_PARAM_INDEX = "SizeParamIndex";
}

/// The MarshalAsAttribute of a field or parameter; null when it has no descriptor.
///
/// # Errors
/// BadImageFormatException.
pub fn marshal_as_object<'t>(t: CurrentThread<'t>, image: &'static Image, parent: Token) -> Managed<Option<Obj<'t>>> {
    let raw = image
        .meta
        .field_marshal(parent)
        .and_then(|row| row.map(|r| image.meta.parse_native_type(r.native_type)).transpose());
    let Some(raw) = raw.map_err(LoadError::from).to_managed(t)? else { return Ok(None) };
    let made = Obj::new(t, universe().library_type(LibraryType::MarshalAsAttribute).to_managed(t)?)?;
    let unmanaged_type = match &raw {
        NativeTypeRaw::Simple(number) => *number,
        NativeTypeRaw::FixedString { .. } => native::BYVALTSTR,
        NativeTypeRaw::FixedArray { .. } => native::BYVALARRAY,
        NativeTypeRaw::Array { .. } => native::LPARRAY,
        NativeTypeRaw::SafeArray { .. } => native::SAFEARRAY,
        NativeTypeRaw::Interface { kind, .. } => *kind,
        NativeTypeRaw::Custom { .. } => native::CUSTOM,
    };
    UNMANAGED_TYPE.set(made, i32::from(unmanaged_type));
    match &raw {
        NativeTypeRaw::FixedString { char_count } => SIZE_CONST.set(made, *char_count as i32),
        NativeTypeRaw::FixedArray { elem_count, .. } => SIZE_CONST.set(made, *elem_count as i32),
        NativeTypeRaw::Array { elem, size_param, size_const, .. } => {
            ARRAY_SUB_TYPE.set(made, i32::from(elem.unwrap_or(native::MAX)));
            if let Some(count) = size_const {
                SIZE_CONST.set(made, *count as i32);
            }
            if let Some(index) = size_param {
                SIZE_PARAM_INDEX.set(made, *index as i16);
            }
        }
        NativeTypeRaw::Custom { marshaler_type, cookie, .. } => {
            let scope = Scope {
                image,
                ignore_case: false,
                search_corlib: true,
                raise_type_resolve: true,
                reflection_only: false,
            };
            if let Some(name) = parse_type_name(marshaler_type)
                && let Some(ty) = find(t, &name, &scope)?
            {
                TYPE_REF.set_ref(t, made, Obj::of_type(t, ty)?);
            }
            TYPE_NAME.set_ref(t, made, Str::new(t, marshaler_type)?);
            COOKIE.set_ref(t, made, Str::new(t, cookie)?);
        }
        _ => {}
    }
    Ok(Some(made))
}
