//! The version resource of a PE file.
//!
//! A version resource is a tree of blocks: length, value length and type (u16 each), a UTF-16 key, then value and
//! children, each aligned to 4 bytes. Invariant: all accesses are bounds-checked, since the file may hold anything.

use std::collections::HashMap;

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The contents of a version resource.
#[derive(Debug, Default)]
pub(super) struct Version {
    /// Of the file, then of the product.
    pub numbers: [i32; 8],
    pub flags: u32,
    pub language: Option<u16>,
    pub texts: HashMap<String, String>,
}

/// The bytes of the first version resource of a PE file.
pub(super) fn resource(file: &[u8]) -> Option<&[u8]> {
    const RESOURCE_DIRECTORY: usize = 2;
    const RT_VERSION: u32 = 16;
    const IS_DIRECTORY: u32 = 0x8000_0000;
    let header = u32_at(file, 0x3c)? as usize;
    if file.get(header..header + 4)? != b"PE\0\0" {
        return None;
    }
    let optional = header + 24;
    let directories = optional + if u16_at(file, optional)? == 0x20b { 112 } else { 96 };
    let sections = optional + u16_at(file, header + 20)? as usize;
    let offset_of = |address: u32| {
        (0..u16_at(file, header + 6)? as usize).find_map(|index| {
            let section = sections + index * 40;
            let inside = address.checked_sub(u32_at(file, section + 12)?)?;
            (inside < u32_at(file, section + 16)?).then_some(u32_at(file, section + 20)? as usize + inside as usize)
        })
    };
    let root = file.get(offset_of(u32_at(file, directories + RESOURCE_DIRECTORY * 8)?)?..)?;
    let entry_of = |at: usize, wanted: Option<u32>| {
        let count = u16_at(root, at + 12)? as usize + u16_at(root, at + 14)? as usize;
        (0..count).map(|index| at + 16 + index * 8).find_map(|entry| {
            let target = u32_at(root, entry + 4)?;
            wanted.is_none_or(|id| u32_at(root, entry) == Some(id)).then_some(target)
        })
    };
    let names = entry_of(0, Some(RT_VERSION))? & !IS_DIRECTORY;
    let languages = entry_of(names as usize, None)? & !IS_DIRECTORY;
    let data = entry_of(languages as usize, None)? as usize;
    let start = offset_of(u32_at(root, data)?)?;
    file.get(start..start.checked_add(u32_at(root, data + 4)? as usize)?)
}

/// A block of the tree: its key, the offsets of its value and of its children, and its end.
struct Block {
    key: String,
    value: usize,
    value_length: usize,
    end: usize,
}

/// Text up to its NUL, and the offset behind that.
fn text_at(bytes: &[u8], mut at: usize, end: usize) -> Option<(String, usize)> {
    let mut units = Vec::new();
    while at < end {
        let unit = u16_at(bytes, at)?;
        at += 2;
        if unit == 0 {
            break;
        }
        units.push(unit);
    }
    Some((String::from_utf16_lossy(&units), at))
}

fn block_at(bytes: &[u8], at: usize) -> Option<Block> {
    let length = u16_at(bytes, at)? as usize;
    let end = at.checked_add(length).filter(|&end| length >= 6 && end <= bytes.len())?;
    let (key, behind) = text_at(bytes, at + 6, end)?;
    Some(Block { key, value: behind.next_multiple_of(4), value_length: u16_at(bytes, at + 2)? as usize, end })
}

/// Calls `visit` for the blocks from `at` to `end`.
fn for_each_block(bytes: &[u8], mut at: usize, end: usize, mut visit: impl FnMut(&Block)) {
    while at < end {
        let Some(block) = block_at(bytes, at) else { return };
        visit(&block);
        at = block.end.next_multiple_of(4);
    }
}

