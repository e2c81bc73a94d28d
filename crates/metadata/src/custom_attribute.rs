//! Custom attribute blobs. ECMA-335 §II.23.3.
//!
//! Invariant: decoding uses memory in proportion to the blob and recursion at most `MAX_DEPTH` deep. The
//! blob does not say how wide an enum is, so an `EnumResolver` does. Left out: naming the members of the
//! attribute type, and security permission sets.

use crate::bytes::ByteCursor;
use crate::element_type::ElementType;
use crate::error::BadImage;
use crate::image::Image;
use crate::signature::TypeSig;
use crate::token::{BlobIdx, TableId, Token};
use std::borrow::Cow;

/// Deepest nesting of arrays and boxed values accepted; real blobs stay below 4.
const MAX_DEPTH: u32 = 32;

/// An enum type, as named by the constructor's signature or by the blob.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CaEnumType {
    /// TypeDef or TypeRef of the image with the constructor's signature.
    Token(Token),
    /// Serialized name, assembly-qualified when the enum lives elsewhere.
    Name(String),
}

/// The type of an attribute argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CaTypeHint {
    /// `Boolean`..`R8` or `String`.
    Prim(ElementType),
    /// `System.Type`.
    Type,
    /// `object`: the blob says which type follows.
    Object,
    Enum(CaEnumType),
    SzArray(Box<CaTypeHint>),
}

/// A decoded argument.
#[derive(Clone, Debug, PartialEq)]
pub enum CaValue {
    Boolean(bool),
    /// UTF-16 unit.
    Char(u16),
    I1(i8),
    U1(u8),
    I2(i16),
    U2(u16),
    I4(i32),
    U4(u32),
    I8(i64),
    U8(u64),
    R4(f32),
    R8(f64),
    String(Option<String>),
    /// Serialized name of a type; `None` = null.
    Type(Option<String>),
    /// `value` is a primitive of the underlying type.
    Enum {
        ty: CaEnumType,
        value: Box<CaValue>,
    },
    /// An argument of type `object`, with the type the blob gives.
    Boxed {
        ty: CaTypeHint,
        value: Box<CaValue>,
    },
    /// `None` = null.
    Array {
        elem: CaTypeHint,
        items: Option<Vec<CaValue>>,
    },
}

/// A named argument: a field or property to set.
#[derive(Clone, Debug, PartialEq)]
pub struct CaNamedArg {
    pub is_property: bool,
    pub name: String,
    pub ty: CaTypeHint,
    pub value: CaValue,
}

/// A decoded attribute blob.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct CustomAttributeArgs {
    /// Constructor arguments.
    pub fixed: Vec<CaValue>,
    pub named: Vec<CaNamedArg>,
}

/// Finds the underlying type of an enum: `Boolean`, `Char` or `I1`..`U8`; `None` when it is unknown.
pub trait EnumResolver {
    fn enum_underlying_type(&self, enum_type: &CaEnumType) -> Option<ElementType>;
}

impl<F: Fn(&CaEnumType) -> Option<ElementType>> EnumResolver for F {
    fn enum_underlying_type(&self, enum_type: &CaEnumType) -> Option<ElementType> {
        self(enum_type)
    }
}

impl CaTypeHint {
    /// The hint of a constructor parameter in a signature of `image`.
    ///
    /// Errors: a type that no attribute argument can have; a name is invalid.
    pub fn from_sig(image: &Image, sig: &TypeSig) -> Result<Self, BadImage> {
        Ok(match sig {
            TypeSig::Prim(ElementType::Object) => Self::Object,
            TypeSig::Prim(element) if Self::is_prim(*element) => Self::Prim(*element),
            TypeSig::ValueType(token) => Self::Enum(CaEnumType::Token(*token)),
            TypeSig::Class(token) => match image.type_name_of_token(*token)? {
                ("System", "Type") => Self::Type,
                ("System", "Object") => Self::Object,
                ("System", "String") => Self::Prim(ElementType::String),
                (namespace, name) => {
                    let what = format!("attribute argument of type {namespace}.{name}");
                    return Err(image.bad_image(0, what));
                }
            },
            TypeSig::SzArray(elem) => match Self::from_sig(image, elem)? {
                Self::SzArray(_) => return Err(image.bad_image(0, "attribute argument is an array of arrays")),
                elem => Self::SzArray(Box::new(elem)),
            },
            TypeSig::Modified { inner, .. } => Self::from_sig(image, inner)?,
            other => return Err(image.bad_image(0, format!("attribute argument of type {other:?}"))),
        })
    }

