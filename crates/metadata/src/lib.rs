//! ECMA-335 metadata: PE headers, tables, heaps, signatures, method bodies, attribute blobs.
//!
//! Invariant: any input gives a value or an error, never a panic; everything is decoded from the mapped
//! bytes on demand. Left out: resolving names across images (the type loader) and checking that code is
//! verifiable.
#![deny(unsafe_code)]

mod body;
mod bytes;
mod constant;
mod custom_attribute;
mod dump;
mod element_type;
mod error;
mod image;
mod lookup;
mod names;
pub mod native_type;
pub mod opcodes;
mod overloads;
pub mod pe;
pub mod places;
mod resources;
pub mod rows;
mod sig_reader;
mod signature;
mod stamp;
mod storage;
mod strong_name;
mod symbols;
mod tables;
mod token;
pub mod walk;
pub mod writer;

pub use body::{EhClause, EhKind, MethodBody, parse_eh_sections, parse_method_body};
pub use constant::ConstantValue;
pub use custom_attribute::{
    CaEnumType, CaNamedArg, CaTypeHint, CaValue, CustomAttributeArgs, EnumResolver, parse_custom_attribute,
    parse_named_args, text_of,
};
pub use dump::dump;
pub use element_type::ElementType;
pub use error::{BadImage, OpenError};
pub use image::Image;
pub use lookup::{MatchedRids, MatchedRows};
pub use native_type::{NativeTypeRaw, parse_native_type};
pub use rows::{
    AssemblyRefRow, AssemblyRow, ClassLayoutRow, ConstantRow, CustomAttributeRow, DeclSecurityRow, EventRow,
    ExportedTypeRow, FieldMarshalRow, FieldRow, FileRow, GenericParamConstraintRow, GenericParamRow, ImplMapRow,
    InterfaceImplRow, ManifestResourceRow, MemberRefRow, MethodDefRow, MethodImplRow, MethodSemanticsRow,
    MethodSpecRow, ModuleRefRow, ModuleRow, ParamRow, PropertyRow, StandAloneSigRow, TableRow, TypeDefRow, TypeRefRow,
    TypeSpecRow,
};
pub use sig_reader::SigReader;
pub use signature::{
    CallConv, MethodSigRaw, PropertySigRaw, StandAloneSigRaw, TypeSig, is_field_sig, parse_field_sig, parse_local_sig,
    parse_method_sig, parse_method_spec, parse_property_sig, parse_stand_alone_sig, parse_type_spec,
};
pub use stamp::FileStamp;
pub use strong_name::{public_key_token, sha1};
pub use symbols::{SourcePosition, SymbolFile};
pub use token::{BlobIdx, CodedKind, GuidIdx, Rid, StringIdx, TABLE_COUNT, TableId, Token};
