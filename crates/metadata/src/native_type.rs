//! Marshalling descriptors: the blobs of FieldMarshal. ECMA-335 §II.23.4.
//!
//! Invariant: absent trailing parts give `None`. Left out: what a descriptor means for a parameter.

use crate::bytes::ByteCursor;
use crate::error::BadImage;
use crate::image::Image;
use crate::token::BlobIdx;

/// `NATIVE_TYPE_*` numbers with parameters or with a use in this crate; the others have no names here.
pub mod native {
    /// 4 bytes, 0 or 1.
    pub const BOOLEAN: u8 = 0x02;
    /// 1 byte, signed.
    pub const I1: u8 = 0x03;
    /// 1 byte, unsigned.
    pub const U1: u8 = 0x04;
    /// 2 bytes, signed.
    pub const I2: u8 = 0x05;
    /// 2 bytes, unsigned.
    pub const U2: u8 = 0x06;
    /// 4 bytes, signed.
    pub const I4: u8 = 0x07;
    /// 4 bytes, unsigned.
    pub const U4: u8 = 0x08;
    /// 8 bytes, signed.
    pub const I8: u8 = 0x09;
    /// 8 bytes, unsigned.
    pub const U8: u8 = 0x0a;
    /// A float of 4 bytes.
    pub const R4: u8 = 0x0b;
    /// A float of 8 bytes.
    pub const R8: u8 = 0x0c;
    /// `decimal` as COM's CURRENCY: 8 bytes, in ten-thousandths.
    pub const CURRENCY: u8 = 0x0f;
    /// Pointer to UTF-16 preceded by its length in bytes.
    pub const BSTR: u8 = 0x13;
    /// Pointer to NUL-terminated ANSI characters, which are UTF-8 here.
    pub const LPSTR: u8 = 0x14;
    /// Pointer to NUL-terminated UTF-16.
    pub const LPWSTR: u8 = 0x15;
    /// Pointer to NUL-terminated characters of the platform's set.
    pub const LPTSTR: u8 = 0x16;
    /// Fixed number of characters in a struct.
    pub const BYVALTSTR: u8 = 0x17;
    /// COM interface pointer `IUnknown`.
    pub const IUNKNOWN: u8 = 0x19;
    /// COM interface pointer `IDispatch`.
    pub const IDISPATCH: u8 = 0x1a;
    /// `object` as VARIANT; a struct by value.
    pub const STRUCT: u8 = 0x1b;
    /// COM interface pointer of the type's interface.
    pub const INTERFACE: u8 = 0x1c;
    /// COM's SAFEARRAY.
    pub const SAFEARRAY: u8 = 0x1d;
    /// Fixed number of elements in a struct.
    pub const BYVALARRAY: u8 = 0x1e;
    /// Signed, of the size of a pointer.
    pub const INT: u8 = 0x1f;
    /// Unsigned, of the size of a pointer.
    pub const UINT: u8 = 0x20;
    /// Visual Basic's string that the callee may change.
    pub const VBBYREFSTR: u8 = 0x22;
    /// Pointer to ANSI characters preceded by their length in bytes.
    pub const ANSIBSTR: u8 = 0x23;
    /// Pointer to characters of the platform's set preceded by their length in bytes.
    pub const TBSTR: u8 = 0x24;
    /// 2 bytes, 0 or −1.
    pub const VARIANTBOOL: u8 = 0x25;
    /// Pointer to a function.
    pub const FUNC: u8 = 0x26;
    /// Form chosen by the type of the object at run time.
    pub const ASANY: u8 = 0x28;
    /// Pointer to the first element.
    pub const LPARRAY: u8 = 0x2a;
    /// Pointer to a struct.
    pub const LPSTRUCT: u8 = 0x2b;
    /// A custom marshaler's form, named by the type.
    pub const CUSTOM: u8 = 0x2c;
    /// HRESULT: 4 bytes.
    pub const ERROR: u8 = 0x2d;
    /// Pointer to NUL-terminated UTF-8.
    pub const LPUTF8STR: u8 = 0x30;
    /// "No element type", the default.
    pub const MAX: u8 = 0x50;
}

