//! Hand-assembles the smallest PE file around a given table stream and heaps.

/// Virtual address of the only section.
const SECTION_RVA: u32 = 0x2000;
/// File offset of the only section.
const SECTION_OFFSET: usize = 0x200;
const CLI_HEADER_BYTES: usize = 72;

/// Rows of 16-bit cells per table number, in order of the numbers.
pub struct Tables<'a> {
    /// `#~` or `#-`.
    pub stream_name: &'a str,
    pub sorted: u64,
    pub rows: &'a [(u8, &'a [&'a [u16]])],
}

/// The bytes of an image with `#Strings` and `#Blob` heaps as given (each begins with a zero byte).
pub fn image_bytes(tables: &Tables<'_>, strings: &[u8], blobs: &[u8]) -> Vec<u8> {
    let metadata = metadata_root(tables, strings, blobs);
    let mut section = vec![0; CLI_HEADER_BYTES];
    put_u32(&mut section, 0, CLI_HEADER_BYTES as u32);
    put_u32(&mut section, 8, SECTION_RVA + CLI_HEADER_BYTES as u32);
    put_u32(&mut section, 12, metadata.len() as u32);
    put_u32(&mut section, 16, 1);
    section.extend(metadata);

    let mut file = vec![0; SECTION_OFFSET];
    file[..2].copy_from_slice(b"MZ");
    put_u32(&mut file, 0x3c, 0x40);
    file[0x40..0x44].copy_from_slice(b"PE\0\0");
    put_u16(&mut file, 0x44, 0x14c);
    put_u16(&mut file, 0x46, 1);
    put_u16(&mut file, 0x54, 0xe0);
    put_u16(&mut file, 0x58, 0x10b);
    put_u32(&mut file, 0x58 + 92, 16);
    put_u32(&mut file, 0x58 + 96 + 14 * 8, SECTION_RVA);
    put_u32(&mut file, 0x58 + 96 + 14 * 8 + 4, CLI_HEADER_BYTES as u32);
    let header = 0x58 + 0xe0;
    put_u32(&mut file, header + 8, section.len() as u32);
    put_u32(&mut file, header + 12, SECTION_RVA);
    put_u32(&mut file, header + 16, section.len() as u32);
    put_u32(&mut file, header + 20, SECTION_OFFSET as u32);
    file.extend(section);
    file
}

fn metadata_root(tables: &Tables<'_>, strings: &[u8], blobs: &[u8]) -> Vec<u8> {
    let streams =
        [(tables.stream_name, table_stream(tables)), ("#Strings", strings.to_vec()), ("#Blob", blobs.to_vec())];
    let mut root = Vec::new();
    root.extend(0x424a_5342_u32.to_le_bytes());
    root.extend([1, 0, 1, 0, 0, 0, 0, 0, 8, 0, 0, 0]);
    root.extend(b"v4.0\0\0\0\0");
    root.extend([0, 0, streams.len() as u8, 0]);
    let name_bytes = |name: &str| (name.len() + 4) & !3;
    let mut offset = root.len() + streams.iter().map(|(name, _)| 8 + name_bytes(name)).sum::<usize>();
    for (name, content) in &streams {
        root.extend((offset as u32).to_le_bytes());
        root.extend((content.len() as u32).to_le_bytes());
        let padded_end = root.len() + name_bytes(name);
        root.extend(name.as_bytes());
        root.resize(padded_end, 0);
        offset += content.len();
    }
    for (_, content) in streams {
        root.extend(content);
    }
    root
}

fn table_stream(tables: &Tables<'_>) -> Vec<u8> {
    let mut stream = vec![0, 0, 0, 0, 2, 0, 0, 1];
    let valid = tables.rows.iter().fold(0_u64, |mask, (table, _)| mask | 1 << table);
    stream.extend(valid.to_le_bytes());
    stream.extend(tables.sorted.to_le_bytes());
    for (_, rows) in tables.rows {
        stream.extend((rows.len() as u32).to_le_bytes());
    }
    for cell in tables.rows.iter().flat_map(|(_, rows)| rows.iter()).flat_map(|row| row.iter()) {
        stream.extend(cell.to_le_bytes());
    }
    stream
}

fn put_u16(bytes: &mut [u8], offset: usize, value: u16) {
    bytes[offset..offset + 2].copy_from_slice(&value.to_le_bytes());
}

fn put_u32(bytes: &mut [u8], offset: usize, value: u32) {
    bytes[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
}
