//! System.Diagnostics.FileVersionInfo: the version resource of a PE file.
//!
//! Invariant: a file without a usable resource leaves every field but the file name null or zero. Left out: language names
//! other than the neutral, invariant and US English ones.

use saki_abi::ObjRef;
use saki_runtime::{InternalCall, Managed, ManagedField, Thread, strings};

const fn field(name: &'static str) -> ManagedField {
    ManagedField::of("System", "System.Diagnostics", "FileVersionInfo", name)
}

static FILE_NAME: ManagedField = field("filename");
static LANGUAGE: ManagedField = field("language");

/// Fields with the keys of the strings that they hold.
static STRINGS: [(ManagedField, &str); 12] = [
    (field("comments"), "Comments"),
    (field("companyname"), "CompanyName"),
    (field("filedescription"), "FileDescription"),
    (field("fileversion"), "FileVersion"),
    (field("internalname"), "InternalName"),
    (field("legalcopyright"), "LegalCopyright"),
    (field("legaltrademarks"), "LegalTrademarks"),
    (field("originalfilename"), "OriginalFilename"),
    (field("privatebuild"), "PrivateBuild"),
    (field("productname"), "ProductName"),
    (field("productversion"), "ProductVersion"),
    (field("specialbuild"), "SpecialBuild"),
];

/// The version numbers, in the order of `Version::numbers`.
static NUMBERS: [ManagedField; 8] = [
    field("filemajorpart"),
    field("fileminorpart"),
    field("filebuildpart"),
    field("fileprivatepart"),
    field("productmajorpart"),
    field("productminorpart"),
    field("productbuildpart"),
    field("productprivatepart"),
];

/// The flags with their bits in the resource.
static FLAGS: [(ManagedField, u32); 5] = [
    (field("isdebug"), 1),
    (field("isprerelease"), 2),
    (field("ispatched"), 4),
    (field("isprivatebuild"), 8),
    (field("isspecialbuild"), 0x20),
];

/// What a version resource says.
#[derive(Default)]
struct Version {
    numbers: [u16; 8],
    flags: u32,
    language: u16,
    strings: Vec<(String, Vec<u16>)>,
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The bytes of the file's first version resource.
fn version_resource(file: &[u8]) -> Option<&[u8]> {
    const VERSION_TYPE: u32 = 16;
    const RESOURCE_DIRECTORY: usize = 2;
    let pe = u32_at(file, 0x3c)? as usize;
    if file.get(pe..pe + 4)? != b"PE\0\0" {
        return None;
    }
    let (sections, optional_size) = (u16_at(file, pe + 6)?, u16_at(file, pe + 20)? as usize);
    let optional = pe + 24;
    let directories = optional + if u16_at(file, optional)? == 0x20b { 112 } else { 96 };
    let resources_rva = u32_at(file, directories + 8 * RESOURCE_DIRECTORY)?;
    let offset_of = |rva: u32| {
        (0..usize::from(sections)).find_map(|index| {
            let section = optional + optional_size + 40 * index;
            let (size, start) = (u32_at(file, section + 16)?, u32_at(file, section + 12)?);
            let inside = rva.checked_sub(start).filter(|&distance| distance < size)?;
            Some((u32_at(file, section + 20)? + inside) as usize)
        })
    };
    let root = offset_of(resources_rva)?;
    // Three levels of directories: type, name, language.
    let mut directory = root;
    for level in 0..3 {
        let entries = u16_at(file, directory + 12)? as usize + u16_at(file, directory + 14)? as usize;
        let wanted = |at: usize| level > 0 || u32_at(file, at) == Some(VERSION_TYPE);
        let entry = (0..entries).map(|index| directory + 16 + 8 * index).find(|&at| wanted(at))?;
        directory = root + (u32_at(file, entry + 4)? & 0x7fff_ffff) as usize;
    }
    let start = offset_of(u32_at(file, directory)?)?;
    file.get(start..start + u32_at(file, directory + 4)? as usize)
}

/// A node of the resource: key, value, and where its children lie.
struct Node<'a> {
    key: String,
    value: &'a [u8],
    children: &'a [u8],
    length_bytes: usize,
}

