//! Signatures as trees of raw tokens. ECMA-335 §II.23.2.
//!
//! Invariant: parsing uses memory in proportion to the blob and recursion at most `MAX_DEPTH` deep.
//! Left out: resolving tokens, and rules about where `void`, by-reference types and so on may stand.

use crate::element_type::ElementType;
use crate::error::BadImage;
use crate::image::Image;
use crate::sig_reader::SigReader;
use crate::token::{BlobIdx, Token};

/// Deepest nesting of types accepted. Real signatures stay below 20; 2 MB of stack hold far more.
const MAX_DEPTH: u32 = 128;

/// A type in a signature.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TypeSig {
    /// `Void`, `Boolean`..`R8`, `String`, `Object`, `TypedByRef`, `I`, `U`.
    Prim(ElementType),
    /// A reference type.
    Class(Token),
    ValueType(Token),
    /// Generic parameter of the type.
    Var(u32),
    /// Generic parameter of the method.
    MVar(u32),
    Ptr(Box<TypeSig>),
    ByRef(Box<TypeSig>),
    /// One-dimensional, zero-based array.
    SzArray(Box<TypeSig>),
    /// General array; `sizes` and `lo_bounds` may be shorter than `rank`. §II.23.2.13.
    Array {
        elem: Box<TypeSig>,
        rank: u32,
        sizes: Vec<u32>,
        lo_bounds: Vec<i32>,
    },
    GenericInst {
        is_value_type: bool,
        token: Token,
        args: Vec<TypeSig>,
    },
    FnPtr(Box<MethodSigRaw>),
    /// Local variables only.
    Pinned(Box<TypeSig>),
    /// A custom modifier; `required` = modreq.
    Modified {
        required: bool,
        token: Token,
        inner: Box<TypeSig>,
    },
}

/// The calling convention of a method signature: its lower 4 bits. §II.23.2.1–3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CallConv {
    Default = 0,
    C = 1,
    StdCall = 2,
    ThisCall = 3,
    FastCall = 4,
    VarArg = 5,
    /// The convention is in modifiers of the return type.
    Unmanaged = 9,
}

/// A method signature.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MethodSigRaw {
    pub has_this: bool,
    /// `this` is the first of `params`.
    pub explicit_this: bool,
    pub call_conv: CallConv,
    /// 0 = not generic.
    pub generic_param_count: u32,
    pub ret: TypeSig,
    pub params: Vec<TypeSig>,
    /// Number of fixed parameters at a vararg call site with a sentinel.
    pub sentinel: Option<usize>,
}

/// A property signature. §II.23.2.5.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PropertySigRaw {
    pub has_this: bool,
    pub ty: TypeSig,
    /// Types of the indices.
    pub params: Vec<TypeSig>,
}

/// The content of a StandAloneSig row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StandAloneSigRaw {
    Locals(Vec<TypeSig>),
    Method(MethodSigRaw),
    /// Written by some compilers for debug information.
    Field(TypeSig),
}

const FLAG_GENERIC: u8 = 0x10;
const FLAG_HAS_THIS: u8 = 0x20;
const FLAG_EXPLICIT_THIS: u8 = 0x40;
const KIND_FIELD: u8 = 0x06;
const KIND_LOCALS: u8 = 0x07;
const KIND_PROPERTY: u8 = 0x08;
const KIND_METHOD_SPEC: u8 = 0x0a;

