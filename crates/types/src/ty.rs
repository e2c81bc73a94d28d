//! `Type`: one CLI type, with cells for the facts about it, and the form of those facts.
//!
//! At the bottom of this crate, with `method`, `field` and `domain`: plain data and cells. Each cell is filled by a
//! function of a module above, which has the cell's name or is named in the cell's comment; nothing here loads or
//! computes.

use crate::domain::{Image, Universe};
use crate::field::Field;
use crate::lazy_word::LazyRef;
use crate::library::has_mark;
use crate::method::{Method, MethodSig};
use rustc_hash::FxHashMap;
use saki_contract::LibraryType;
use saki_metadata::ElementType;
use saki_metadata::{Rid, Token};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32};

pub type Ty = &'static Type;

/// A row of the TypeDef table.
pub struct TypeDef {
    pub image: &'static Image,
    pub rid: Rid,
    /// `TypeAttributes`, ECMA-335 §II.23.1.15.
    pub flags: u32,
    /// Without the enclosing type and with the arity suffix: "List`1".
    pub name: &'static str,
    pub namespace: &'static str,
    pub extends: Token,
    /// Rid of the enclosing TypeDef.
    pub enclosing: Option<Rid>,
}

/// A generic parameter of a type or method definition.
pub struct GenericParam {
    pub image: &'static Image,
    pub rid: Rid,
    pub name: &'static str,
    pub index: u32,
    /// `GenericParamAttributes`.
    pub flags: u32,
    /// TypeDef or MethodDef token.
    pub owner: Token,
}

pub enum TypeKind {
    /// A type definition; a generic definition is its own instantiation over its parameters.
    Def(TypeDef),
    /// Instantiation of a generic definition.
    Inst {
        definition: Ty,
    },
    SzArray(Ty),
    /// Multi-dimensional (also rank 1 with bounds).
    Array {
        element: Ty,
        rank: u32,
    },
    Ptr(Ty),
    ByRef(Ty),
    FnPtr(&'static MethodSig),
    /// Type parameter (`!n`).
    Var(GenericParam),
    /// Method type parameter (`!!n`).
    MVar(GenericParam),
}

/// The meaning of `!n` and `!!n` at the place of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GenericContext {
    pub class_args: &'static [Ty],
    pub method_args: &'static [Ty],
}

impl GenericContext {
    /// No generic arguments.
    pub const NONE: GenericContext = GenericContext { class_args: &[], method_args: &[] };
}

/// All interfaces of a type without duplicates: the parent's first, then the declared ones with the interfaces that
/// they inherit.
pub struct InterfaceList {
    pub all: Box<[Ty]>,
    /// Interfaces declared by the type itself (InterfaceImpl rows), in order.
    pub declared: Box<[Ty]>,
}