/// A marshalling descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NativeTypeRaw {
    /// A type without parameters: a number of `native`.
    Simple(u8),
    /// Characters in place, `ByValTStr`.
    FixedString {
        char_count: u32,
    },
    /// Elements in place, `ByValArray`.
    FixedArray {
        elem_count: u32,
        elem: Option<u8>,
    },
    /// Pointer to elements, `LPArray`.
    Array {
        /// `native::MAX` or absent = follow the managed element type.
        elem: Option<u8>,
        /// Parameter that gives the count, 0-based.
        size_param: Option<u16>,
        /// Number of elements in addition to the value of `size_param`.
        size_const: Option<u32>,
        /// Lowest bit 0: `size_param` is written as 0 but absent.
        flags: Option<u32>,
    },
    SafeArray {
        variant_type: Option<u32>,
        record_type: Option<String>,
    },
    /// `Interface`, `IUnknown`, `IDispatch`.
    Interface {
        kind: u8,
        iid_param: Option<u32>,
    },
    Custom {
        guid: String,
        native_type_name: String,
        marshaler_type: String,
        cookie: String,
    },
}

/// Decodes a FieldMarshal blob. Errors: it ends too early; a string is not UTF-8.
pub fn parse_native_type(blob: &[u8]) -> Result<NativeTypeRaw, BadImage> {
    let mut cursor = ByteCursor::new(blob);
    let short = |cursor: &ByteCursor<'_>| BadImage::in_blob(cursor.pos(), "marshalling descriptor is cut short");
    let kind = cursor.u8().ok_or_else(|| short(&cursor))?;
    Ok(match kind {
        native::BYVALTSTR => NativeTypeRaw::FixedString { char_count: cursor.compressed_u32().unwrap_or(0) },
        native::BYVALARRAY => NativeTypeRaw::FixedArray {
            // Written by `MarshalAs` without SizeConst: one element.
            elem_count: cursor.compressed_u32().unwrap_or(1),
            elem: cursor.u8(),
        },
        native::LPARRAY => NativeTypeRaw::Array {
            elem: cursor.u8(),
            size_param: cursor.compressed_u32().map(|number| number as u16),
            size_const: cursor.compressed_u32(),
            flags: cursor.compressed_u32(),
        },
        native::SAFEARRAY => NativeTypeRaw::SafeArray {
            variant_type: cursor.compressed_u32(),
            record_type: if cursor.remaining() > 0 { Some(read_string(&mut cursor)?) } else { None },
        },
        native::IUNKNOWN | native::IDISPATCH | native::INTERFACE => {
            NativeTypeRaw::Interface { kind, iid_param: cursor.compressed_u32() }
        }
        native::CUSTOM => NativeTypeRaw::Custom {
            guid: read_string(&mut cursor)?,
            native_type_name: read_string(&mut cursor)?,
            marshaler_type: read_string(&mut cursor)?,
            cookie: if cursor.remaining() > 0 { read_string(&mut cursor)? } else { String::new() },
        },
        simple => NativeTypeRaw::Simple(simple),
    })
}

fn read_string(cursor: &mut ByteCursor<'_>) -> Result<String, BadImage> {
    let offset = cursor.pos();
    let bytes = cursor
        .compressed_u32()
        .and_then(|len| cursor.take(len as usize))
        .ok_or_else(|| BadImage::in_blob(offset, "string in a marshalling descriptor is cut short"))?;
    std::str::from_utf8(bytes)
        .map(str::to_owned)
        .map_err(|_| BadImage::in_blob(offset, "string in a marshalling descriptor is not UTF-8"))
}

impl Image {
    /// See the free function `parse_native_type`; errors name the file.
    pub fn parse_native_type(&self, index: BlobIdx) -> Result<NativeTypeRaw, BadImage> {
        parse_native_type(self.blob(index)?).map_err(|error| self.rebase(error, self.blob_offset(index)))
    }
}

#[cfg(test)]
mod tests {
    use super::{NativeTypeRaw, native, parse_native_type};

    #[test]
    fn descriptors() {
        assert_eq!(parse_native_type(&[0x14]), Ok(NativeTypeRaw::Simple(native::LPSTR)));
        assert_eq!(parse_native_type(&[0x17, 0x80, 0x80]), Ok(NativeTypeRaw::FixedString { char_count: 128 }));
        assert_eq!(
            parse_native_type(&[0x2a, 0x50, 2]),
            Ok(NativeTypeRaw::Array { elem: Some(native::MAX), size_param: Some(2), size_const: None, flags: None })
        );
        let custom = [&[0x2c, 0, 0, 3][..], b"A.B", &[1], b"c"].concat();
        assert!(matches!(
            parse_native_type(&custom),
            Ok(NativeTypeRaw::Custom { marshaler_type, cookie, .. }) if marshaler_type == "A.B" && cookie == "c"
        ));
        assert!(parse_native_type(&[]).is_err());
        assert!(parse_native_type(&[0x2c, 5]).is_err());
    }
}
