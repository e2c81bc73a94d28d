//! One `Copy` struct and one accessor per metadata table. ECMA-335 §II.22.
//!
//! Invariant: the column lists below are the only description of the row formats; widths, offsets,
//! structs and accessors all come from them. A row is read on demand, nothing is cached.

use crate::error::BadImage;
use crate::image::Image;
use crate::tables::{ColumnKind, FromCell};
use crate::token::CodedKind::{
    CustomAttributeType, HasConstant, HasCustomAttribute, HasDeclSecurity, HasFieldMarshal, HasSemantics,
    Implementation, MemberForwarded, MemberRefParent, MethodDefOrRef, ResolutionScope, TypeDefOrRef, TypeOrMethodDef,
};
use crate::token::{BlobIdx, GuidIdx, Rid, StringIdx, TableId, Token};
use ColumnKind::{Blob, Coded, Guid, Str, Table, U16, U32};

/// A row struct, with its table and its reader.
pub trait TableRow: Copy + Sized {
    /// The table the rows live in.
    const TABLE: TableId;
    /// Reads row `rid`. Errors: `rid` is 0 or beyond the table; a coded index has an unused tag.
    fn read(image: &Image, rid: Rid) -> Result<Self, BadImage>;
}

macro_rules! rows {
    ($(
        $(#[$doc:meta])*
        $table:ident as $row:ident by $accessor:ident {
            $($(#[$field_doc:meta])* $field:ident: $ty:ty = $kind:expr,)*
        }
    )*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct $row { $($(#[$field_doc])* pub $field: $ty,)* }

            impl TableRow for $row {
                const TABLE: TableId = TableId::$table;

                #[inline]
                fn read(image: &Image, rid: Rid) -> Result<Self, BadImage> {
                    let Some(mut cells) = image.row_cells(TableId::$table, rid) else {
                        return Err(image.no_such_row(TableId::$table, rid));
                    };
                    $(
                        let kind: ColumnKind = $kind;
                        let raw = cells.next_cell(kind);
                        let Some($field) = <$ty as FromCell>::from_cell(raw, kind) else {
                            return Err(image.bad_cell(TableId::$table, rid, stringify!($field), raw));
                        };
                    )*
                    Ok(Self { $($field,)* })
                }
            }
        )*

        impl Image {
            $(
                $(#[$doc])*
                ///
                /// Errors: `BadImage` when `rid` is 0 or beyond the table, or a coded index is invalid.
                #[inline]
                pub fn $accessor(&self, rid: Rid) -> Result<$row, BadImage> {
                    <$row as TableRow>::read(self, rid)
                }
            )*
        }

        impl Image {
            /// Reads a row of any table and checks that its strings, blobs, GUIDs and rows exist.
            ///
            /// Errors: the row is absent or invalid, or refers to something absent.
            pub fn check_row(&self, table: TableId, rid: Rid) -> Result<(), BadImage> {
                match table {
                    $(TableId::$table => {
                        let row = <$row as TableRow>::read(self, rid)?;
                        $(<$ty as FromCell>::check(row.$field, self, $kind)?;)*
                        Ok(())
                    })*
                    TableId::UserString | TableId::Unknown => Err(self.no_such_row(table, rid)),
                }
            }
        }

        /// The columns of a table, in file order.
        pub(crate) const fn columns(table: TableId) -> &'static [ColumnKind] {
            match table {
                $(TableId::$table => const { &[$($kind,)*] },)*
                TableId::UserString | TableId::Unknown => &[],
            }
        }
    };
}

rows! {
    /// The module itself; one row. §II.22.30.
    Module as ModuleRow by module_row {
        generation: u16 = U16,
        name: StringIdx = Str,
        mvid: GuidIdx = Guid,
        enc_id: GuidIdx = Guid,
        enc_base_id: GuidIdx = Guid,
    }
    /// A type of another module. §II.22.38.
    TypeRef as TypeRefRow by type_ref {
        /// Module, ModuleRef, AssemblyRef, TypeRef (enclosing type), or nil (exported type).
        resolution_scope: Token = Coded(ResolutionScope),
        name: StringIdx = Str,
        namespace: StringIdx = Str,
    }
    /// A type of this module. §II.22.37.
    TypeDef as TypeDefRow by type_def {
        flags: u32 = U32,
        name: StringIdx = Str,
        namespace: StringIdx = Str,
        /// TypeDef, TypeRef, TypeSpec or nil.
        extends: Token = Coded(TypeDefOrRef),
        /// First entry of the field list; use `type_def_fields`.
        field_list: Rid = Table(TableId::Field),
        /// First entry of the method list; use `type_def_methods`.
        method_list: Rid = Table(TableId::MethodDef),
    }
    /// Indirection of field lists in unoptimised (`#-`) metadata.
    FieldPtr as FieldPtrRow by field_ptr { field: Rid = Table(TableId::Field), }
    /// A field. §II.22.15.
    Field as FieldRow by field {
        flags: u16 = U16,
        name: StringIdx = Str,
        signature: BlobIdx = Blob,
    }
    /// Indirection of method lists in unoptimised (`#-`) metadata.
    MethodPtr as MethodPtrRow by method_ptr { method: Rid = Table(TableId::MethodDef), }
    /// A method. §II.22.26.
    MethodDef as MethodDefRow by method_def {
        /// Address of the body; 0 = none.
        rva: u32 = U32,
        impl_flags: u16 = U16,
        flags: u16 = U16,
        name: StringIdx = Str,
        signature: BlobIdx = Blob,
        /// First entry of the parameter list; use `method_params`.
        param_list: Rid = Table(TableId::Param),
    }
    /// Indirection of parameter lists in unoptimised (`#-`) metadata.
    ParamPtr as ParamPtrRow by param_ptr { param: Rid = Table(TableId::Param), }
    /// A parameter; `sequence` 0 is the return value. §II.22.33.
    Param as ParamRow by param {
        flags: u16 = U16,
        sequence: u16 = U16,
        name: StringIdx = Str,
    }
    /// `class` implements `interface`. §II.22.23.
    InterfaceImpl as InterfaceImplRow by interface_impl {
        class: Rid = Table(TableId::TypeDef),
        interface: Token = Coded(TypeDefOrRef),
    }
    /// A field or method of another type, or a vararg call site. §II.22.25.
    MemberRef as MemberRefRow by member_ref {
        class: Token = Coded(MemberRefParent),
        name: StringIdx = Str,
        signature: BlobIdx = Blob,
    }
    /// A compile-time constant. §II.22.9.
    Constant as ConstantRow by constant_row {
        /// Lower byte: an `ElementType`; the upper byte is padding.
        element_type: u16 = U16,
        parent: Token = Coded(HasConstant),
        value: BlobIdx = Blob,
    }
    /// A custom attribute. §II.22.10.
    CustomAttribute as CustomAttributeRow by custom_attribute {
        parent: Token = Coded(HasCustomAttribute),
        /// The constructor: MethodDef or MemberRef.
        constructor: Token = Coded(CustomAttributeType),
        value: BlobIdx = Blob,
    }
    /// How a field or parameter is passed to native code. §II.22.17.
    FieldMarshal as FieldMarshalRow by field_marshal_row {
        parent: Token = Coded(HasFieldMarshal),
        native_type: BlobIdx = Blob,
    }
    /// Declarative security. §II.22.11.
    DeclSecurity as DeclSecurityRow by decl_security_row {
        action: u16 = U16,
        parent: Token = Coded(HasDeclSecurity),
        permission_set: BlobIdx = Blob,
    }
    /// Explicit size and packing of a type. §II.22.8.
    ClassLayout as ClassLayoutRow by class_layout_row {
        /// Bytes, 0 = default.
        packing_size: u16 = U16,
        /// Bytes, 0 = computed.
        class_size: u32 = U32,
        parent: Rid = Table(TableId::TypeDef),
    }
    /// Explicit offset of a field. §II.22.16.
    FieldLayout as FieldLayoutRow by field_layout_row {
        /// Bytes from the start of the fields.
        offset: u32 = U32,
        field: Rid = Table(TableId::Field),
    }
    /// A local-variable or `calli` signature. §II.22.36.
    StandAloneSig as StandAloneSigRow by stand_alone_sig { signature: BlobIdx = Blob, }
    /// The events of a type. §II.22.12.
    EventMap as EventMapRow by event_map {
        parent: Rid = Table(TableId::TypeDef),
        event_list: Rid = Table(TableId::Event),
    }
    /// Indirection of event lists in unoptimised (`#-`) metadata.
    EventPtr as EventPtrRow by event_ptr { event: Rid = Table(TableId::Event), }
    /// An event. §II.22.13.
    Event as EventRow by event {
        flags: u16 = U16,
        name: StringIdx = Str,
        event_type: Token = Coded(TypeDefOrRef),
    }
    /// The properties of a type. §II.22.35.
    PropertyMap as PropertyMapRow by property_map {
        parent: Rid = Table(TableId::TypeDef),
        property_list: Rid = Table(TableId::Property),
    }
    /// Indirection of property lists in unoptimised (`#-`) metadata.
    PropertyPtr as PropertyPtrRow by property_ptr { property: Rid = Table(TableId::Property), }
    /// A property. §II.22.34.
    Property as PropertyRow by property {
        flags: u16 = U16,
        name: StringIdx = Str,
        signature: BlobIdx = Blob,
    }
    /// A method as accessor of an event or property. §II.22.28.
    MethodSemantics as MethodSemanticsRow by method_semantics_row {
        /// 1 setter, 2 getter, 4 other, 8 add, 0x10 remove, 0x20 fire. §II.23.1.12.
        semantics: u16 = U16,
        method: Rid = Table(TableId::MethodDef),
        association: Token = Coded(HasSemantics),
    }
    /// An explicit override. §II.22.27.
    MethodImpl as MethodImplRow by method_impl {
        class: Rid = Table(TableId::TypeDef),
        body: Token = Coded(MethodDefOrRef),
        declaration: Token = Coded(MethodDefOrRef),
    }
    /// Another module of the assembly, or a native library. §II.22.31.
    ModuleRef as ModuleRefRow by module_ref { name: StringIdx = Str, }
    /// A constructed type. §II.22.39.
    TypeSpec as TypeSpecRow by type_spec { signature: BlobIdx = Blob, }
    /// A P/Invoke target. §II.22.22.
    ImplMap as ImplMapRow by impl_map_row {
        mapping_flags: u16 = U16,
        member_forwarded: Token = Coded(MemberForwarded),
        import_name: StringIdx = Str,
        import_scope: Rid = Table(TableId::ModuleRef),
    }
    /// Initial bytes of a static field. §II.22.18.
    FieldRva as FieldRvaRow by field_rva_row {
        rva: u32 = U32,
        field: Rid = Table(TableId::Field),
    }
    /// Edit-and-continue log.
    EncLog as EncLogRow by enc_log { token: u32 = U32, func_code: u32 = U32, }
    /// Edit-and-continue map.
    EncMap as EncMapRow by enc_map { token: u32 = U32, }
    /// The assembly's manifest; one row, none in a netmodule. §II.22.2.
    Assembly as AssemblyRow by assembly_row {
        hash_alg_id: u32 = U32,
        major_version: u16 = U16,
        minor_version: u16 = U16,
        build_number: u16 = U16,
        revision_number: u16 = U16,
        flags: u32 = U32,
        public_key: BlobIdx = Blob,
        name: StringIdx = Str,
        culture: StringIdx = Str,
    }
    /// Unused by every implementation. §II.22.4.
    AssemblyProcessor as AssemblyProcessorRow by assembly_processor { processor: u32 = U32, }
    /// Unused by every implementation. §II.22.3.
    AssemblyOs as AssemblyOsRow by assembly_os {
        os_platform_id: u32 = U32,
        os_major_version: u32 = U32,
        os_minor_version: u32 = U32,
    }
    /// A referenced assembly. §II.22.5.
    AssemblyRef as AssemblyRefRow by assembly_ref {
        major_version: u16 = U16,
        minor_version: u16 = U16,
        build_number: u16 = U16,
        revision_number: u16 = U16,
        flags: u32 = U32,
        public_key_or_token: BlobIdx = Blob,
        name: StringIdx = Str,
        culture: StringIdx = Str,
        hash_value: BlobIdx = Blob,
    }
    /// Unused by every implementation. §II.22.7.
    AssemblyRefProcessor as AssemblyRefProcessorRow by assembly_ref_processor {
        processor: u32 = U32,
        assembly_ref: Rid = Table(TableId::AssemblyRef),
    }
    /// Unused by every implementation. §II.22.6.
    AssemblyRefOs as AssemblyRefOsRow by assembly_ref_os {
        os_platform_id: u32 = U32,
        os_major_version: u32 = U32,
        os_minor_version: u32 = U32,
        assembly_ref: Rid = Table(TableId::AssemblyRef),
    }
    /// Another file of the assembly. §II.22.19.
    File as FileRow by file {
        flags: u32 = U32,
        name: StringIdx = Str,
        hash_value: BlobIdx = Blob,
    }
    /// A type of another module of the assembly, or a forwarded type. §II.22.14.
    ExportedType as ExportedTypeRow by exported_type {
        flags: u32 = U32,
        type_def_id: u32 = U32,
        name: StringIdx = Str,
        namespace: StringIdx = Str,
        implementation: Token = Coded(Implementation),
    }
    /// A resource of the assembly. §II.22.24.
    ManifestResource as ManifestResourceRow by manifest_resource {
        offset: u32 = U32,
        flags: u32 = U32,
        name: StringIdx = Str,
        /// File, AssemblyRef, or nil (embedded in this file).
        implementation: Token = Coded(Implementation),
    }
    /// `nested_class` is lexically inside `enclosing_class`. §II.22.32.
    NestedClass as NestedClassRow by nested_class {
        nested_class: Rid = Table(TableId::TypeDef),
        enclosing_class: Rid = Table(TableId::TypeDef),
    }
    /// A generic parameter. §II.22.20.
    GenericParam as GenericParamRow by generic_param {
        number: u16 = U16,
        flags: u16 = U16,
        owner: Token = Coded(TypeOrMethodDef),
        name: StringIdx = Str,
    }
    /// An instantiated generic method. §II.22.29.
    MethodSpec as MethodSpecRow by method_spec {
        method: Token = Coded(MethodDefOrRef),
        instantiation: BlobIdx = Blob,
    }
    /// A constraint of a generic parameter. §II.22.21.
    GenericParamConstraint as GenericParamConstraintRow by generic_param_constraint {
        owner: Rid = Table(TableId::GenericParam),
        constraint: Token = Coded(TypeDefOrRef),
    }
}
