//! The scalar fields of a value type, with those of nested value types.

use crate::import::kinds::mem_type as memory_type;
use crate::ir::{IrType, MemType, Op};
use crate::vector_types::{matrix_rows, vector_type};
use saki_types::ty::type_flags;
use saki_types::{LoadResult, Ty};

/// One scalar of a value type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Leaf {
    pub offset_bytes: i32,
    pub mem: MemType,
}

impl Leaf {
    /// The type of a variable that holds the leaf.
    pub fn ir_type(self) -> IrType {
        self.mem.loaded()
    }

    /// The constant zero of that type.
    pub fn zero(self) -> Op {
        match self.ir_type() {
            IrType::I32 => Op::ConstI32(0),
            IrType::F32 => Op::ConstF32(0.0),
            IrType::F64 => Op::ConstF64(0.0),
            IrType::Ref => Op::Null,
            IrType::V128 => Op::ConstV128(0),
            _ => Op::ConstI64(0),
        }
    }
}

/// Bytes of a memory access.
pub(super) fn access_bytes(mem: MemType) -> i32 {
    mem.bytes() as i32
}

/// The leaves of `ty` in offset order; None when it has more than `limit`, overlapping fields, or bytes that belong to
/// no field. `whole_vectors`: a vector type is one leaf, and so is each row of a matrix.
pub(super) fn leaves(ty: Ty, limit: usize, whole_vectors: bool) -> Option<Vec<Leaf>> {
    let mut found = Vec::new();
    if let Some(vector) = vector_type(ty).filter(|_| whole_vectors) {
        return Some(vec![Leaf { offset_bytes: 0, mem: vector.mem }]);
    }
    if let Some((rows, mem)) = matrix_rows(ty).filter(|_| whole_vectors) {
        return Some((0..rows).map(|row| Leaf { offset_bytes: (row * mem.bytes()) as i32, mem }).collect());
    }
    collect(ty, 0, limit, whole_vectors, &mut found).ok()??;
    found.sort_by_key(|leaf| leaf.offset_bytes);
    let overlaps = found.windows(2).any(|w| w[0].offset_bytes + access_bytes(w[0].mem) > w[1].offset_bytes);
    (!overlaps).then_some(found)
}

fn collect(ty: Ty, base: i32, limit: usize, whole_vectors: bool, found: &mut Vec<Leaf>) -> LoadResult<Option<()>> {
    if ty.flags() & type_flags::LAYOUT_MASK == type_flags::EXPLICIT_LAYOUT {
        return Ok(None);
    }
    let mut end = 0;
    for field in ty.fields()? {
        if field.is_static() {
            continue;
        }
        let (field_ty, offset) = (field.storage_ty()?, field.offset_bytes()? as i32);
        match memory_type(field_ty)? {
            Some(mem) => found.push(Leaf { offset_bytes: base + offset, mem }),
            None => {
                if let Some(vector) = vector_type(field_ty).filter(|_| whole_vectors) {
                    found.push(Leaf { offset_bytes: base + offset, mem: vector.mem });
                } else if collect(field_ty, base + offset, limit, whole_vectors, found)?.is_none() {
                    return Ok(None);
                }
            }
        }
        end = end.max(offset as u32 + field_ty.value_size_bytes()?);
        if found.len() > limit {
            return Ok(None);
        }
    }
    // A size beyond the fields means data that belongs to no field (fixed buffers).
    let natural = end.next_multiple_of(ty.value_align_bytes()?.max(1)).max(1);
    Ok((ty.value_size_bytes()? <= natural).then_some(()))
}
