//! Copies and zeroing of structs, and vectors in memory.
//!
//! Structs that may hold references are copied word by word, so that the collector never sees a torn reference, and
//! words without references field by field; other structs are copied by vector instructions.

use super::{ClifBuilder, MemoryKind};
use crate::type_facts::ValueLayout;
use crate::vector_memory::{self, VECTOR};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, types};
use saki_abi::HelperId;
use saki_il::ir::MemType;

/// Structs up to this size are copied word by word in line.
const INLINE_COPY_BYTES: u32 = 64;
/// Structs up to this size are zeroed in line.
const INLINE_ZERO_BYTES: u32 = 128;

impl ClifBuilder<'_, '_> {
    /// memmove without barrier.
    pub(crate) fn copy_memory(&mut self, destination: Value, source: Value, layout: ValueLayout) {
        if destination == source {
            return;
        }
        if layout.size_bytes > INLINE_COPY_BYTES {
            let bytes = self.i64_const(i64::from(layout.size_bytes));
            self.call_helper_nothrow(HelperId::MemMove, &[destination, source, bytes]);
            return;
        }
        let flags = self.struct_flags(layout);
        let words: Vec<(u32, Value)> = copied_chunks(layout)
            .map(|(offset, ty)| (offset, self.b.ins().load(ty, flags, source, offset as i32)))
            .collect();
        for (offset, word) in words {
            self.b.ins().store(flags, word, destination, offset as i32);
        }
    }

    fn struct_flags(&self, layout: ValueLayout) -> MemFlagsData {
        let flags = self.trusted(MemoryKind::Program);
        if layout.align_bytes >= 8 {
            flags
        } else {
            MemFlagsData::new().with_notrap().with_alias_region(flags.alias_region())
        }
    }

    pub(crate) fn zero_memory(&mut self, address: Value, layout: ValueLayout) {
        if layout.size_bytes > INLINE_ZERO_BYTES {
            let zero = self.i32_const(0);
            let bytes = self.i64_const(i64::from(layout.size_bytes));
            self.call_helper_nothrow(HelperId::MemSet, &[address, zero, bytes]);
            return;
        }
        let flags = self.struct_flags(layout);
        for (offset, ty) in chunks(layout) {
            let zero = self.zero(ty);
            self.b.ins().store(flags, zero, address, offset as i32);
        }
    }

    /// Writes a vector to memory of the frame, or of a caller's.
    pub(crate) fn store_vector(&mut self, address: Value, value: Value, mem: MemType) {
        let flags = self.unaligned();
        vector_memory::store(&mut self.b, address, 0, value, mem, flags);
    }

    /// Loads a vector from memory of the frame, or of a caller's.
    pub(crate) fn load_vector(&mut self, address: Value, mem: MemType) -> Value {
        let flags = self.unaligned();
        vector_memory::load(&mut self.b, address, 0, mem, flags)
    }
}

/// Splits a struct into words and a tail of smaller pieces. A struct whose fields have at most four bytes is split into
/// vectors first: it has no references, and no field that was just written as a word.
fn chunks(layout: ValueLayout) -> impl Iterator<Item = (u32, Type)> {
    let has_small_fields = layout.align_bytes <= 4;
    let mut offset = 0;
    std::iter::from_fn(move || {
        let ty = match layout.size_bytes - offset {
            16.. if has_small_fields => VECTOR,
            0 => return None,
            1 => types::I8,
            2..=3 => types::I16,
            4..=7 => types::I32,
            _ => types::I64,
        };
        let here = offset;
        offset += ty.bytes();
        Some((here, ty))
    })
}

/// Splits a struct as `chunks`, but words with smaller fields into these fields: a processor that loads a word of which
/// a part was just written waits until all of it is in the cache. Padding is left out.
fn copied_chunks(layout: ValueLayout) -> impl Iterator<Item = (u32, Type)> {
    chunks(layout).flat_map(move |(offset, ty)| {
        let word = (ty == types::I64).then_some(offset / 8);
        let mut pieces = word.into_iter().flat_map(move |word| layout.pieces_of_word(word)).peekable();
        let whole = pieces.peek().is_none().then_some((offset, ty));
        pieces.map(|(offset, size_bytes)| (offset, integer_type(size_bytes))).chain(whole)
    })
}

fn integer_type(size_bytes: u32) -> Type {
    match size_bytes {
        1 => types::I8,
        2 => types::I16,
        _ => types::I32,
    }
}
