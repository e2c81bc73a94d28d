//! aarch64: addresses in placed code.
//!
//! A call or a jump to a method is one aligned instruction (`bl`, `b`). Another thread may execute it while its target
//! changes: `b` and `bl` are among the instructions that may be replaced by each other at any time (Arm ARM §B2.2.5).

use super::instructions::{self, INSTRUCTION_BYTES};
use crate::arch::FIELD_BYTES;
use crate::error::CodeError;
use saki_abi::{AddressUse, Reloc, RelocKind};

const _: () = assert!(FIELD_BYTES == INSTRUCTION_BYTES);

/// See `Architecture::relocate`.
pub(super) fn relocate(
    body: &mut [u8],
    start: usize,
    reloc: &Reloc<usize>,
    far: impl FnOnce(usize) -> Result<usize, CodeError>,
) -> Result<(), CodeError> {
    let fail = |reason| CodeError::BadRelocation { offset: reloc.offset, reason };
    let at = reloc.offset as usize;
    let place = start + at;
    let target = reloc.target.wrapping_add_signed(reloc.addend as isize);
    if (reloc.kind, reloc.usage) == (RelocKind::Absolute8, AddressUse::AddressTaken) {
        let field = body.get_mut(at..at + size_of::<usize>()).ok_or_else(|| fail("outside the body"))?;
        field.copy_from_slice(&target.to_le_bytes());
        return Ok(());
    }
    let field = body.get_mut(at..).and_then(<[u8]>::first_chunk_mut).ok_or_else(|| fail("outside the body"))?;
    let word = u32::from_le_bytes(*field);
    let relocated = match (reloc.kind, reloc.usage) {
        (RelocKind::Arm64Branch26, AddressUse::Called) if reloc.addend == 0 && instructions::is_branch(word) => {
            match instructions::lead_branch(word, place, target) {
                Some(word) => word,
                None => instructions::lead_branch(word, place, far(target)?)
                    .ok_or_else(|| fail("veneer is out of reach"))?,
            }
        }
        (RelocKind::Arm64Branch26, AddressUse::Called) => return Err(fail("it is not the target of a branch")),
        (RelocKind::Arm64AdrPage21, AddressUse::AddressTaken) => {
            instructions::with_page(word, place, target).ok_or_else(|| fail("the address is more than 4 GiB away"))?
        }
        (RelocKind::Arm64AddLow12, AddressUse::AddressTaken) => instructions::with_place_in_page(word, target),
        (RelocKind::Absolute8, _) => return Err(fail("no call holds an absolute address")),
        (RelocKind::Arm64Branch26, AddressUse::AddressTaken)
        | (RelocKind::Arm64AdrPage21 | RelocKind::Arm64AddLow12, AddressUse::Called) => {
            return Err(fail("the instruction is for another use"));
        }
        (RelocKind::X86PcRelative4, _) => return Err(fail("it is of another architecture")),
    };
    *field = relocated.to_le_bytes();
    Ok(())
}

/// See `Architecture::call_field`.
///
/// # Panics
/// If the target is out of reach: it lies in the region, which is no larger than that.
pub(super) fn call_field(field: usize, old: [u8; FIELD_BYTES], target: usize) -> [u8; FIELD_BYTES] {
    let word = instructions::lead_branch(u32::from_le_bytes(old), field, target);
    word.expect("code lies within 128 MiB").to_le_bytes()
}

/// See `Architecture::call_target`.
pub(super) fn call_target(field: usize, bytes: [u8; FIELD_BYTES]) -> usize {
    instructions::branch_target(field, u32::from_le_bytes(bytes))
}
