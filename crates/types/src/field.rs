//! `Field`: a field of an exact type. At the bottom of this crate, like `ty`: plain data and cells.

use crate::domain::Image;
use crate::lazy_word::LazyRef;
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
    pub rid: Rid,
    pub name: &'static str,
    /// `FieldAttributes`.
    pub flags: u16,
    /// Marked `[ThreadStatic]`.
    pub is_thread_static: bool,
    /// Marked `[ContextStatic]`; `is_thread_static` is then set too, since neither kind has a single storage location.
    pub is_context_static: bool,
    /// GC handle of the reflection object, 0 until made.
    pub reflection_handle: AtomicU32,
    /// Filled by `signature`.
    pub(crate) ty: LazyRef<Ty>,
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

impl Field {
    /// The image whose row `rid` is.
    pub fn image(&self) -> &'static Image {
        self.owner.image()
    }

    pub fn is_static(&self) -> bool {
        self.flags & field_flags::STATIC != 0
    }
    /// Written by the class constructor alone (`readonly`).
    pub fn is_init_only(&self) -> bool {
        self.flags & field_flags::INIT_ONLY != 0
    }
    pub fn is_literal(&self) -> bool {
        self.flags & field_flags::LITERAL != 0
    }
    pub fn has_rva(&self) -> bool {
        self.flags & field_flags::HAS_RVA != 0
    }
}
