//! The questions of code generation about types, in one place.

use crate::error::CompileError;
use saki_types::{ElementType, LibraryType, Ty};

/// Size and alignment in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ValueLayout {
    pub size_bytes: u32,
    pub align_bytes: u32,
    /// How the value is written, four bits for each 8-byte word: 0 as a word; else [`Half`] of its lower four bytes,
    /// and from bit 2 on of its upper ones.
    pieces: u32,
}

/// How four bytes of a value are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Half {
    /// Not at all: they are padding.
    Nothing = 0,
    Byte = 1,
    TwoBytes = 2,
    FourBytes = 3,
}

impl Half {
    fn of_bits(bits: u32) -> Half {
        [Half::Nothing, Half::Byte, Half::TwoBytes, Half::FourBytes][bits as usize & 3]
    }

    fn size_bytes(self) -> u32 {
        [0, 1, 2, 4][self as usize]
    }
}

impl ValueLayout {
    /// Memory of which no more is known.
    pub const fn plain(size_bytes: u32, align_bytes: u32) -> ValueLayout {
        ValueLayout { size_bytes, align_bytes, pieces: 0 }
    }

    /// Offset and size of each piece of the 8-byte word of this number in which the value is written; none for a word
    /// that is written as a whole.
    pub fn pieces_of_word(self, word: u32) -> impl Iterator<Item = (u32, u32)> {
        let bits = self.pieces.checked_shr(4 * word).unwrap_or(0);
        let halves = [Half::of_bits(bits), Half::of_bits(bits >> 2)];
        let places = [8 * word, 8 * word + 4];
        places.into_iter().zip(halves.map(Half::size_bytes)).filter(|&(_, size_bytes)| size_bytes != 0)
    }
}

/// Layout of a value of type `ty` in a slot.
pub(crate) fn value_layout(ty: Ty) -> Result<ValueLayout, CompileError> {
    let (size_bytes, align_bytes) = (ty.value_size_bytes()?, ty.value_align_bytes()?.clamp(1, 16));
    let has_words = size_bytes > 8 && size_bytes <= MAX_BYTES_IN_PIECES && align_bytes >= 8;
    let pieces = if has_words { pieces_of(ty)? } else { 0 };
    Ok(ValueLayout { size_bytes, align_bytes, pieces })
}

/// Larger structs are copied by words alone. So are those of one word, which programs take for atomic. Those without
/// words are copied by vectors.
const MAX_BYTES_IN_PIECES: u32 = 64;

fn pieces_of(ty: Ty) -> Result<u32, CompileError> {
    let mut fields = Fields::default();
    if !fields.add(ty, 0)? {
        return Ok(0);
    }
    Ok((0..MAX_BYTES_IN_PIECES / 8).fold(0, |pieces, word| pieces | fields.pieces_of_word(word) << (4 * word)))
}

/// A bit for each byte of a value: by size, those at which a field of one, two or four bytes begins, and those that
/// belong to larger or misaligned fields.
#[derive(Default)]
struct Fields {
    bytes: u64,
    pairs: u64,
    fours: u64,
    others: u64,
}

impl Fields {
    /// Whether all bytes behind the last field of each struct are padding: not in inline arrays, buffers of fixed size,
    /// and structs that were given a size.
    fn add(&mut self, ty: Ty, base: u32) -> Result<bool, CompileError> {
        if ty.has_declared_size()? {
            return Ok(false);
        }
        let mut end = 0;
        for field in ty.fields()?.iter().filter(|field| !field.is_static()) {
            let (field_ty, offset_bytes) = (field.storage_ty()?, field.offset_bytes()?);
            let (size_bytes, offset) = (field_ty.value_size_bytes()?, base + offset_bytes);
            end = end.max(offset_bytes + size_bytes);
            if offset + size_bytes > MAX_BYTES_IN_PIECES {
                return Ok(false);
            }
            if field_ty.underlying().element_type == ElementType::ValueType {
                if !self.add(field_ty, offset)? {
                    return Ok(false);
                }
                continue;
            }
            match size_bytes {
                1 => self.bytes |= 1 << offset,
                2 if offset % 2 == 0 => self.pairs |= 1 << offset,
                4 if offset % 4 == 0 => self.fours |= 1 << offset,
                _ => (offset..offset + size_bytes).for_each(|byte| self.others |= 1 << byte),
            }
        }
        Ok(end.next_multiple_of(ty.value_align_bytes()?.max(1)) == ty.value_size_bytes()?)
    }

    fn pieces_of_word(&self, word: u32) -> u32 {
        if self.others >> (8 * word) & 0xff != 0 {
            return 0;
        }
        self.half(8 * word) as u32 | (self.half(8 * word + 4) as u32) << 2
    }

    fn half(&self, offset: u32) -> Half {
        let [bytes, pairs, fours] = [self.bytes, self.pairs, self.fours].map(|starts| starts >> offset & 0xf);
        match (bytes, pairs, fours) {
            (0, 0, 0) => Half::Nothing,
            (1, 0, 0) => Half::Byte,
            (0, 1, 0) => Half::TwoBytes,
            _ => Half::FourBytes,
        }
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
