//! `Field`: a field of an exact type.

use crate::assembly::Image;
use crate::error::LoadResult;
use crate::lazy::Lazy;
use crate::ty::Ty;
use saki_metadata::Rid;
use std::sync::atomic::AtomicU32;

pub mod field_flags {
    pub const ACCESS_MASK: u16 = 7;
    pub const STATIC: u16 = 0x10;
    pub const INIT_ONLY: u16 = 0x20;
    pub const LITERAL: u16 = 0x40;
    pub const HAS_RVA: u16 = 0x100;
}

/// One field of one exact type. Equality is identity.
pub struct Field {
    pub owner: Ty,
    pub image: &'static Image,
    pub rid: Rid,
    pub name: &'static str,
    /// `FieldAttributes`.
    pub flags: u16,
    /// Marked `[ThreadStatic]`.
    pub is_thread_static: bool,
    /// Marked `[ContextStatic]`; `is_thread_static` then too: neither is one field for all.
    pub is_context_static: bool,
    /// GC handle of the reflection object, 0 until made.
    pub reflection_handle: AtomicU32,
    pub(crate) ty: Lazy<Ty>,
    /// Set by `layout`; u32::MAX before. Instance fields of classes: bytes from the object start (header included); of
    /// value types: bytes from the value's start. Statics: bytes into the static area or thread-static block.
    pub(crate) offset_bytes: AtomicU32,
}

impl PartialEq for Field {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}
impl Eq for Field {}
impl std::hash::Hash for Field {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self as *const Field as usize).hash(state);
    }
}
impl std::fmt::Debug for Field {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}::{}", self.owner.full_name(), self.name)
    }
}

impl Field {
    pub fn is_static(&self) -> bool {
        self.flags & field_flags::STATIC != 0
    }
    pub fn is_literal(&self) -> bool {
        self.flags & field_flags::LITERAL != 0
    }
    pub fn has_rva(&self) -> bool {
        self.flags & field_flags::HAS_RVA != 0
    }

    /// Field type with the owner's arguments substituted.
    ///
    /// # Errors
    /// `BadImageFormat`, `TypeLoad`.
    pub fn ty(&'static self) -> LoadResult<Ty> {
        self.ty.get(&|| format!("{self:?}"), || crate::signature::field_type(self))
    }

    /// See the field of that name. Computes the owner's layout.
    ///
    /// # Errors
    /// The owner's layout errors.
    pub fn offset_bytes(&'static self) -> LoadResult<u32> {
        crate::layout::field_offset(self)
    }

    /// The bytes of an RVA field, inside the mapped image; None for other fields.
    ///
    /// # Errors
    /// `BadImageFormat` when the data lies outside the image.
    pub fn rva_data(&'static self) -> LoadResult<Option<&'static [u8]>> {
        let Some(rva) = self.image.meta.field_rva(self.rid)? else { return Ok(None) };
        let size_bytes = self.ty()?.value_size_bytes()? as usize;
        Ok(Some(self.image.meta.rva_to_slice(rva, size_bytes)?))
    }
}