impl SigReader<'_> {
    /// One type. Errors: the blob ends; invalid element type, integer or token; nested too deep.
    pub fn read_type(&mut self) -> Result<TypeSig, BadImage> {
        self.read_type_at(0)
    }

    /// A method signature from its first byte. Errors: as `read_type`; unknown calling convention.
    pub fn read_method(&mut self) -> Result<MethodSigRaw, BadImage> {
        self.read_method_at(0)
    }

    fn read_type_at(&mut self, depth: u32) -> Result<TypeSig, BadImage> {
        if depth > MAX_DEPTH {
            return Err(self.error("types are nested too deep"));
        }
        let boxed = |reader: &mut Self| reader.read_type_at(depth + 1).map(Box::new);
        let element = self.read_element_type()?;
        Ok(match element {
            simple if simple.is_simple() => TypeSig::Prim(simple),
            ElementType::Class => TypeSig::Class(self.read_type_token()?),
            ElementType::ValueType => TypeSig::ValueType(self.read_type_token()?),
            ElementType::Var => TypeSig::Var(self.read_compressed_u32()?),
            ElementType::MVar => TypeSig::MVar(self.read_compressed_u32()?),
            ElementType::Ptr => TypeSig::Ptr(boxed(self)?),
            ElementType::ByRef => TypeSig::ByRef(boxed(self)?),
            ElementType::SzArray => TypeSig::SzArray(boxed(self)?),
            ElementType::Pinned => TypeSig::Pinned(boxed(self)?),
            ElementType::CModReqd | ElementType::CModOpt => {
                let token = self.read_type_token()?;
                let required = element == ElementType::CModReqd;
                TypeSig::Modified { required, token, inner: boxed(self)? }
            }
            ElementType::FnPtr => TypeSig::FnPtr(Box::new(self.read_method_at(depth + 1)?)),
            ElementType::GenericInst => self.read_generic_inst(depth)?,
            ElementType::Array => {
                let elem = boxed(self)?;
                let rank = self.read_compressed_u32()?;
                let sizes = self.read_counted(Self::read_compressed_u32)?;
                let lo_bounds = self.read_counted(Self::read_compressed_i32)?;
                TypeSig::Array { elem, rank, sizes, lo_bounds }
            }
            other => return Err(self.error(format!("{other:?} is no type"))),
        })
    }

    fn read_generic_inst(&mut self, depth: u32) -> Result<TypeSig, BadImage> {
        let is_value_type = match self.read_element_type()? {
            ElementType::ValueType => true,
            ElementType::Class => false,
            other => return Err(self.error(format!("generic instance of {other:?}"))),
        };
        let token = self.read_type_token()?;
        let args = self.read_counted(|reader| reader.read_type_at(depth + 1))?;
        Ok(TypeSig::GenericInst { is_value_type, token, args })
    }

    fn read_method_at(&mut self, depth: u32) -> Result<MethodSigRaw, BadImage> {
        if depth > MAX_DEPTH {
            return Err(self.error("types are nested too deep"));
        }
        let first = self.read_u8()?;
        let call_conv = match first & 0x0f {
            0 => CallConv::Default,
            1 => CallConv::C,
            2 => CallConv::StdCall,
            3 => CallConv::ThisCall,
            4 => CallConv::FastCall,
            5 => CallConv::VarArg,
            9 => CallConv::Unmanaged,
            _ => return Err(self.error(format!("{first:#04x} begins no method signature"))),
        };
        let generic_param_count = if first & FLAG_GENERIC != 0 { self.read_compressed_u32()? } else { 0 };
        let param_count = self.read_compressed_u32()? as usize;
        let ret = self.read_type_at(depth + 1)?;
        if param_count > self.remaining_bytes() {
            return Err(self.error(format!("{param_count} parameters in a short signature")));
        }
        let mut params = Vec::with_capacity(param_count);
        let mut sentinel = None;
        while params.len() < param_count {
            if self.peek_u8() == Some(ElementType::Sentinel as u8) {
                if sentinel.is_some() {
                    return Err(self.error("two sentinels in a signature"));
                }
                self.read_u8()?;
                sentinel = Some(params.len());
            }
            params.push(self.read_type_at(depth + 1)?);
        }
        // A call site without extra arguments may still end with the sentinel.
        if sentinel.is_none() && self.peek_u8() == Some(ElementType::Sentinel as u8) && depth == 0 {
            self.read_u8()?;
            sentinel = Some(param_count);
        }
        Ok(MethodSigRaw {
            has_this: first & FLAG_HAS_THIS != 0,
            explicit_this: first & FLAG_EXPLICIT_THIS != 0,
            call_conv,
            generic_param_count,
            ret,
            params,
            sentinel,
        })
    }

    /// A compressed count and that many items of at least one byte each.
    fn read_counted<T>(&mut self, mut read: impl FnMut(&mut Self) -> Result<T, BadImage>) -> Result<Vec<T>, BadImage> {
        let count = self.read_compressed_u32()? as usize;
        if count > self.remaining_bytes() {
            return Err(self.error(format!("{count} items in a short signature")));
        }
        let mut items = Vec::with_capacity(count);
        for _ in 0..count {
            items.push(read(self)?);
        }
        Ok(items)
    }

    fn expect_kind(&mut self, kind: u8, name: &str) -> Result<u8, BadImage> {
        let first = self.read_u8()?;
        if first & 0x0f != kind {
            return Err(self.error(format!("{first:#04x} begins no {name} signature")));
        }
        Ok(first)
    }
}