/// The contents of a version resource; None if its root is not complete.
pub(super) fn parse(bytes: &[u8]) -> Option<Version> {
    const SIGNATURE: u32 = 0xfeef_04bd;
    let root = block_at(bytes, 0)?;
    let mut version = Version::default();
    if u32_at(bytes, root.value) == Some(SIGNATURE) {
        for (index, number) in version.numbers.iter_mut().enumerate() {
            // A version number stores its upper word last.
            *number = i32::from(u16_at(bytes, root.value + 8 + (index ^ 1) * 2)?);
        }
        version.flags = u32_at(bytes, root.value + 24)? & u32_at(bytes, root.value + 28)?;
    }
    let children = (root.value + root.value_length).next_multiple_of(4);
    for_each_block(bytes, children, root.end, |info| match info.key.as_str() {
        "VarFileInfo" => for_each_block(bytes, info.value, info.end, |variable| {
            version.language = version.language.or_else(|| u16_at(bytes, variable.value));
        }),
        "StringFileInfo" => for_each_block(bytes, info.value, info.end, |table| {
            for_each_block(bytes, table.value, table.end, |text| {
                if let Some((value, _)) = text_at(bytes, text.value, text.end) {
                    version.texts.entry(text.key.clone()).or_insert(value);
                }
            });
        }),
        _ => {}
    });
    Some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn padded(mut bytes: Vec<u8>) -> Vec<u8> {
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn utf16(text: &str) -> Vec<u8> {
        text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect()
    }

    /// A block with its length; `value_length` is what the block states for it.
    fn block(key: &str, value: &[u8], value_length: u16, children: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = vec![0; 6];
        bytes.extend(utf16(key));
        bytes = padded(bytes);
        bytes.extend(value);
        for child in children {
            bytes = padded(bytes);
            bytes.extend(child);
        }
        let length = bytes.len() as u16;
        bytes[..2].copy_from_slice(&length.to_le_bytes());
        bytes[2..4].copy_from_slice(&value_length.to_le_bytes());
        bytes
    }

    /// Version 1.2.3.4 of a product 5.6.7.8 by "Saki", in German.
    fn sample() -> Vec<u8> {
        let words = [0xfeef_04bd_u32, 0x1_0000, 0x1_0002, 0x3_0004, 0x5_0006, 0x7_0008, 0x3f, 0x22, 4, 1, 0, 0, 0];
        let fixed: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let texts = [("CompanyName", "Saki"), ("FileVersion", "1.2.3.4"), ("Comments", "")];
        let texts = texts.map(|(key, text)| block(key, &utf16(text), text.len() as u16 + 1, &[]));
        let table = block("040704b0", &[], 0, &texts);
        let language = block("Translation", &[0x07, 0x04, 0xb0, 0x04], 4, &[]);
        let children = [block("VarFileInfo", &[], 0, &[language]), block("StringFileInfo", &[], 0, &[table])];
        block("VS_VERSION_INFO", &fixed, fixed.len() as u16, &children)
    }

    /// A PE file of one section, which has nothing but this resource.
    fn file_with(resource: &[u8]) -> Vec<u8> {
        const HEADER: usize = 0x40;
        const OPTIONAL_BYTES: usize = 0xe0;
        const SECTION: usize = HEADER + 24 + OPTIONAL_BYTES;
        const ADDRESS: u32 = 0x2000;
        let mut file = vec![0; 0x200];
        let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, b"MZ");
        put(0x3c, &(HEADER as u32).to_le_bytes());
        put(HEADER, b"PE\0\0");
        put(HEADER + 6, &1_u16.to_le_bytes());
        put(HEADER + 20, &(OPTIONAL_BYTES as u16).to_le_bytes());
        put(HEADER + 24, &0x10b_u16.to_le_bytes());
        put(HEADER + 24 + 96 + 16, &ADDRESS.to_le_bytes());
        let directory = |id: u32, target: u32| [0, 0, 0, 0x1_0000, id, target].map(u32::to_le_bytes).concat();
        // Types, names, languages, and the resource's address and length.
        let mut section = [
            directory(16, 0x8000_0018),
            directory(1, 0x8000_0030),
            directory(0x407, 0x48),
            [ADDRESS + 0x58, resource.len() as u32, 0, 0].map(u32::to_le_bytes).concat(),
        ]
        .concat();
        section.extend(resource);
        let length = section.len() as u32;
        put(SECTION + 8, &[length, ADDRESS, length, 0x200].map(u32::to_le_bytes).concat());
        file.extend(section);
        file
    }

    #[test]
    fn a_resource_is_found_and_read() {
        let file = file_with(&sample());
        let found = resource(&file).unwrap();
        assert_eq!(found, sample());
        let version = parse(found).unwrap();
        assert_eq!(version.numbers, [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!((version.flags, version.language), (0x22, Some(0x407)));
        let text = |key: &str| version.texts.get(key).map(String::as_str);
        assert_eq!(
            [text("CompanyName"), text("FileVersion"), text("Comments")],
            [Some("Saki"), Some("1.2.3.4"), Some("")]
        );
    }

    #[test]
    fn files_without_a_whole_resource_have_none() {
        assert!(resource(b"MZ").is_none());
        let file = file_with(&sample());
        assert!(resource(&file[..file.len() - 1]).is_none());
        assert!(parse(&sample()[..40]).is_none());
    }

    #[test]
    fn fuzz_version_resources() {
        saki_mutation::survive("version_resources", &[file_with(&sample()), sample()], |bytes| {
            if let Some(found) = resource(bytes) {
                parse(found);
            }
            parse(bytes);
        });
    }
}
