//! The description of a type that managed code of .NET's class libraries reads: `MethodTable` of
//! System.Runtime.CompilerServices, whose fields have the offsets that System.Private.CoreLib declares
//! (dotnet/runtime, `RuntimeHelpers.CoreCLR.cs`). A type handle is the address of one; bit 1 of the handle marks types
//! that are no classes: pointers, byrefs, function pointers and type variables (`TYPE_DESC`).

/// See the module header. Saki's own fields come behind those that managed code knows.
#[repr(C)]
#[derive(Debug)]
pub struct MethodTable {
    /// `flags` in the upper half; the lower half is the size of an array's element or of a character with
    /// `HAS_COMPONENT_SIZE`, else flags as well.
    pub flags: u32,
    /// Bytes of an instance with header; of arrays those before the elements.
    pub base_size_bytes: u32,
    pub flags2: u32,
    pub virtual_count: u16,
    pub interface_count: u16,
    /// The base class; null for Object, interfaces and types that are no classes.
    pub parent: *const MethodTable,
    pub module: *const (),
    /// Caches of managed code.
    pub auxiliary: *mut [u64; 8],
    pub class: *const (),
    /// The handle of an array's, pointer's or byref's element type.
    pub element_type: usize,
    pub interfaces: *const *const MethodTable,
    /// The `types::Type` (this crate is below `types`).
    pub ty: *const (),
    /// Rank of a multi-dimensional array, else 0.
    pub rank: u32,
}

/// Bytes from the address of a `MethodTable` to its rank.
pub const METHOD_TABLE_RANK_OFFSET: i32 = std::mem::offset_of!(MethodTable, rank) as i32;

/// The bit of a type handle that says that the type is no class.
pub const TYPE_DESC: usize = 2;

/// Bits of `MethodTable::flags`.
pub mod method_table_flags {
    /// Of the lower half, without a component size: an instance of a generic type.
    pub const GENERIC_INSTANCE: u32 = 0x10;
    /// A generic type definition.
    pub const GENERIC_DEFINITION: u32 = 0x30;
    /// It has a constructor without parameters.
    pub const HAS_DEFAULT_CONSTRUCTOR: u32 = 0x200;
    /// A ref struct.
    pub const IS_BY_REF_LIKE: u32 = 0x1000;
    /// A struct that is none of the following.
    pub const VALUE_TYPE: u32 = 0x0004_0000;
    /// `Nullable<T>`.
    pub const NULLABLE: u32 = 0x0005_0000;
    /// An enumeration.
    pub const PRIMITIVE_ENUM: u32 = 0x0006_0000;
    /// A number, `bool`, `char` or native integer.
    pub const PRIMITIVE: u32 = 0x0007_0000;
    /// An array with dimensions.
    pub const ARRAY: u32 = 0x0008_0000;
    /// A vector.
    pub const SZ_ARRAY: u32 = 0x000A_0000;
    /// An interface.
    pub const INTERFACE: u32 = 0x000C_0000;
    /// Objects have a finalizer to run.
    pub const HAS_FINALIZER: u32 = 0x0010_0000;
    /// Objects contain references.
    pub const CONTAINS_REFERENCES: u32 = 0x0100_0000;
    /// Type variables occur in it.
    pub const CONTAINS_VARIABLES: u32 = 0x2000_0000;
    /// The lower half is the size of an element in bytes.
    pub const HAS_COMPONENT_SIZE: u32 = 0x8000_0000;
}

const _: () = {
    assert!(std::mem::offset_of!(MethodTable, base_size_bytes) == 4);
    assert!(std::mem::offset_of!(MethodTable, interface_count) == 14);
    assert!(std::mem::offset_of!(MethodTable, parent) == 16);
    assert!(std::mem::offset_of!(MethodTable, auxiliary) == 32);
    assert!(std::mem::offset_of!(MethodTable, element_type) == 48);
    assert!(std::mem::offset_of!(MethodTable, interfaces) == 56);
};