/// The node at the start of `bytes`; its parts are aligned to 4 bytes from there.
fn node(bytes: &[u8]) -> Option<Node<'_>> {
    let length_bytes = u16_at(bytes, 0)? as usize;
    let bytes = bytes.get(..length_bytes).filter(|bytes| bytes.len() >= 6)?;
    let (value_length, is_text) = (u16_at(bytes, 2)? as usize, u16_at(bytes, 4)? == 1);
    let units: Vec<u16> = (6..).step_by(2).map_while(|at| u16_at(bytes, at).filter(|&unit| unit != 0)).collect();
    let value_at = (6 + 2 * (units.len() + 1)).next_multiple_of(4).min(length_bytes);
    let value_bytes = if is_text { value_length * 2 } else { value_length };
    let value_end = (value_at + value_bytes).min(length_bytes);
    Some(Node {
        key: String::from_utf16_lossy(&units),
        value: &bytes[value_at..value_end],
        children: bytes.get(value_end.next_multiple_of(4)..).unwrap_or_default(),
        length_bytes,
    })
}

fn nodes(mut bytes: &[u8]) -> impl Iterator<Item = Node<'_>> {
    std::iter::from_fn(move || {
        let found = node(bytes)?;
        bytes = bytes.get(found.length_bytes.next_multiple_of(4)..).unwrap_or_default();
        Some(found)
    })
}

fn read_version(resource: &[u8]) -> Option<Version> {
    const SIGNATURE: u32 = 0xfeef_04bd;
    let root = node(resource)?;
    let mut version = Version::default();
    if u32_at(root.value, 0)? != SIGNATURE {
        return None;
    }
    // Each version is two words, the more significant part first and the higher half first in it.
    for (index, at) in [10, 8, 14, 12, 18, 16, 22, 20].into_iter().enumerate() {
        version.numbers[index] = u16_at(root.value, at)?;
    }
    version.flags = u32_at(root.value, 24)? & u32_at(root.value, 28)?;
    for part in nodes(root.children) {
        for table in nodes(part.children) {
            if part.key == "VarFileInfo" {
                version.language = u16_at(table.value, 0).unwrap_or(0);
            }
            if part.key == "StringFileInfo" && version.strings.is_empty() {
                let text = |node: &Node| -> Vec<u16> {
                    let units = (0..node.value.len()).step_by(2).map_while(|at| u16_at(node.value, at));
                    units.take_while(|&unit| unit != 0).collect()
                };
                version.strings = nodes(table.children).map(|node| (node.key.clone(), text(&node))).collect();
            }
        }
    }
    Some(version)
}

fn language_name(language: u16) -> &'static str {
    match language {
        0x007f => "Invariant Language (Invariant Country)",
        0x0409 => "English (United States)",
        _ => "Language Neutral",
    }
}

fn fill(t: Thread, this: ObjRef, version: &Version) -> Managed<()> {
    for (field, key) in &STRINGS {
        let found = version.strings.iter().find(|(known, _)| known == key);
        let text = strings::new_string_utf16(t, found.map_or(&[], |(_, text)| text.as_slice()))?;
        field.set_ref(t, this, text);
    }
    for (field, number) in NUMBERS.iter().zip(version.numbers) {
        field.set(this, i32::from(number));
    }
    for (field, bit) in &FLAGS {
        field.set(this, u8::from(version.flags & bit != 0));
    }
    LANGUAGE.set_ref(t, this, strings::new_string(t, language_name(version.language))?);
    Ok(())
}

/// `FileVersionInfo.GetVersionInfo_icall(char* fileName, int length)`
unsafe extern "C" fn get_version_info(t: Thread, this: ObjRef, file_name: *const u16, length: i32) {
    t.run(|| {
        // SAFETY: managed code passes a pinned string of that length.
        let name = unsafe { std::slice::from_raw_parts(file_name, length.max(0) as usize) };
        FILE_NAME.set_ref(t, this, strings::new_string_utf16(t, name)?);
        let path = String::from_utf16_lossy(name);
        let file = saki_thread::blocking(|| std::fs::read(path));
        match file.ok().and_then(|file| read_version(version_resource(&file)?)) {
            Some(version) => fill(t, this, &version),
            None => Ok(()),
        }
    });
}

pub const TABLE: &[InternalCall] =
    &[("System.Diagnostics.FileVersionInfo::GetVersionInfo_icall", get_version_info as *const ())];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_read_with_their_padding() {
        // Key "ab" ends at byte 12, where the value "x" begins.
        let bytes: Vec<u8> =
            [16_u16, 2, 1, 0x61, 0x62, 0, 0x78, 0].iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let found = node(&bytes).expect("a node");
        assert_eq!((found.key.as_str(), found.value), ("ab", &[0x78, 0, 0, 0][..]));
        assert!(node(&bytes[..10]).is_none());
    }
}