/// Members of an exact type, created on first use.
pub struct ClassInfo {
    pub(crate) first_method: Rid,
    /// Filled by `Type::method_by_rid`.
    pub(crate) methods: Box<[LazyRef<&'static Method>]>,
    /// The records of all methods, once all have been created.
    pub(crate) all_methods: OnceLock<Box<[&'static Method]>>,
    /// Indices of methods by name, built on first use.
    pub(crate) by_name: OnceLock<Box<FxHashMap<&'static str, Vec<u32>>>>,
    pub(crate) fields: Box<[&'static Field]>,
    pub(crate) first_field: Rid,
}

/// Layout of instances. For value types: of the value, without a header.
pub struct InstanceLayout {
    /// Bytes including inherited fields and, for classes, the header; not rounded up for classes.
    pub size_bytes: u32,
    pub align_bytes: u32,
    /// Number of elements of an inline array, whose only instance field is the first element; None for other types.
    pub inline_array_length: Option<u32>,
    /// Offsets of references, sorted; without weak ones.
    pub ref_offsets: Vec<u32>,
    /// Classes: offsets of the fields marked `[Weak]`, which do not keep their objects alive.
    pub weak_offsets: Vec<u32>,
    /// All instance fields lie as C would lay them out and none is a reference: native code may read it.
    pub is_blittable: bool,
}

/// Layout of the statics of one type, normal and thread-static ones apart.
#[derive(Default)]
pub struct StaticLayout {
    pub size_bytes: u32,
    pub ref_offsets: Vec<u32>,
    pub thread_size_bytes: u32,
    pub thread_ref_offsets: Vec<u32>,
}

/// Slots of one implemented interface: for each of its methods in metadata order, the vtable slot.
#[derive(Clone)]
pub struct InterfaceSlots {
    pub interface: Ty,
    pub slots: Vec<u32>,
}

/// An interface method that a class itself implements, by a MethodImpl, a method of its own, or as the first of its
/// ancestors to declare the interface.
#[derive(Clone)]
pub struct Implementation {
    pub interface: Ty,
    /// Position among the interface's methods.
    pub method_index: u32,
    pub slot: u32,
}

/// Virtual slots and interface maps: see `vtable`.
pub struct VTableLayout {
    /// The method in each slot.
    pub slots: Box<[&'static Method]>,
    /// For each slot, the method that introduced it or overrides it by name. It differs from `slots` only through
    /// MethodImpls, whose bodies take a slot but are not what derived classes override by name. None: equal to `slots`.
    pub(crate) declared: Option<Box<[&'static Method]>>,
    pub interfaces: Box<[InterfaceSlots]>,
    /// The implementations that this class adds to its parent's, in the order of its interfaces.
    pub implementations: Box<[Implementation]>,
}

impl VTableLayout {
    pub(crate) fn declared(&self) -> &[&'static Method] {
        self.declared.as_deref().unwrap_or(&self.slots)
    }

    pub(crate) fn empty() -> VTableLayout {
        VTableLayout { slots: [].into(), declared: None, interfaces: [].into(), implementations: [].into() }
    }
}

/// The runtime's data about a type.
#[derive(Default)]
pub struct TypeRuntime {
    /// `abi::VTable`, null until built.
    pub vtable: AtomicPtr<u8>,
    /// Static storage, null until allocated.
    pub statics: AtomicPtr<u8>,
    /// 1 = the class constructor has finished, or none is needed. Compiled code reads it.
    pub init_done: AtomicU8,
    /// Cell that holds the type object for compiled code; null until asked for.
    pub type_object_cell: AtomicPtr<u8>,
    /// The `abi::method_table::MethodTable` that .NET's class libraries read; null until it is asked for.
    pub method_table: AtomicPtr<u8>,
    /// See `Heirs`; changed under the loader lock.
    pub heirs: Heirs,
}

/// A linked list of the derived types of a type (its children) that have vtables, or that are base classes of types
/// with vtables. Types of collectible assemblies are not in it.
#[derive(Default)]
pub struct Heirs {
    /// A `Type`; null = none.
    pub first: AtomicPtr<u8>,
    /// The next child of the same parent.
    pub next: AtomicPtr<u8>,
    /// Whether the type is in its parent's list.
    pub is_listed: AtomicBool,
}

/// One CLI type. Equality is identity.
pub struct Type {
    pub kind: TypeKind,
    /// Signature-level shape: a primitive, Class, ValueType, String, Object, SzArray, Array, Ptr, ByRef, FnPtr, Var,
    /// MVar, TypedByRef. Enums are ValueType (see `underlying`).
    pub element_type: ElementType,
    /// Arguments of an instantiation; the parameters themselves for a generic definition; else empty.
    pub args: &'static [Ty],
    /// Contains a generic parameter anywhere: no instance can exist.
    pub is_open: bool,
    /// See `library`.
    pub(crate) role: Option<LibraryType>,
    pub runtime: TypeRuntime,
    /// Number of the thread-static block, or u32::MAX when not assigned.
    pub thread_static_block: AtomicU32,
    /// Filled by `class`, as is `class`.
    pub(crate) parent: LazyRef<Option<Ty>>,
    pub(crate) interfaces: LazyRef<&'static InterfaceList>,
    pub(crate) class: LazyRef<&'static ClassInfo>,
    /// Filled by `layout`, as is `static_layout`.
    pub(crate) instance_layout: LazyRef<&'static InstanceLayout>,
    pub(crate) static_layout: LazyRef<&'static StaticLayout>,
    /// Filled by `vtable`.
    pub(crate) vtable_layout: LazyRef<&'static VTableLayout>,
    /// Filled by `cast`.
    pub(crate) supertypes: LazyRef<&'static &'static [Ty]>,
    /// `Universe::sz_array_of` this type, filled by its first call.
    pub(crate) sz_array: LazyRef<Ty>,
}

/// A program the size of a compiler has ten thousands of types, and the allocator's next size is a seventh larger.
const _: () = assert!(size_of::<Type>() <= 224);

impl PartialEq for Type {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}
impl Eq for Type {}
impl std::hash::Hash for Type {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self as *const Type as usize).hash(state);
    }
}

/// `TypeAttributes` bits that the VM looks at.
pub mod type_flags {
    pub const VISIBILITY_MASK: u32 = 7;
    pub const LAYOUT_MASK: u32 = 0x18;
    pub const SEQUENTIAL_LAYOUT: u32 = 8;
    pub const EXPLICIT_LAYOUT: u32 = 0x10;
    pub const INTERFACE: u32 = 0x20;
    pub const ABSTRACT: u32 = 0x80;
    pub const SEALED: u32 = 0x100;
    pub const SERIALIZABLE: u32 = 0x2000;
    pub const BEFORE_FIELD_INIT: u32 = 0x0010_0000;
}

/// The role of a type whose record is being made.
fn role_of(kind: &TypeKind) -> Option<LibraryType> {
    match kind {
        TypeKind::Def(def) if def.image.is_corlib && def.enclosing.is_none() => {
            def.image.universe.library.role_of(def.namespace, def.name)
        }
        TypeKind::Inst { definition } => definition.role,
        _ => None,
    }
}

impl Type {
    pub(crate) fn new(kind: TypeKind, element_type: ElementType, args: &'static [Ty], is_open: bool) -> Type {
        Type {
            role: role_of(&kind),
            kind,
            element_type,
            args,
            is_open,
            runtime: TypeRuntime::default(),
            thread_static_block: AtomicU32::new(u32::MAX),
            parent: LazyRef::default(),
            interfaces: LazyRef::default(),
            class: LazyRef::default(),
            instance_layout: LazyRef::default(),
            static_layout: LazyRef::default(),
            vtable_layout: LazyRef::default(),
            supertypes: LazyRef::default(),
            sz_array: LazyRef::default(),
        }
    }

    /// The TypeDef row behind a definition or an instantiation.
    pub fn def(&self) -> Option<&TypeDef> {
        match &self.kind {
            TypeKind::Def(def) => Some(def),
            TypeKind::Inst { definition } => definition.def(),
            _ => None,
        }
    }

    /// The generic definition of an instantiation or of a generic definition itself.
    pub fn generic_definition(&'static self) -> Option<Ty> {
        match &self.kind {
            TypeKind::Inst { definition } => Some(definition),
            TypeKind::Def(_) if !self.args.is_empty() => Some(self),
            _ => None,
        }
    }

    pub fn is_generic_definition(&self) -> bool {
        matches!(self.kind, TypeKind::Def(_)) && !self.args.is_empty()
    }

    /// `TypeAttributes`; arrays and constructed types give the attributes reflection reports.
    pub fn flags(&self) -> u32 {
        match &self.kind {
            TypeKind::Def(def) => def.flags,
            TypeKind::Inst { definition } => definition.flags(),
            TypeKind::SzArray(_) | TypeKind::Array { .. } => type_flags::SERIALIZABLE | type_flags::SEALED | 1,
            _ => 1,
        }
    }

    pub fn is_interface(&self) -> bool {
        self.flags() & type_flags::INTERFACE != 0 && self.def().is_some()
    }
    pub fn is_abstract(&self) -> bool {
        self.flags() & type_flags::ABSTRACT != 0
    }
    pub fn is_sealed(&self) -> bool {
        self.flags() & type_flags::SEALED != 0
    }
    pub fn is_before_field_init(&self) -> bool {
        self.flags() & type_flags::BEFORE_FIELD_INIT != 0
    }

    /// SZ or multi-dimensional array.
    pub fn is_array(&self) -> bool {
        matches!(self.kind, TypeKind::SzArray(_) | TypeKind::Array { .. })
    }
    pub fn is_sz_array(&self) -> bool {
        matches!(self.kind, TypeKind::SzArray(_))
    }

    /// Element type of arrays, pointers and byrefs.
    pub fn element(&self) -> Option<Ty> {
        match self.kind {
            TypeKind::SzArray(t) | TypeKind::Array { element: t, .. } | TypeKind::Ptr(t) | TypeKind::ByRef(t) => {
                Some(t)
            }
            _ => None,
        }
    }

    pub fn array_rank(&self) -> u32 {
        match self.kind {
            TypeKind::SzArray(_) => 1,
            TypeKind::Array { rank, .. } => rank,
            _ => 0,
        }
    }

    pub fn is_pointer(&self) -> bool {
        matches!(self.kind, TypeKind::Ptr(_) | TypeKind::FnPtr(_))
    }
    pub fn is_byref(&self) -> bool {
        matches!(self.kind, TypeKind::ByRef(_))
    }
    pub fn is_generic_param(&self) -> bool {
        matches!(self.kind, TypeKind::Var(_) | TypeKind::MVar(_))
    }
    pub fn generic_param(&self) -> Option<&GenericParam> {
        match &self.kind {
            TypeKind::Var(p) | TypeKind::MVar(p) => Some(p),
            _ => None,
        }
    }

    /// Values are not object references: primitives, enums, structs, TypedReference. Not pointers and byrefs.
    pub fn is_value_type(&self) -> bool {
        use ElementType as E;
        matches!(
            self.element_type,
            E::Void
                | E::Boolean
                | E::Char
                | E::I1
                | E::U1
                | E::I2
                | E::U2
                | E::I4
                | E::U4
                | E::I8
                | E::U8
                | E::R4
                | E::R8
                | E::I
                | E::U
                | E::ValueType
                | E::TypedByRef
        )
    }

    /// Values are object references.
    pub fn is_reference_type(&self) -> bool {
        !self.is_value_type() && !self.is_pointer() && !self.is_byref()
    }

    /// Assembly image that defines the type (of the element for constructed types).
    pub fn image(&self) -> &'static Image {
        match &self.kind {
            TypeKind::Def(def) => def.image,
            TypeKind::Inst { definition } => definition.image(),
            TypeKind::SzArray(t) | TypeKind::Array { element: t, .. } | TypeKind::Ptr(t) | TypeKind::ByRef(t) => {
                t.image()
            }
            TypeKind::Var(p) | TypeKind::MVar(p) => p.image,
            TypeKind::FnPtr(sig) => sig.ret.universe().corlib(),
        }
    }

    /// Whether the type has this role in the class libraries of its domain; an instantiation has the role of its
    /// definition.
    pub fn is(&self, role: LibraryType) -> bool {
        debug_assert!(has_mark(role), "{role:?}: only types of the core assembly that are not nested know their role");
        self.role == Some(role)
    }

    /// The role of the type, if it has one: see `is`.
    pub fn library_role(&self) -> Option<LibraryType> {
        self.role
    }

    /// The domain that the type belongs to.
    pub fn universe(&self) -> &'static Universe {
        self.image().universe
    }
}
