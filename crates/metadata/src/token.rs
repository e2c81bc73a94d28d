//! Metadata tokens, table numbers, coded indexes and heap indexes. ECMA-335 §II.22, §II.24.2.6.
//!
//! Invariant: a null coded index decodes to `Token::NIL`; a tag without a table never decodes.

use std::fmt;

/// 1-based row number in a metadata table; 0 = no row.
pub type Rid = u32;

/// Number of metadata tables (0x00..=0x2c).
pub const TABLE_COUNT: usize = 0x2d;

macro_rules! table_ids {
    ($($name:ident = $number:literal,)*) => {
        /// The metadata tables of ECMA-335 §II.22, and the two other kinds of token.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum TableId {
            $($name = $number,)*
            /// Not a table: the `#US` heap, in the token of `ldstr`.
            UserString = 0x70,
            /// Not a table: a token whose upper byte names nothing.
            Unknown = 0xff,
        }

        impl TableId {
            /// The table with this number; `Unknown` when there is none.
            #[inline]
            pub const fn from_u8(number: u8) -> Self {
                match number {
                    $($number => Self::$name,)*
                    0x70 => Self::UserString,
                    _ => Self::Unknown,
                }
            }

            /// All tables, in the order of their numbers.
            pub const ALL: [TableId; TABLE_COUNT] = [$(Self::$name,)*];
        }
    };
}

table_ids! {
    Module = 0x00, TypeRef = 0x01, TypeDef = 0x02, FieldPtr = 0x03, Field = 0x04, MethodPtr = 0x05,
    MethodDef = 0x06, ParamPtr = 0x07, Param = 0x08, InterfaceImpl = 0x09, MemberRef = 0x0a,
    Constant = 0x0b, CustomAttribute = 0x0c, FieldMarshal = 0x0d, DeclSecurity = 0x0e,
    ClassLayout = 0x0f, FieldLayout = 0x10, StandAloneSig = 0x11, EventMap = 0x12, EventPtr = 0x13,
    Event = 0x14, PropertyMap = 0x15, PropertyPtr = 0x16, Property = 0x17, MethodSemantics = 0x18,
    MethodImpl = 0x19, ModuleRef = 0x1a, TypeSpec = 0x1b, ImplMap = 0x1c, FieldRva = 0x1d,
    EncLog = 0x1e, EncMap = 0x1f, Assembly = 0x20, AssemblyProcessor = 0x21, AssemblyOs = 0x22,
    AssemblyRef = 0x23, AssemblyRefProcessor = 0x24, AssemblyRefOs = 0x25, File = 0x26,
    ExportedType = 0x27, ManifestResource = 0x28, NestedClass = 0x29, GenericParam = 0x2a,
    MethodSpec = 0x2b, GenericParamConstraint = 0x2c,
}

/// Upper byte: table number; lower 3 bytes: row number. §II.22.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Token(pub u32);

impl Token {
    /// The null reference.
    pub const NIL: Token = Token(0);

    /// The token of row `rid` of `table`; `rid` is cut to 24 bits.
    #[inline]
    pub const fn new(table: TableId, rid: Rid) -> Self {
        Token((table as u32) << 24 | (rid & 0x00ff_ffff))
    }

    /// The table; `Unknown` when the upper byte names none.
    #[inline]
    pub const fn table(self) -> TableId {
        TableId::from_u8((self.0 >> 24) as u8)
    }

    /// The 1-based row number (for a user string: the byte offset in `#US`).
    #[inline]
    pub const fn rid(self) -> Rid {
        self.0 & 0x00ff_ffff
    }

    /// True when the row number is 0.
    #[inline]
    pub const fn is_nil(self) -> bool {
        self.rid() == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.table() == TableId::Unknown {
            write!(f, "Token({:#010x})", self.0)
        } else {
            write!(f, "{:?}[{:#x}]", self.table(), self.rid())
        }
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.0)
    }
}

/// Byte offset in `#Strings`; 0 = the empty string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct StringIdx(pub u32);

/// Byte offset in `#Blob`; 0 = the empty blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct BlobIdx(pub u32);

/// 1-based index of a 16-byte entry in `#GUID`; 0 = none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct GuidIdx(pub u32);

/// The kinds of coded index. §II.24.2.6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum CodedKind {
    TypeDefOrRef,
    HasConstant,
    HasCustomAttribute,
    HasFieldMarshal,
    HasDeclSecurity,
    MemberRefParent,
    HasSemantics,
    MethodDefOrRef,
    MemberForwarded,
    Implementation,
    CustomAttributeType,
    ResolutionScope,
    TypeOrMethodDef,
}

