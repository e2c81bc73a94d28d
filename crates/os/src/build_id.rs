//! The identity of the running machine: the build id that the linker wrote into the executable, or into the library as
//! which the machine is a guest elsewhere; a hash of its contents.
//!
//! Left out: files without one, which have no identity here.

use std::ffi::c_void;

/// Owner of the note, with the zero byte that the length counts.
const OWNER: &[u8] = b"GNU\0";
const NT_GNU_BUILD_ID: u32 = 3;
const NOTE_HEADER_BYTES: usize = 12;

/// The `NT_GNU_BUILD_ID` note of the loaded file that this code is in.
pub fn build_id() -> Option<Vec<u8>> {
    /// # Safety
    /// `info` is the C library's description of a module, and `found` the address of an `Option<Vec<u8>>`
    /// that may be written.
    unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, found: *mut c_void) -> i32 {
        // SAFETY: the C library passes a valid description.
        let info = unsafe { &*info };
        // SAFETY: that many program headers follow the address.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
        let here = build_id as *const () as u64;
        let mut loaded = headers.iter().filter(|h| h.p_type == libc::PT_LOAD);
        if !loaded.any(|h| (info.dlpi_addr + h.p_vaddr..info.dlpi_addr + h.p_vaddr + h.p_memsz).contains(&here)) {
            return 0;
        }
        for header in headers.iter().filter(|h| h.p_type == libc::PT_NOTE) {
            let address = (info.dlpi_addr + header.p_vaddr) as *const u8;
            // SAFETY: a loaded segment of that length.
            let notes = unsafe { std::slice::from_raw_parts(address, header.p_memsz as usize) };
            if let Some(id) = id_in(notes) {
                // SAFETY: `build_id` passes the address of its own variable.
                unsafe { *found.cast::<Option<Vec<u8>>>() = Some(id.to_vec()) };
            }
        }
        1
    }
    let mut found: Option<Vec<u8>> = None;
    // SAFETY: `visit` gets the address of `found`, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut found).cast()) };
    found
}

/// Looks through notes: (owner length, contents length, type, owner, contents), each part padded to 4 bytes.
fn id_in(mut notes: &[u8]) -> Option<&[u8]> {
    loop {
        let word = |at: usize| Some(u32::from_le_bytes(notes.get(at..at + 4)?.try_into().ok()?));
        let (owner_len, id_len, kind) = (word(0)? as usize, word(4)? as usize, word(8)?);
        let id_at = NOTE_HEADER_BYTES + owner_len.next_multiple_of(4);
        let owner = notes.get(NOTE_HEADER_BYTES..NOTE_HEADER_BYTES + owner_len)?;
        let id = notes.get(id_at..id_at + id_len)?;
        if kind == NT_GNU_BUILD_ID && owner == OWNER {
            return Some(id);
        }
        notes = notes.get(id_at + id_len.next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_found_behind_others() {
        let mut notes = Vec::new();
        for (kind, id) in [(1u32, &[9u8; 5][..]), (NT_GNU_BUILD_ID, &[1, 2, 3, 4])] {
            notes.extend(4u32.to_le_bytes());
            notes.extend((id.len() as u32).to_le_bytes());
            notes.extend(kind.to_le_bytes());
            notes.extend(OWNER);
            notes.extend(id);
            notes.resize(notes.len().next_multiple_of(4), 0);
        }
        assert_eq!(id_in(&notes), Some(&[1, 2, 3, 4][..]));
        assert_eq!(id_in(&notes[..20]), None);
        assert_eq!(id_in(&[]), None);
    }

    #[test]
    fn this_executable_has_one() {
        assert!(build_id().is_some_and(|id| id.len() >= 8), "the linker writes build ids");
    }
}