/// A MethodDef, MemberRef or `calli` signature. Errors: `BadImage` with offsets in the blob; also below.
pub fn parse_method_sig(blob: &[u8]) -> Result<MethodSigRaw, BadImage> {
    SigReader::new(blob).read_method()
}

/// A Field signature, or a MemberRef signature that names a field. §II.23.2.4.
pub fn parse_field_sig(blob: &[u8]) -> Result<TypeSig, BadImage> {
    let mut reader = SigReader::new(blob);
    reader.expect_kind(KIND_FIELD, "field")?;
    reader.read_type()
}

/// True when a MemberRef signature names a field and not a method.
pub fn is_field_sig(blob: &[u8]) -> bool {
    blob.first().is_some_and(|first| first & 0x0f == KIND_FIELD)
}

/// The local variables of a method. §II.23.2.6.
pub fn parse_local_sig(blob: &[u8]) -> Result<Vec<TypeSig>, BadImage> {
    let mut reader = SigReader::new(blob);
    reader.expect_kind(KIND_LOCALS, "local variable")?;
    reader.read_counted(SigReader::read_type)
}

/// A Property signature. §II.23.2.5.
pub fn parse_property_sig(blob: &[u8]) -> Result<PropertySigRaw, BadImage> {
    let mut reader = SigReader::new(blob);
    let first = reader.expect_kind(KIND_PROPERTY, "property")?;
    let param_count = reader.read_compressed_u32()? as usize;
    let ty = reader.read_type()?;
    if param_count > reader.remaining_bytes() {
        return Err(reader.error(format!("{param_count} indices in a short signature")));
    }
    let mut params = Vec::with_capacity(param_count);
    for _ in 0..param_count {
        params.push(reader.read_type()?);
    }
    Ok(PropertySigRaw { has_this: first & FLAG_HAS_THIS != 0, ty, params })
}

/// The type arguments of a MethodSpec. §II.23.2.15.
pub fn parse_method_spec(blob: &[u8]) -> Result<Vec<TypeSig>, BadImage> {
    let mut reader = SigReader::new(blob);
    reader.expect_kind(KIND_METHOD_SPEC, "method instantiation")?;
    reader.read_counted(SigReader::read_type)
}

/// The type of a TypeSpec. §II.23.2.14.
pub fn parse_type_spec(blob: &[u8]) -> Result<TypeSig, BadImage> {
    SigReader::new(blob).read_type()
}

/// A StandAloneSig of any kind.
pub fn parse_stand_alone_sig(blob: &[u8]) -> Result<StandAloneSigRaw, BadImage> {
    match blob.first().map(|first| first & 0x0f) {
        Some(KIND_LOCALS) => parse_local_sig(blob).map(StandAloneSigRaw::Locals),
        Some(KIND_FIELD) => parse_field_sig(blob).map(StandAloneSigRaw::Field),
        _ => parse_method_sig(blob).map(StandAloneSigRaw::Method),
    }
}

/// The same parsers by blob index; their errors name the file and the file offset.
impl Image {
    fn parse_blob<T>(&self, index: BlobIdx, parse: impl FnOnce(&[u8]) -> Result<T, BadImage>) -> Result<T, BadImage> {
        parse(self.blob(index)?).map_err(|error| self.rebase(error, self.blob_offset(index)))
    }