impl CodedKind {
    pub(crate) const ALL: [CodedKind; 13] = [
        Self::TypeDefOrRef,
        Self::HasConstant,
        Self::HasCustomAttribute,
        Self::HasFieldMarshal,
        Self::HasDeclSecurity,
        Self::MemberRefParent,
        Self::HasSemantics,
        Self::MethodDefOrRef,
        Self::MemberForwarded,
        Self::Implementation,
        Self::CustomAttributeType,
        Self::ResolutionScope,
        Self::TypeOrMethodDef,
    ];

    /// The table of each tag; `Unknown` marks an unused tag.
    pub const fn tables(self) -> &'static [TableId] {
        use TableId as T;
        match self {
            Self::TypeDefOrRef => &[T::TypeDef, T::TypeRef, T::TypeSpec],
            Self::HasConstant => &[T::Field, T::Param, T::Property],
            Self::HasCustomAttribute => &[
                T::MethodDef,
                T::Field,
                T::TypeRef,
                T::TypeDef,
                T::Param,
                T::InterfaceImpl,
                T::MemberRef,
                T::Module,
                T::DeclSecurity,
                T::Property,
                T::Event,
                T::StandAloneSig,
                T::ModuleRef,
                T::TypeSpec,
                T::Assembly,
                T::AssemblyRef,
                T::File,
                T::ExportedType,
                T::ManifestResource,
                T::GenericParam,
                T::GenericParamConstraint,
                T::MethodSpec,
            ],
            Self::HasFieldMarshal => &[T::Field, T::Param],
            Self::HasDeclSecurity => &[T::TypeDef, T::MethodDef, T::Assembly],
            Self::MemberRefParent => &[T::TypeDef, T::TypeRef, T::ModuleRef, T::MethodDef, T::TypeSpec],
            Self::HasSemantics => &[T::Event, T::Property],
            Self::MethodDefOrRef => &[T::MethodDef, T::MemberRef],
            Self::MemberForwarded => &[T::Field, T::MethodDef],
            Self::Implementation => &[T::File, T::AssemblyRef, T::ExportedType],
            Self::CustomAttributeType => &[T::Unknown, T::Unknown, T::MethodDef, T::MemberRef, T::Unknown],
            Self::ResolutionScope => &[T::Module, T::ModuleRef, T::AssemblyRef, T::TypeRef],
            Self::TypeOrMethodDef => &[T::TypeDef, T::MethodDef],
        }
    }

    /// Width of the tag.
    pub const fn tag_bits(self) -> u32 {
        match self {
            Self::HasFieldMarshal
            | Self::HasSemantics
            | Self::MethodDefOrRef
            | Self::MemberForwarded
            | Self::TypeOrMethodDef => 1,
            Self::TypeDefOrRef
            | Self::HasConstant
            | Self::HasDeclSecurity
            | Self::Implementation
            | Self::ResolutionScope => 2,
            Self::MemberRefParent | Self::CustomAttributeType => 3,
            Self::HasCustomAttribute => 5,
        }
    }

    /// The token of a raw cell; `NIL` for row 0, `None` for an unused tag or a row above 24 bits.
    #[inline]
    pub fn decode(self, raw: u32) -> Option<Token> {
        let rid = raw >> self.tag_bits();
        if rid == 0 {
            return Some(Token::NIL);
        }
        let tag = raw & ((1 << self.tag_bits()) - 1);
        let table = *self.tables().get(tag as usize)?;
        if table as u8 == TableId::Unknown as u8 || rid > 0x00ff_ffff {
            return None;
        }
        Some(Token::new(table, rid))
    }

    /// The raw cell of a token; `None` when its table has no tag in this kind.
    #[inline]
    pub fn encode(self, token: Token) -> Option<u32> {
        let table = token.table();
        if table == TableId::Unknown {
            return None;
        }
        let tag = self.tables().iter().position(|&t| t == table)? as u32;
        Some(token.rid() << self.tag_bits() | tag)
    }
}

#[cfg(test)]
mod tests {
    use super::{CodedKind, TableId, Token};

    #[test]
    fn coded_indexes_round_trip() {
        for kind in CodedKind::ALL {
            assert!(kind.tables().len() <= 1 << kind.tag_bits());
            for &table in kind.tables() {
                if table != TableId::Unknown {
                    let token = Token::new(table, 0x1234);
                    let raw = kind.encode(token).expect("the table is in the kind");
                    assert_eq!(kind.decode(raw), Some(token));
                }
            }
        }
        assert_eq!(CodedKind::TypeDefOrRef.decode(0), Some(Token::NIL));
        assert_eq!(CodedKind::TypeDefOrRef.decode(7), None);
        assert_eq!(CodedKind::TypeDefOrRef.encode(Token::new(TableId::Field, 1)), None);
    }
}
