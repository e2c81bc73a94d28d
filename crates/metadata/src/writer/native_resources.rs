//! The `.rsrc` section: a tree of type, number and language. PE/COFF specification, "The .rsrc Section".

use super::{pad, put16, put32};
use std::collections::BTreeMap;

/// A Windows resource, such as a version block.
pub struct NativeResource {
    /// Type number: 16 = version.
    pub kind: u32,
    pub id: u32,
    pub language: u32,
    pub data: Vec<u8>,
}

const DIRECTORY_BYTES: usize = 16;
const ENTRY_BYTES: usize = 8;
const DATA_ENTRY_BYTES: usize = 16;
/// The entry leads to a directory, not to data.
const IS_DIRECTORY: u32 = 0x8000_0000;

type Languages<'a> = BTreeMap<u32, &'a [u8]>;

fn put_directory(out: &mut Vec<u8>, entries: usize) {
    out.resize(out.len() + DIRECTORY_BYTES - 2, 0);
    put16(out, entries as u16);
}

/// The section's content, for a section at `rva`. Of resources with equal numbers the last one counts.
pub(super) fn section(resources: &[NativeResource], rva: u32) -> Vec<u8> {
    let mut kinds: BTreeMap<u32, BTreeMap<u32, Languages<'_>>> = BTreeMap::new();
    for resource in resources {
        let ids = kinds.entry(resource.kind).or_default();
        ids.entry(resource.id).or_default().insert(resource.language, &resource.data);
    }
    let directory = |entries: usize| DIRECTORY_BYTES + entries * ENTRY_BYTES;
    // Where each level begins: kinds, ids, languages, descriptions of data, data.
    let ids_at = directory(kinds.len());
    let languages_at = ids_at + kinds.values().map(|ids| directory(ids.len())).sum::<usize>();
    let all = || kinds.values().flat_map(BTreeMap::values);
    let entries_at = languages_at + all().map(|languages| directory(languages.len())).sum::<usize>();
    let data_at = entries_at + all().map(BTreeMap::len).sum::<usize>() * DATA_ENTRY_BYTES;

    let mut out = Vec::new();
    let mut at = ids_at;
    put_directory(&mut out, kinds.len());
    for (&kind, ids) in &kinds {
        put32(&mut out, kind);
        put32(&mut out, at as u32 | IS_DIRECTORY);
        at += directory(ids.len());
    }
    for ids in kinds.values() {
        put_directory(&mut out, ids.len());
        for (&id, languages) in ids {
            put32(&mut out, id);
            put32(&mut out, at as u32 | IS_DIRECTORY);
            at += directory(languages.len());
        }
    }
    for languages in all() {
        put_directory(&mut out, languages.len());
        for &language in languages.keys() {
            put32(&mut out, language);
            put32(&mut out, at as u32);
            at += DATA_ENTRY_BYTES;
        }
    }
    let mut data = Vec::new();
    for content in all().flat_map(BTreeMap::values) {
        put32(&mut out, rva + (data_at + data.len()) as u32);
        put32(&mut out, content.len() as u32);
        put32(&mut out, 0);
        put32(&mut out, 0);
        data.extend(*content);
        pad(&mut data, 4);
    }
    out.extend(data);
    out
}

#[cfg(test)]
mod tests {
    use super::{NativeResource, section};

    #[test]
    fn leads_to_the_data() {
        let resource = NativeResource { kind: 16, id: 1, language: 0x409, data: vec![1, 2, 3] };
        let bytes = section(&[resource], 0x4000);
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let mut directory = 0;
        for number in [16, 1] {
            assert_eq!(word(directory + 12) >> 16, 1);
            assert_eq!(word(directory + 16), number);
            directory = (word(directory + 20) & 0x7fff_ffff) as usize;
        }
        assert_eq!(word(directory + 16), 0x409);
        let entry = word(directory + 20) as usize;
        let data = (word(entry) - 0x4000) as usize;
        assert_eq!((word(entry + 4), &bytes[data..data + 3]), (3, &[1, 2, 3][..]));
    }
}
