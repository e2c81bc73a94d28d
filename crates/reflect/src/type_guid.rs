//! `RuntimeType.GetGUID`, by which the class libraries of Mono 6.14 and of .NET find the value of a type's
//! GuidAttribute; older ones do so in managed code.
//!
//! Left out: the numbers that .NET computes for types without the attribute (`corelib::generated_guid`). In Mono's
//! class libraries they have the number 0.

use crate::custom_attributes::provider_of;
use saki_metadata::{CaEnumType, CaTypeHint, CaValue, ElementType, parse_custom_attribute};
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::{Array, CurrentThread, ExceptionType, InternalCall, Managed, Obj};
use saki_types::LoadError;
use saki_types::class::attribute_blob;

/// `System.Guid`: a 32-bit number, two of 16 bits, eight bytes.
const SIZE_BYTES: usize = 16;

/// Digits of "00112233-4455-6677-8899-aabbccddeeff" between its hyphens.
const GROUPS: [usize; 5] = [8, 4, 4, 4, 12];

/// The bytes, in the order of `Guid.ToByteArray`, of a number with or without hyphens, braces or parentheses.
fn parse(text: &str) -> Option<[u8; SIZE_BYTES]> {
    let text = text.trim();
    let enclosed = |open, close| text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    let text = enclosed('{', '}').or_else(|| enclosed('(', ')')).unwrap_or(text);
    let digits = text.replace('-', "");
    let has_groups = || text.split('-').map(str::len).eq(GROUPS);
    let is_number = digits.len() == 2 * SIZE_BYTES && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if !is_number || digits.len() != text.len() && !has_groups() {
        return None;
    }
    let mut bytes = u128::from_str_radix(&digits, 16).ok()?.to_be_bytes();
    bytes[..4].reverse();
    bytes[4..6].reverse();
    bytes[6..8].reverse();
    Some(bytes)
}

/// `GetGUID(type, byte[16])`: the array stays 0 for a type without the attribute.
fn get_guid(t: CurrentThread, ty: Option<Obj>, guid: Option<Array>) -> Managed<()> {
    let Some(guid) = guid.filter(|guid| guid.bytes().is_some_and(|bytes| bytes.len() == SIZE_BYTES)) else {
        return Err(exceptions::throw_argument_null(t, "guid"));
    };
    if let Some(bytes) = value_of_attribute(t, ty)? {
        guid.set_numbers(0, &bytes);
    }
    Ok(())
}

/// The value of the GuidAttribute of a RuntimeType, in the order of `Guid.ToByteArray`; None without the attribute.
///
/// # Errors
/// FormatException for a text that is not a GUID.
pub fn value_of_attribute(t: CurrentThread, ty: Option<Obj>) -> Managed<Option<[u8; SIZE_BYTES]>> {
    let Some(provider) = provider_of(t, ty)? else { return Ok(None) };
    let blob = attribute_blob(provider.image, provider.parent, "System.Runtime.InteropServices", "GuidAttribute");
    let Some(blob) = blob.to_managed(t)? else { return Ok(None) };
    let hints = [CaTypeHint::Prim(ElementType::String)];
    let no_enums = |_: &CaEnumType| None;
    let decoded = parse_custom_attribute(blob, &hints, &no_enums).map_err(LoadError::from).to_managed(t)?;
    let Some(CaValue::String(Some(text))) = decoded.fixed.first() else { return Ok(None) };
    match parse(text) {
        Some(bytes) => Ok(Some(bytes)),
        None => {
            let message = format!("{text} is not a GUID.");
            Err(exceptions::throw(t, ExceptionType::Format, &message))
        }
    }
}

/// The internal calls of `System.RuntimeType`.
pub const TABLE: &[InternalCall] = &[InternalCall::new("@6.14 System.RuntimeType::GetGUID", &get_guid)];

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn numbers_are_read_in_the_forms_that_guids_have() {
        let bytes = [0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff];
        let plain = "00112233-4455-6677-8899-AAbbccddeeff";
        for text in [plain, " 00112233445566778899aabbccddeeff ", &format!("{{{plain}}}"), &format!("({plain})")] {
            assert_eq!(parse(text), Some(bytes), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_numbers() {
        let plain = "00112233-4455-6677-8899-aabbccddeeff";
        let misplaced = "0011223-34455-6677-8899-aabbccddeeff";
        let signed = "+0112233445566778899aabbccddeeff";
        for text in ["", "-", &plain[1..], &format!("{plain}0"), &format!("{{{plain}"), misplaced, signed, "é"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
