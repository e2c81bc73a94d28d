//! Inline arrays: structs with `InlineArrayAttribute`, which repeat their only instance field.
//!
//! The attribute is recognised by name in any assembly, as in .NET, and has no meaning on classes. A struct with a
//! declared size is repeated as a whole. Left out: bounds; programs compute the places of elements themselves.

use super::{MAX_INSTANCE_BYTES, error};
use crate::attributes::attribute_blob;
use crate::error::LoadResult;
use crate::ty::{Ty, type_flags};
use saki_metadata::{TableId, Token};

/// The number of elements of an inline array; None for other types.
///
/// # Errors
/// `TypeLoad` for a length below one or beyond all sizes, explicit layout, and a number of instance fields other than
/// one.
pub(super) fn length(ty: Ty, instance_fields: usize) -> LoadResult<Option<u32>> {
    let Some(def) = ty.def().filter(|_| ty.is_value_type()) else { return Ok(None) };
    let token = Token::new(TableId::TypeDef, def.rid);
    let value = attribute_blob(def.image, token, "System.Runtime.CompilerServices", "InlineArrayAttribute")?;
    let Some(value) = value else { return Ok(None) };
    // ECMA-335 §II.23.3: the prolog, then the only argument, an int32.
    let Some(&[1, 0, a, b, c, d]) = value.first_chunk() else { return Ok(None) };
    let length = i32::from_le_bytes([a, b, c, d]);
    if def.flags & type_flags::LAYOUT_MASK == type_flags::EXPLICIT_LAYOUT {
        return Err(error(ty, "InlineArrayAttribute cannot be applied to a type with explicit layout"));
    }
    if instance_fields != 1 {
        return Err(error(ty, "InlineArrayAttribute requires that the target type has a single instance field"));
    }
    match u32::try_from(length) {
        Ok(length) if u64::from(length) > MAX_INSTANCE_BYTES => Err(error(ty, "it is too large")),
        Ok(length @ 1..) => Ok(Some(length)),
        _ => Err(error(ty, "InlineArrayAttribute requires that the length argument is greater than 0")),
    }
}

/// Adds the references of all further elements to those of the first; as many as fit into the largest type.
pub(super) fn repeat(refs: &mut Vec<u32>, element_bytes: u64, length: u32) {
    let of_first = refs.clone();
    for index in 1..u64::from(length) {
        let start = index * element_bytes;
        if of_first.is_empty() || start > MAX_INSTANCE_BYTES {
            break;
        }
        refs.extend(of_first.iter().map(|at| start as u32 + at));
    }
}