    fn is_prim(element: ElementType) -> bool {
        element.primitive_size_bytes().is_some() || element == ElementType::String
    }
}

impl Image {
    /// Namespace and name of a TypeDef or TypeRef. Errors: another table; an invalid row or name.
    pub fn type_name_of_token(&self, token: Token) -> Result<(&str, &str), BadImage> {
        let (namespace, name) = match token.table() {
            TableId::TypeDef => self.type_def(token.rid()).map(|row| (row.namespace, row.name))?,
            TableId::TypeRef => self.type_ref(token.rid()).map(|row| (row.namespace, row.name))?,
            _ => return Err(self.bad_image(0, format!("{token} has no name"))),
        };
        Ok((self.string(namespace)?, self.string(name)?))
    }

    /// See the free function `parse_custom_attribute`; errors name the file.
    pub fn parse_custom_attribute(
        &self,
        value: BlobIdx,
        ctor_sig: &[CaTypeHint],
        resolver: &dyn EnumResolver,
    ) -> Result<CustomAttributeArgs, BadImage> {
        parse_custom_attribute(self.blob(value)?, ctor_sig, resolver)
            .map_err(|error| self.rebase(error, self.blob_offset(value)))
    }
}

/// Decodes an attribute blob whose constructor has the parameters `ctor_sig`. An empty blob stands for
/// no arguments.
///
/// Errors: the blob ends early, has a wrong prolog or type byte; an enum is unknown to `resolver`.
pub fn parse_custom_attribute(
    blob: &[u8],
    ctor_sig: &[CaTypeHint],
    resolver: &dyn EnumResolver,
) -> Result<CustomAttributeArgs, BadImage> {
    if blob.is_empty() && ctor_sig.is_empty() {
        return Ok(CustomAttributeArgs::default());
    }
    let mut reader = CaReader { cursor: ByteCursor::new(blob), resolver };
    if reader.cursor.u16() != Some(0x0001) {
        return Err(reader.error("attribute blob without prolog"));
    }
    let mut fixed = Vec::with_capacity(ctor_sig.len());
    for hint in ctor_sig {
        fixed.push(reader.value(hint, 0)?);
    }
    // Some compilers leave out the count of named arguments when it is 0.
    let named_count = if reader.cursor.remaining() == 0 { 0 } else { reader.u16()? };
    let mut named = Vec::new();
    for _ in 0..named_count {
        named.push(reader.named_arg()?);
    }
    Ok(CustomAttributeArgs { fixed, named })
}

/// Decodes `count` named arguments from the start of `blob`, as a security attribute holds them.
/// Errors: as `parse_custom_attribute`.
pub fn parse_named_args(blob: &[u8], count: u32, resolver: &dyn EnumResolver) -> Result<Vec<CaNamedArg>, BadImage> {
    let mut reader = CaReader { cursor: ByteCursor::new(blob), resolver };
    (0..count).map(|_| reader.named_arg()).collect()
}

struct CaReader<'a> {
    cursor: ByteCursor<'a>,
    resolver: &'a dyn EnumResolver,
}

