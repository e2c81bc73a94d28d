//! System.Diagnostics.FileVersionInfo: the version resource of a PE file.
//!
//! A version resource is a tree of blocks: length, value length and type (u16 each), a UTF-16 key, then value and children,
//! each aligned to 4 bytes. All accesses are bounds-checked; a file without a complete resource gives no information. Left out:
//! names of languages other than English and neutral.

use crate::arguments::{non_null_this, units_at};
use crate::io::path::system_path_of;
use saki_runtime::{CurrentThread, InternalCall, Managed, ManagedField, Obj, Str};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

const fn field(name: &'static str) -> ManagedField {
    ManagedField::of("System", "System.Diagnostics", "FileVersionInfo", name)
}

/// The strings of the resource and the fields they go to.
static TEXTS: [(&str, ManagedField); 12] = [
    ("Comments", field("comments")),
    ("CompanyName", field("companyname")),
    ("FileDescription", field("filedescription")),
    ("FileVersion", field("fileversion")),
    ("InternalName", field("internalname")),
    ("LegalCopyright", field("legalcopyright")),
    ("LegalTrademarks", field("legaltrademarks")),
    ("OriginalFilename", field("originalfilename")),
    ("PrivateBuild", field("privatebuild")),
    ("ProductName", field("productname")),
    ("ProductVersion", field("productversion")),
    ("SpecialBuild", field("specialbuild")),
];
static FILE_NAME: ManagedField = field("filename");
static LANGUAGE: ManagedField = field("language");
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
/// Bits of the file flags.
static FLAGS: [(u32, ManagedField); 5] = [
    (0x01, field("isdebug")),
    (0x02, field("isprerelease")),
    (0x04, field("ispatched")),
    (0x08, field("isprivatebuild")),
    (0x20, field("isspecialbuild")),
];

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The contents of a version resource.
#[derive(Default)]
struct Version {
    numbers: [i32; 8],
    flags: u32,
    language: Option<u16>,
    texts: HashMap<String, String>,
}

/// The bytes of the first version resource of a PE file.
fn resource(file: &[u8]) -> Option<&[u8]> {
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

fn parse(bytes: &[u8]) -> Option<Version> {
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

/// Languages by their number; English when the resource names none.
fn language_name(language: Option<u16>) -> &'static str {
    match language {
        Some(0) => "Language Neutral",
        Some(0x007f) => "Invariant Language (Invariant Country)",
        None | Some(0x0409) => "English (United States)",
        Some(0x0809) => "English (United Kingdom)",
        Some(_) => "",
    }
}

fn get_version_info(t: CurrentThread, this: Option<Obj>, path: *const u16, length: i32) -> Managed<()> {
    let this = non_null_this(t, this)?;
    // SAFETY: the managed caller pins the string for the call.
    let path = unsafe { units_at(path, length) };
    let file = system_path_of(path)
        .ok()
        .and_then(|path| t.managed().blocking(|| std::fs::read(OsStr::from_bytes(path.as_bytes()))).ok());
    FILE_NAME.set_ref(t, this, Str::from_units(t, path)?);
    let version = file.as_deref().and_then(|file| parse(resource(file)?));
    let Some(version) = version else { return Ok(()) };
    for (field, number) in NUMBERS.iter().zip(version.numbers) {
        field.set(this, number);
    }
    for (bit, field) in &FLAGS {
        field.set(this, u8::from(version.flags & bit != 0));
    }
    for (key, field) in &TEXTS {
        let text = version.texts.get(*key).map_or("", String::as_str);
        field.set_ref(t, this, Str::new(t, text)?);
    }
    LANGUAGE.set_ref(t, this, Str::new(t, language_name(version.language))?);
    Ok(())
}

pub const TABLE: &[InternalCall] =
    &[InternalCall::new("System.Diagnostics.FileVersionInfo::GetVersionInfo_icall", &get_version_info)];
