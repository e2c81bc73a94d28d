//! The scalar fields that a value type consists of, flattened.

use crate::import::{memory_type, stack_type};
use crate::ir::{IrType, MemType};
use saki_types::ty::type_flags;
use saki_types::{LoadResult, Ty};

/// One scalar of a value type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Leaf {
    pub offset_bytes: i32,
    pub mem: MemType,
}

impl Leaf {
    pub fn ir_type(self) -> IrType {
        stack_type(self.mem)
    }
}

/// Bytes of a memory access.
pub(super) fn access_bytes(mem: MemType) -> i32 {
    match mem {
        MemType::I8 | MemType::U8 => 1,
        MemType::I16 | MemType::U16 => 2,
        MemType::I32 | MemType::F32 => 4,
        MemType::I64 | MemType::F64 | MemType::Ref | MemType::ByRef => 8,
    }
}

/// The leaves of `ty` in offset order; None when it has more than `limit`, overlapping fields, or bytes that no field
/// names.
pub(super) fn leaves(ty: Ty, limit: usize) -> Option<Vec<Leaf>> {
    let mut found = Vec::new();
    collect(ty, 0, limit, &mut found).ok()??;
    found.sort_by_key(|leaf| leaf.offset_bytes);
    let overlaps = found.windows(2).any(|w| w[0].offset_bytes + access_bytes(w[0].mem) > w[1].offset_bytes);
    (!overlaps).then_some(found)
}

fn collect(ty: Ty, base: i32, limit: usize, found: &mut Vec<Leaf>) -> LoadResult<Option<()>> {
    if ty.flags() & type_flags::LAYOUT_MASK == type_flags::EXPLICIT_LAYOUT {
        return Ok(None);
    }
    let mut end = 0;
    for field in ty.fields()? {
        if field.is_static() {
            continue;
        }
        let (field_ty, offset) = (field.ty()?, field.offset_bytes()? as i32);
        match memory_type(field_ty)? {
            Some(mem) => found.push(Leaf { offset_bytes: base + offset, mem }),
            None => {
                if collect(field_ty, base + offset, limit, found)?.is_none() {
                    return Ok(None);
                }
            }
        }
        end = end.max(offset as u32 + field_ty.value_size_bytes()?);
        if found.len() > limit {
            return Ok(None);
        }
    }
    // A size beyond the fields means data that no field names (fixed buffers).
    let natural = end.next_multiple_of(ty.value_align_bytes()?.max(1)).max(1);
    Ok((ty.value_size_bytes()? <= natural).then_some(()))
}