impl CaReader<'_> {
    #[cold]
    fn error(&self, what: impl Into<String>) -> BadImage {
        BadImage::in_blob(self.cursor.pos(), what)
    }

    fn short(&self) -> BadImage {
        self.error("attribute blob ends too early")
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], BadImage> {
        self.cursor.array().ok_or_else(|| self.short())
    }

    fn u8(&mut self) -> Result<u8, BadImage> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Result<u16, BadImage> {
        self.array().map(u16::from_le_bytes)
    }

    /// A SerString; 0xff = null.
    fn string(&mut self) -> Result<Option<String>, BadImage> {
        if self.cursor.peek_u8() == Some(0xff) {
            self.u8()?;
            return Ok(None);
        }
        let len = self.cursor.compressed_u32().ok_or_else(|| self.short())?;
        let bytes = self.cursor.take(len as usize).ok_or_else(|| self.short())?;
        Ok(Some(text_of(bytes).into_owned()))
    }

    /// A FieldOrPropType.
    fn type_hint(&mut self, depth: u32) -> Result<CaTypeHint, BadImage> {
        if depth > MAX_DEPTH {
            return Err(self.error("attribute types are nested too deep"));
        }
        let byte = self.u8()?;
        Ok(match ElementType::from_u8(byte) {
            Some(element) if CaTypeHint::is_prim(element) => CaTypeHint::Prim(element),
            Some(ElementType::CaType) => CaTypeHint::Type,
            Some(ElementType::CaBoxed | ElementType::Object) => CaTypeHint::Object,
            Some(ElementType::SzArray) => CaTypeHint::SzArray(Box::new(self.type_hint(depth + 1)?)),
            Some(ElementType::CaEnum) => {
                let name = self.string()?.ok_or_else(|| self.error("enum without a name"))?;
                CaTypeHint::Enum(CaEnumType::Name(name))
            }
            _ => return Err(self.error(format!("{byte:#04x} is no attribute type"))),
        })
    }

    fn primitive(&mut self, element: ElementType) -> Result<CaValue, BadImage> {
        Ok(match element {
            ElementType::Boolean => CaValue::Boolean(self.u8()? != 0),
            ElementType::Char => CaValue::Char(self.u16()?),
            ElementType::I1 => CaValue::I1(self.u8()? as i8),
            ElementType::U1 => CaValue::U1(self.u8()?),
            ElementType::I2 => CaValue::I2(self.array().map(i16::from_le_bytes)?),
            ElementType::U2 => CaValue::U2(self.u16()?),
            ElementType::I4 => CaValue::I4(self.array().map(i32::from_le_bytes)?),
            ElementType::U4 => CaValue::U4(self.array().map(u32::from_le_bytes)?),
            ElementType::I8 => CaValue::I8(self.array().map(i64::from_le_bytes)?),
            ElementType::U8 => CaValue::U8(self.array().map(u64::from_le_bytes)?),
            ElementType::R4 => CaValue::R4(self.array().map(f32::from_le_bytes)?),
            ElementType::R8 => CaValue::R8(self.array().map(f64::from_le_bytes)?),
            ElementType::String => CaValue::String(self.string()?),
            other => return Err(self.error(format!("{other:?} is no primitive"))),
        })
    }

    fn value(&mut self, hint: &CaTypeHint, depth: u32) -> Result<CaValue, BadImage> {
        if depth > MAX_DEPTH {
            return Err(self.error("attribute values are nested too deep"));
        }
        Ok(match hint {
            CaTypeHint::Prim(element) => self.primitive(*element)?,
            CaTypeHint::Type => CaValue::Type(self.string()?),
            CaTypeHint::Object => {
                let ty = self.type_hint(depth)?;
                let value = Box::new(self.value(&ty, depth + 1)?);
                CaValue::Boxed { ty, value }
            }
            CaTypeHint::Enum(ty) => {
                let underlying = self
                    .resolver
                    .enum_underlying_type(ty)
                    .filter(|element| element.primitive_size_bytes().is_some())
                    .ok_or_else(|| self.error(format!("unknown enum {ty:?}")))?;
                let value = Box::new(self.primitive(underlying)?);
                CaValue::Enum { ty: ty.clone(), value }
            }
            CaTypeHint::SzArray(elem) => {
                let elem = (**elem).clone();
                let count = self.array().map(u32::from_le_bytes)?;
                if count == u32::MAX {
                    return Ok(CaValue::Array { elem, items: None });
                }
                if count as usize > self.cursor.remaining() {
                    return Err(self.short());
                }
                let mut items = Vec::with_capacity(count as usize);
                for _ in 0..count {
                    items.push(self.value(&elem, depth + 1)?);
                }
                CaValue::Array { elem, items: Some(items) }
            }
        })
    }

    fn named_arg(&mut self) -> Result<CaNamedArg, BadImage> {
        let kind = self.u8()?;
        let is_property = match ElementType::from_u8(kind) {
            Some(ElementType::CaProperty) => true,
            Some(ElementType::CaField) => false,
            _ => return Err(self.error(format!("{kind:#04x} is neither field nor property"))),
        };
        let ty = self.type_hint(0)?;
        let name = self.string()?.ok_or_else(|| self.error("named argument without a name"))?;
        let value = self.value(&ty, 0)?;
        Ok(CaNamedArg { is_property, name, ty, value })
    }
}

