//! The questions of code generation about types, in one place.

use crate::error::CompileError;
use saki_types::{ElementType, LibraryType, Ty};

/// Size and alignment in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ValueLayout {
    pub size_bytes: u32,
    pub align_bytes: u32,
    /// Bit N: the 8-byte word N, beside other words, has two fields of four bytes each, which are written one by one.
    pub pairs: u8,
}

impl ValueLayout {
    /// Memory of which no more is known.
    pub const fn plain(size_bytes: u32, align_bytes: u32) -> ValueLayout {
        ValueLayout { size_bytes, align_bytes, pairs: 0 }
    }

    /// Whether the 8-byte word of this number has two fields of four bytes each.
    pub fn has_pair(self, word: u32) -> bool {
        u32::from(self.pairs).checked_shr(word).is_some_and(|pairs| pairs & 1 != 0)
    }
}

/// Layout of a value of type `ty` in a slot.
pub(crate) fn value_layout(ty: Ty) -> Result<ValueLayout, CompileError> {
    let (size_bytes, align_bytes) = (ty.value_size_bytes()?, ty.value_align_bytes()?.clamp(1, 16));
    let has_words = size_bytes > 8 && size_bytes <= MAX_PAIRED_BYTES && align_bytes >= 8;
    let pairs = if has_words { pairs_of(ty)? } else { 0 };
    Ok(ValueLayout { size_bytes, align_bytes, pairs })
}

/// Larger structs are copied by words alone. So are those of one word, which programs take for atomic. Those without
/// words are copied by vectors.
const MAX_PAIRED_BYTES: u32 = 16;

fn pairs_of(ty: Ty) -> Result<u8, CompileError> {
    let mut fields = Fields::default();
    fields.add(ty, 0)?;
    // Bit 2 N and the next one are the halves of word N.
    let is_pair = |word: u32| fields.halves >> (2 * word) & 3 == 3 && fields.words >> word & 1 == 0;
    Ok((0..MAX_PAIRED_BYTES / 8).filter(|&word| is_pair(word)).fold(0, |pairs, word| pairs | 1 << word))
}

/// A bit for each four bytes that are a field, and for each word in which a field of eight bytes begins.
#[derive(Default)]
struct Fields {
    halves: u32,
    words: u32,
}

impl Fields {
    fn add(&mut self, ty: Ty, base: u32) -> Result<(), CompileError> {
        for field in ty.fields()?.iter().filter(|field| !field.is_static()) {
            let (field_ty, offset) = (field.storage_ty()?, base + field.offset_bytes()?);
            if field_ty.underlying().element_type == ElementType::ValueType {
                self.add(field_ty, offset)?;
                continue;
            }
            match field_ty.value_size_bytes()? {
                4 if offset % 4 == 0 => self.halves |= 1 << (offset / 4),
                8 => self.words |= 1 << (offset / 8),
                _ => {}
            }
        }
        Ok(())
    }
}

/// How an exact-class or subclass test of `ty` can be done inline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CastKind {
    /// Every object passes.
    Always,
    /// The vtable must be this type's.
    Exact(Ty),
    /// Objects with this type's vtable pass; for others the runtime must decide (arrays, generic delegates).
    ExactOrRuntime(Ty),
    /// `display[index]` must be the type. `or_runtime`: other objects may be transparent proxies, for which the runtime
    /// must decide.
    Display { index: u32, or_runtime: bool },
    /// The runtime must decide: interfaces.
    Runtime,
}

/// See [`CastKind`].
pub(crate) fn cast_kind(ty: Ty) -> Result<CastKind, CompileError> {
    if ty.is_nullable() {
        // A boxed Nullable<T> is a boxed T.
        return Ok(CastKind::Exact(ty.args[0]));
    }
    if ty.is_array() || (ty.is_delegate() && !ty.args.is_empty()) {
        return Ok(CastKind::ExactOrRuntime(ty));
    }
    if ty.is_interface() || ty.def().is_none() {
        return Ok(CastKind::Runtime);
    }
    if ty.parent()?.is_none() {
        return Ok(CastKind::Always);
    }
    let may_be_proxy = ty.is_marshal_by_ref() || ty.is(LibraryType::TransparentProxy);
    if ty.is_value_type() || (ty.is_sealed() && !may_be_proxy) {
        return Ok(CastKind::Exact(ty));
    }
    Ok(CastKind::Display { index: ty.supertypes()?.len() as u32 - 1, or_runtime: may_be_proxy })
}
