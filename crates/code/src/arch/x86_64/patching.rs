//! x86-64: addresses in placed code.

use super::masm::DISPLACEMENT_BYTES;
use crate::error::CodeError;
use saki_abi::{AddressUse, Reloc, RelocKind};

/// Bytes of the field by which a direct call or jump names its target.
pub(super) const FIELD_BYTES: usize = DISPLACEMENT_BYTES;

/// The displacement from the end of an instruction to an address.
///
/// # Panics
/// If the distance is more than 2 GiB; the region and its data lie nearer to each other.
pub(super) fn displacement(from: usize, to: usize) -> [u8; FIELD_BYTES] {
    let distance = to.wrapping_sub(from) as i64;
    i32::try_from(distance).expect("the region and its data lie within 2 GiB").to_le_bytes()
}

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
    let relative = |target: usize| -> Option<i32> {
        i32::try_from((target as i64).wrapping_add(reloc.addend).wrapping_sub(place as i64)).ok()
    };
    let mut write = |bytes: &[u8]| {
        let field = body.get_mut(at..at + bytes.len()).ok_or_else(|| fail("outside the body"))?;
        field.copy_from_slice(bytes);
        Ok(())
    };
    match (reloc.kind, reloc.usage) {
        (RelocKind::Absolute8, AddressUse::AddressTaken) => {
            write(&(reloc.target as i64).wrapping_add(reloc.addend).to_le_bytes())
        }
        (RelocKind::X86PcRelative4, AddressUse::AddressTaken) => {
            let value = relative(reloc.target).ok_or_else(|| fail("the address is more than 2 GiB away"))?;
            write(&value.to_le_bytes())
        }
        (RelocKind::X86PcRelative4, AddressUse::Called) if reloc.addend == -(FIELD_BYTES as i64) => {
            let value = match relative(reloc.target) {
                Some(value) => value,
                None => relative(far(reloc.target)?).ok_or_else(|| fail("veneer is out of reach"))?,
            };
            write(&value.to_le_bytes())
        }
        (RelocKind::X86PcRelative4, AddressUse::Called) => Err(fail("a call's displacement counts from its end")),
        (RelocKind::Absolute8, AddressUse::Called) => Err(fail("no call holds an absolute address")),
        (RelocKind::Arm64Branch26 | RelocKind::Arm64AdrPage21 | RelocKind::Arm64AddLow12, _) => {
            Err(fail("it is of another architecture"))
        }
    }
}

/// See `Architecture::call_field`.
pub(super) fn call_field(field: usize, target: usize) -> [u8; FIELD_BYTES] {
    displacement(field + FIELD_BYTES, target)
}

/// See `Architecture::call_target`.
pub(super) fn call_target(field: usize, bytes: [u8; FIELD_BYTES]) -> usize {
    (field + FIELD_BYTES).wrapping_add_signed(i32::from_le_bytes(bytes) as isize)
}