    /// See `parse_method_sig`.
    pub fn parse_method_sig(&self, index: BlobIdx) -> Result<MethodSigRaw, BadImage> {
        self.parse_blob(index, parse_method_sig)
    }

    /// See `parse_field_sig`.
    pub fn parse_field_sig(&self, index: BlobIdx) -> Result<TypeSig, BadImage> {
        self.parse_blob(index, parse_field_sig)
    }

    /// See `parse_local_sig`.
    pub fn parse_local_sig(&self, index: BlobIdx) -> Result<Vec<TypeSig>, BadImage> {
        self.parse_blob(index, parse_local_sig)
    }

    /// See `parse_property_sig`.
    pub fn parse_property_sig(&self, index: BlobIdx) -> Result<PropertySigRaw, BadImage> {
        self.parse_blob(index, parse_property_sig)
    }

    /// See `parse_method_spec`.
    pub fn parse_method_spec(&self, index: BlobIdx) -> Result<Vec<TypeSig>, BadImage> {
        self.parse_blob(index, parse_method_spec)
    }

    /// See `parse_type_spec`.
    pub fn parse_type_spec(&self, index: BlobIdx) -> Result<TypeSig, BadImage> {
        self.parse_blob(index, parse_type_spec)
    }

    /// See `parse_stand_alone_sig`.
    pub fn parse_stand_alone_sig(&self, index: BlobIdx) -> Result<StandAloneSigRaw, BadImage> {
        self.parse_blob(index, parse_stand_alone_sig)
    }
}

#[cfg(test)]
mod tests {
    use super::{CallConv, MethodSigRaw, TypeSig, parse_field_sig, parse_local_sig, parse_method_sig, parse_type_spec};
    use crate::element_type::ElementType;
    use crate::token::{TableId, Token};

    #[test]
    fn method_with_by_ref_and_array() {
        let sig = parse_method_sig(&[0x20, 2, 0x01, 0x10, 0x08, 0x1d, 0x0e]).expect("valid");
        let expected = MethodSigRaw {
            has_this: true,
            explicit_this: false,
            call_conv: CallConv::Default,
            generic_param_count: 0,
            ret: TypeSig::Prim(ElementType::Void),
            params: vec![
                TypeSig::ByRef(Box::new(TypeSig::Prim(ElementType::I4))),
                TypeSig::SzArray(Box::new(TypeSig::Prim(ElementType::String))),
            ],
            sentinel: None,
        };
        assert_eq!(sig, expected);
    }

    #[test]
    fn vararg_call_site_has_a_sentinel() {
        let sig = parse_method_sig(&[0x05, 3, 0x01, 0x08, 0x41, 0x08, 0x0d]).expect("valid");
        assert_eq!((sig.call_conv, sig.params.len(), sig.sentinel), (CallConv::VarArg, 3, Some(1)));
    }

    #[test]
    fn generic_instance_and_general_array() {
        let token = Token::new(TableId::TypeRef, 3);
        assert_eq!(
            parse_field_sig(&[0x06, 0x15, 0x12, 0x0d, 1, 0x13, 0]),
            Ok(TypeSig::GenericInst { is_value_type: false, token, args: vec![TypeSig::Var(0)] })
        );
        assert_eq!(
            parse_type_spec(&[0x14, 0x08, 2, 1, 3, 2, 0, 0x7f]),
            Ok(TypeSig::Array {
                elem: Box::new(TypeSig::Prim(ElementType::I4)),
                rank: 2,
                sizes: vec![3],
                lo_bounds: vec![0, -1],
            })
        );
    }

    #[test]
    fn recursion_and_counts_are_bounded() {
        assert!(parse_type_spec(&[0x1d; 100_000]).is_err());
        assert!(parse_type_spec(&[0x1b, 0x00, 0x00].repeat(50_000)).is_err());
        assert!(parse_local_sig(&[0x07, 0xdf, 0xff, 0xff, 0xff, 0x08]).is_err());
        assert!(parse_method_sig(&[]).is_err());
    }
}