/// The text of a SerString's bytes. A lone surrogate in a C# literal is written as 3 bytes that UTF-8 forbids; as on
/// .NET, its first two bytes become one U+FFFD and the third another.
pub fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    /// The first byte of U+D000 to U+DFFF.
    const LEAD: u8 = 0xed;
    let Err(_) = std::str::from_utf8(bytes) else { return String::from_utf8_lossy(bytes) };
    let mut text = String::with_capacity(bytes.len());
    let mut is_after_lead = false;
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        let is_second = is_after_lead && chunk.valid().is_empty();
        is_after_lead = chunk.invalid() == [LEAD];
        if !chunk.invalid().is_empty() && !is_second {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::{CaEnumType, CaTypeHint, CaValue, parse_custom_attribute};
    use crate::element_type::ElementType;

    fn int_enums(_: &CaEnumType) -> Option<ElementType> {
        Some(ElementType::I4)
    }

    #[test]
    fn fixed_and_named_arguments() {
        let mut blob = vec![1, 0, 3, b'a', b'b', b'c', 0xff, 1, 0, 0x54, 0x55, 1, b'E', 1, b'P'];
        blob.extend([5, 0, 0, 0]);
        let hints = [CaTypeHint::Prim(ElementType::String), CaTypeHint::Type];
        let args = parse_custom_attribute(&blob, &hints, &int_enums).expect("valid");
        assert_eq!(args.fixed, [CaValue::String(Some("abc".into())), CaValue::Type(None)]);
        assert!(args.named[0].is_property);
        let ty = CaEnumType::Name("E".into());
        assert_eq!(args.named[0].value, CaValue::Enum { ty, value: Box::new(CaValue::I4(5)) });
        for len in 0..blob.len() {
            // Cutting right after the fixed arguments leaves a blob without the count, which is accepted.
            assert_eq!(parse_custom_attribute(&blob[..len], &hints, &int_enums).is_err(), len != 7);
        }
    }

    #[test]
    fn boxed_arrays_and_depth_limit() {
        let blob = [1, 0, 0x1d, 0x51, 2, 0, 0, 0, 0x08, 7, 0, 0, 0, 0x0e, 0xff, 0, 0];
        let args = parse_custom_attribute(&blob, &[CaTypeHint::Object], &int_enums).expect("valid");
        let CaValue::Boxed { value, .. } = &args.fixed[0] else { panic!("boxed expected") };
        let CaValue::Array { items: Some(items), .. } = &**value else { panic!("array expected") };
        assert_eq!(items.len(), 2);
        let bomb = [&[1, 0][..], &[0x51; 10_000]].concat();
        assert!(parse_custom_attribute(&bomb, &[CaTypeHint::Object], &int_enums).is_err());
    }
}
