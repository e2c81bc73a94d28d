//! Why .NET refuses to marshal a value, in its words.
//!
//! Left out: deciding what is refused (`native_type`, `plan`, `layout`), which is the same for all class libraries but
//! for some fields; and types with DisableRuntimeMarshallingAttribute (`unmarshalled`).

use super::native_type::{MarshalPosition, handle_class};
use saki_metadata::NativeTypeRaw;
use saki_metadata::native_type::native;
use saki_types::ty::type_flags;
use saki_types::{ElementType, LibraryType, LoadResult, Ty};

const PAIRING: &str = "Invalid managed/unmanaged type combination";

/// "Cannot marshal 'parameter #1': …." for a value that is refused. `index`: 0 = the result.
///
/// # Errors
/// The errors of loading base classes.
pub(super) fn of_parameter(ty: Ty, index: u32, by_ref: bool, raw: Option<&NativeTypeRaw>) -> LoadResult<String> {
    let what = if index == 0 { "return value".to_owned() } else { format!("parameter #{index}") };
    let place = if index == 0 { MarshalPosition::Return } else { MarshalPosition::Param };
    let is_abstract_handle = ty.is_abstract() && handle_class(ty)?.is_some();
    let reason = match (is_abstract_handle, by_ref) {
        (true, true) => "Ref and out SafeHandle parameters cannot be abstract".to_owned(),
        (true, false) if index == 0 => "Returned SafeHandles cannot be abstract".to_owned(),
        _ => reason(ty, raw, place)?,
    };
    Ok(format!("Cannot marshal '{what}': {reason}."))
}

/// Why a value of this type is refused, without the full stop.
///
/// # Errors
/// The errors of loading base classes.
pub(super) fn reason(ty: Ty, raw: Option<&NativeTypeRaw>, place: MarshalPosition) -> LoadResult<String> {
    use ElementType as E;
    let paired = |with: &str| format!("{PAIRING} ({with})");
    Ok(match ty.element_type {
        E::TypedByRef => "There is no marshaling support for this type".to_owned(),
        E::Boolean => paired("booleans must be paired with I1, U1, or Bool"),
        E::Char => paired("chars must be paired with I1, I2, U1, or U2"),
        E::String => paired("String parameters and return types must be paired with LPStr, LPWStr, or LPTStr"),
        E::SzArray | E::Array => of_array(ty, raw, place),
        _ if ty.is(LibraryType::Int128) || ty.is(LibraryType::UInt128) => {
            "System.Int128 and System.UInt128 cannot be passed by value to unmanaged".to_owned()
        }
        _ if ty.generic_definition().is_some() => "Non-blittable generic types cannot be marshaled".to_owned(),
        E::ValueType if ty.flags() & type_flags::LAYOUT_MASK == 0 => {
            "Structures marked with [StructLayout(LayoutKind.Auto)] cannot be marshaled".to_owned()
        }
        _ if ty.is(LibraryType::StringBuilder) && place == MarshalPosition::Field => {
            "Struct or class fields cannot be of type StringBuilder. The same effect can usually be achieved by using a \
             String field and preinitializing it to a string with length matching the length of the appropriate buffer"
                .to_owned()
        }
        E::ValueType if matches!(raw, Some(NativeTypeRaw::Simple(native::LPSTRUCT))) => {
            paired("this value type must be paired with Struct")
        }
        E::Object => paired("Marshaling to and from COM VARIANTs isn't supported"),
        E::Class => paired("Marshaling to and from COM interface pointers isn't supported"),
        _ => PAIRING.to_owned(),
    })
}

fn of_array(ty: Ty, raw: Option<&NativeTypeRaw>, place: MarshalPosition) -> String {
    match raw {
        _ if ty.element().is_some_and(|element| element.is_array()) => {
            "There is no marshaling support for nested arrays".to_owned()
        }
        Some(NativeTypeRaw::SafeArray { .. }) => {
            format!("{PAIRING} (Arrays can only be marshaled as LPArray or ByValArray)")
        }
        _ if place == MarshalPosition::Param => "Signature is not Interop compatible".to_owned(),
        _ => PAIRING.to_owned(),
    }
}
