//! Makes two assemblies comparable that were written by two runs of one compiler: what differs from run to run by
//! design (the time stamp, the GUID heap with the module's MVID) becomes zero, every other byte stays.
//!
//! Reads only as much of PE as is needed to find those places; a file that is none is left as it is.
//! ECMA-335 §II.25.2 (PE headers), §II.24.2 (metadata root).

/// Clears the run-dependent parts of `file` in place, if it is a .NET assembly.
pub fn clear_run_dependent(file: &mut [u8]) {
    // A malformed file is compared as it is.
    let _ = try_clear(file);
}

fn try_clear(file: &mut [u8]) -> Option<()> {
    if file.get(..2)? != b"MZ" {
        return None;
    }
    let pe = u32_at(file, 0x3c)? as usize;
    if file.get(pe..pe + 4)? != b"PE\0\0" {
        return None;
    }
    file.get_mut(pe + 8..pe + 12)?.fill(0);
    let section_count = u16_at(file, pe + 6)? as usize;
    let optional_header = pe + 24;
    let directories = match u16_at(file, optional_header)? {
        0x20b => optional_header + 112,
        _ => optional_header + 96,
    };
    let sections = optional_header + u16_at(file, pe + 20)? as usize;
    let cli_header = file_offset(file, sections, section_count, u32_at(file, directories + 14 * 8)?)?;
    let root = file_offset(file, sections, section_count, u32_at(file, cli_header + 8)?)?;
    let version_bytes = u32_at(file, root + 12)? as usize;
    let mut header = root + 16 + version_bytes + 4;
    for _ in 0..u16_at(file, root + 16 + version_bytes + 2)? {
        let (offset, size_bytes) = (u32_at(file, header)? as usize, u32_at(file, header + 4)? as usize);
        let name_bytes = file.get(header + 8..)?.iter().position(|&b| b == 0)?;
        if file.get(header + 8..header + 8 + name_bytes)? == b"#GUID" {
            file.get_mut(root + offset..root + offset + size_bytes)?.fill(0);
        }
        // The name with its terminator is padded to a multiple of four.
        header += 8 + (name_bytes + 4) / 4 * 4;
    }
    Some(())
}

/// The place in the file of an address relative to the image's base.
fn file_offset(file: &[u8], sections: usize, count: usize, address: u32) -> Option<usize> {
    (0..count).find_map(|i| {
        let section = sections + i * 40;
        let (start, size_bytes) = (u32_at(file, section + 12)?, u32_at(file, section + 16)?);
        let within = address.checked_sub(start).filter(|&d| d < size_bytes)?;
        Some(u32_at(file, section + 20)? as usize + within as usize)
    })
}

fn u16_at(file: &[u8], offset: usize) -> Option<u16> {
    Some(u16::from_le_bytes(file.get(offset..offset + 2)?.try_into().ok()?))
}

fn u32_at(file: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_le_bytes(file.get(offset..offset + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::clear_run_dependent;

    #[test]
    fn other_files_stay_as_they_are() {
        for text in [&b"MZ"[..], b"text", b"", &[b'M'; 200]] {
            let mut file = text.to_vec();
            clear_run_dependent(&mut file);
            assert_eq!(file, text);
        }
    }
}
